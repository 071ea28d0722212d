package program

import (
	"io"
	"sync"
	"unicode/utf8"

	"synod.dev/synod/core/clean"
)

// Screen is the standard output or error of a program. It writes every character that could
// change what a terminal or an editor shows (escapes, control and bidirectional characters,
// invisible ones) as a \u code, which is also how JSON writes it. So no name, message or
// answer from a file, a model or a server reaches a terminal as it is, even where a command
// forgets clean.Escape.
type Screen struct {
	To      io.Writer
	mu      sync.Mutex
	err     error  // the first error of To
	partial []byte // the beginning of a character
}

// Write implements io.Writer. After an error it writes nothing more.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	text := b
	if len(s.partial) > 0 {
		text = append(s.partial, b...)
		s.partial = nil
	}
	if end := wholeRunes(text); end < len(text) {
		s.partial = append([]byte(nil), text[end:]...)
		text = text[:end]
	}
	if s.put(text); s.err != nil {
		return 0, s.err
	}
	return len(b), nil
}

// Flush writes what is left of an incomplete character.
func (s *Screen) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.partial) > 0 && s.err == nil {
		s.put(s.partial)
		s.partial = nil
	}
}

func (s *Screen) put(text []byte) {
	if _, err := s.To.Write(escaped(text)); err != nil {
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
func escaped(text []byte) []byte {
	if clean.Plain(text) {
		return text
	}
	return []byte(clean.Escape(string(text)))
}

// Control writes a control sequence of the program's own.
func (s *Screen) Control(sequence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		_, s.err = io.WriteString(s.To, sequence)
	}
}

// Err returns the first error of To.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
