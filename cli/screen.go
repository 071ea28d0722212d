package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"synod.dev/synod/clean"
)

// screen is the standard output or error of a command. It writes every character that could
// change what a terminal or an editor shows (escapes, control and bidirectional characters,
// invisible ones) as a \u code, which is also how JSON writes it. So no name, message or
// answer from a file, a model or a server reaches a terminal as it is, even where a command
// forgets printable.
type screen struct {
	to      io.Writer
	mu      sync.Mutex
	err     error  // the first error of to
	partial []byte // the beginning of a character
	colours bool   // it is a terminal that shows colours
}

// Write implements io.Writer. After an error it writes nothing more.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	text := append(s.partial, b...)
	s.partial = nil
	if end := wholeRunes(text); end < len(text) {
		s.partial = append([]byte(nil), text[end:]...)
		text = text[:end]
	}
	if s.put(text); s.err != nil {
		return 0, s.err
	}
	return len(b), nil
}

// The colours of words on a terminal.
const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
)

// coloured reports whether words are coloured on w: on a terminal, unless NO_COLOR is set (no-color.org).
func coloured(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// paint writes a text, in a colour where w is a screen with colours.
func paint(w io.Writer, colour, text string) {
	s, ok := w.(*screen)
	if !ok || !s.colours {
		fmt.Fprint(w, text)
		return
	}
	s.control(colour)
	fmt.Fprint(w, text)
	s.control("\x1b[0m")
}

// control writes a control sequence of the program's own.
func (s *screen) control(sequence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		_, s.err = io.WriteString(s.to, sequence)
	}
}

// flush writes what is left of an incomplete character.
func (s *screen) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.partial) > 0 && s.err == nil {
		s.put(s.partial)
		s.partial = nil
	}
}

func (s *screen) put(text []byte) {
	if _, err := s.to.Write(escaped(text)); err != nil {
		s.err = err
	}
}

// wholeRunes returns the length of text without an incomplete character at its end.
func wholeRunes(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// escaped returns text with a code in place of every character that is not safe to show.
func escaped(text []byte) []byte { return []byte(clean.Escape(string(text))) }

// rawOut returns the standard output of a command for bytes that are no text: a picture, or the
// messages between processes.
func rawOut(cmd *cobra.Command) io.Writer {
	out := cmd.OutOrStdout()
	if s, ok := out.(*screen); ok {
		return s.to
	}
	return out
}
