package app

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/program"
)

// Screen is the standard output or error of a command.
type Screen struct {
	program.Screen
	Colours bool // it is a terminal that shows colours
}

// NewScreen returns a screen without colours that writes to w.
func NewScreen(w io.Writer) *Screen { return &Screen{Screen: program.Screen{To: w}} }

// Columns returns how many columns the terminal has, or COLUMNS where there is no terminal; 0: there is no limit.
// Tables are no wider.
func (s *Screen) Columns() int {
	if f, ok := s.To.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	n, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Columns is how many columns a line of progress or of text on w may have.
func Columns(w io.Writer) int {
	s, ok := w.(*Screen)
	if !ok {
		s = NewScreen(w)
	}
	if n := s.Columns(); n > 0 {
		return n
	}
	return 80
}

// Sayf prints text for people, whose lines are no wider than the screen.
func Sayf(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, Hang(fmt.Sprintf(format, args...), table.Columns(w)))
	return err
}

// label is what begins a line with two columns of text: a word or a few, and two spaces or more.
var label = regexp.MustCompile(`^ *\S.{0,26}?  +|^ *- |^ *`)

// Hang breaks the lines of a text between words. What follows stands under the second column of a line that has two,
// and a command to copy on a line of its own.
func Hang(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if utf8.RuneCountInString(line) <= columns {
			continue
		}
		line, see, _ := strings.Cut(line, " · see: ")
		head := label.FindString(line)
		indent := strings.Repeat(" ", utf8.RuneCountInString(head))
		lines[i] = head + strings.TrimLeft(table.Wrap(indent+line[len(head):], columns), " ")
		if see != "" {
			lines[i] += "\nsee: " + see
		}
	}
	return strings.Join(lines, "\n")
}

// The colours of words on a terminal.
const (
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Red    = "\x1b[31m"
)

// Coloured reports whether words are coloured on w: on a terminal, unless NO_COLOR is set (no-color.org).
func Coloured(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Paint writes a text, in a colour where w is a screen with colours.
func Paint(w io.Writer, colour, text string) {
	s, ok := w.(*Screen)
	if !ok || !s.Colours {
		fmt.Fprint(w, text)
		return
	}
	s.Control(colour)
	fmt.Fprint(w, text)
	s.Control("\x1b[0m")
}

// RawOut returns the standard output of a command for bytes that are no text: a picture, or the
// messages between processes.
func RawOut(cmd *cobra.Command) io.Writer {
	out := cmd.OutOrStdout()
	if s, ok := out.(*Screen); ok {
		return s.To
	}
	return out
}

// IsTerminal reports whether w is a terminal, or a screen on one.
func IsTerminal(w io.Writer) bool {
	if s, ok := w.(*Screen); ok {
		w = s.To
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// PrintLine prints a line, broken between words where a terminal is narrower.
func PrintLine(w io.Writer, line string) { fmt.Fprintln(w, table.Wrap(line, table.Columns(w))) }

// Say prints a line on stderr unless --quiet is given.
func (a *App) Say(cmd *cobra.Command, line string) {
	if !a.Quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), OneLine(line))
	}
}
