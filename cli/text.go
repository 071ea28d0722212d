package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// printable makes untrusted words safe for a terminal: control, format and
// bidirectional characters, tags and escapes are shown, not obeyed (SC-37).
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == unicode.ReplacementChar, unicode.Is(unicode.C, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), r >= 0xFE00 && r <= 0xFE0F:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine is printable on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// writeJSON prints v, indented, with HTML characters escaped as encoding/json
// does by default.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
