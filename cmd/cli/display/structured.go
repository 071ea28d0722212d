package display

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm/structured"
)

// maxFields is how many fields of a merged value are printed.
const maxFields = 40

// PrintFields prints how the parts of a merged value were decided.
func PrintFields(w io.Writer, o outcome.Outcome) {
	for i, f := range o.Fields {
		if i == maxFields {
			fmt.Fprintf(w, "  … and %d more fields (--json has all)\n", len(o.Fields)-i)
			return
		}
		fmt.Fprintln(w, "  "+app.OneLine(field(f)))
	}
}

// field describes one part of a merged value.
func field(f structured.Field) string {
	path := f.Path
	if path == "" {
		path = "the value"
	}
	if !f.Decided {
		return fmt.Sprintf("%s: undecided: %s", path, f.Reason)
	}
	text := fmt.Sprintf("%s: %s of %d", path, f.How, f.Support)
	if f.Absent {
		text = fmt.Sprintf("%s: left out by %d", path, f.Support)
	}
	if f.Author != "" {
		text = fmt.Sprintf("%s: the text of %s, with the best grades of %d", path, f.Author, f.Support)
	}
	if w := f.Withstands; w != nil {
		text += fmt.Sprintf(" · %s ignored, %s changed", anyOf(w.Ignored), anyOf(w.Changed))
	}
	if f.Value != nil {
		value := []rune(f.Value.String())
		if len(value) > 60 {
			value = append(value[:60], '…')
		}
		text += " · " + strings.TrimSpace(string(value))
	}
	return text
}

// jsonLine returns JSON as one line that is the same value: what a terminal could act on is escaped as JSON does.
func jsonLine(a synod.Answer) string {
	var b strings.Builder
	for _, r := range string(a) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
