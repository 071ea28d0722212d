package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"synod.dev/synod/core/clean"
	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/durable"
)

// Printable makes untrusted text safe for a terminal: control, format and
// bidirectional characters, tags and escapes are printed as \u codes (SC-37).
func Printable(s string) string { return clean.Escape(s) }

// OneLine is printable with white space, including line breaks, collapsed to single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(Printable(s)), " ") }

// WriteJSON prints v as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func IsTerminal(w io.Writer) bool {
	if s, ok := w.(*screen); ok {
		w = s.To
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// WriteFile writes a file with the access rights 0644. The file is replaced
// atomically: after a failure it is absent or has its old content. A device or a pipe, such as
// /dev/stdout, is written and not replaced.
func WriteFile(path string, write func(io.Writer) error) error {
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

// WriteBytes is writeFile with the content as bytes.
func WriteBytes(path string, content []byte) error {
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// PrintLine prints a line, broken between words where a terminal is narrower.
func PrintLine(w io.Writer, line string) { fmt.Fprintln(w, table.Wrap(line, table.Columns(w))) }

// Many formats a number of things.
func Many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Say prints a line on stderr unless --quiet is given.
func (a *App) Say(cmd *cobra.Command, line string) {
	if !a.Quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), OneLine(line))
	}
}

// Count returns a number and a noun, such as "1 edge" or "2 edges".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// WriteNew writes a file that must not exist, unless it may be replaced.
func WriteNew(path, text string, replace bool) error {
	if replace {
		if err := WriteBytes(path, []byte(text)); err != nil {
			return Fail(ExitFailure, err)
		}
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return Fail(ExitFailure, err)
	}
	_, err = io.WriteString(file, text)
	if err = errors.Join(err, file.Close()); err != nil {
		return Fail(ExitFailure, errors.Join(err, os.Remove(path)))
	}
	return nil
}

// Brief is the beginning of a text, of at most n characters.
func Brief(text string, n int) string {
	r := []rune(OneLine(text))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
