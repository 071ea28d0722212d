package cli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"synod.dev/synod/core/clean"
	"synod.dev/synod/internal/durable"
)

// printable makes untrusted text safe for a terminal: control, format and
// bidirectional characters, tags and escapes are printed as \u codes (SC-37).
func printable(s string) string { return clean.Escape(s) }

// oneLine is printable with white space, including line breaks, collapsed to single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// writeJSON prints v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func isTerminal(w io.Writer) bool {
	if s, ok := w.(*screen); ok {
		w = s.To
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// writeFile writes a file with the access rights 0644. The file is replaced
// atomically: after a failure it is absent or has its old content. A device or a pipe, such as
// /dev/stdout, is written and not replaced.
func writeFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".synod-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after a successful rename
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return durable.Rename(f.Name(), path)
}

// writeBytes is writeFile with the content as bytes.
func writeBytes(path string, content []byte) error {
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
