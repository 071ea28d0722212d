package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"synod.dev/synod/internal/durable"
)

// sumPrefix begins a sum line.
const sumPrefix = `{"k":"sum","bytes":`

// appendSum writes the sum line of a file that has so many bytes with this CRC.
func appendSum(b []byte, bytes int64, crc uint32) []byte {
	b = strconv.AppendInt(append(b, sumPrefix...), bytes, 10)
	return append(appendHex(append(b, `,"crc":"`...), crc), '"', '}', '\n')
}

// appendHex writes 8 hexadecimal digits.
func appendHex(b []byte, crc uint32) []byte {
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[crc>>shift&15])
	}
	return b
}

// maxPending is how many bytes may come before a sum line: the longest line, and more
// than a Writer keeps before it writes (maxBuffer).
const maxPending = 65 << 20

// summed reads a file with sum lines. It hands on lines that have their sum.
type summed struct {
	take    func(n int, raw []byte) error
	none    bool // the lines have no sums
	size    int64
	crc     uint32 // of all lines
	n       int    // number of the last line that was handed on
	held    bool   // there was a sum line
	pending []byte // lines after the last sum line

	whole    int64  // bytes up to the last sum line
	wholeCRC uint32 // of them
	torn     bool   // the newline of the last sum line is missing
}

// add takes a whole line. The head is handed on at once, because it tells whether this is
// a journal of this format.
func (s *summed) add(n int, raw []byte) error {
	if n == 1 {
		if err := s.take(n, raw); err != nil {
			return err
		}
		s.n = 1
	} else if bytes.HasPrefix(raw, []byte(sumPrefix)) {
		if !s.holds(raw) {
			return fmt.Errorf("the lines before do not have their checksum: %w", ErrChanged)
		}
		if err := s.pass(n); err != nil {
			return err
		}
	} else if len(s.pending)+len(raw) > maxPending {
		return fmt.Errorf("the last %d bytes have no checksum: this is not a journal, or it was changed",
			len(s.pending))
	} else {
		s.pending = append(s.pending, raw...)
	}
	s.size, s.crc = s.size+int64(len(raw)), crc32.Update(s.crc, castagnoli, raw)
	if s.n == n { // the head or a sum line: all lines before it have been handed on
		s.whole, s.wholeCRC = s.size, s.crc
	}
	return nil
}

// holds reports whether a sum line is that of the lines before.
func (s *summed) holds(raw []byte) bool {
	var buf [80]byte
	return bytes.Equal(raw, appendSum(buf[:0], s.size, s.crc))
}

// pass hands on the pending lines. A sum line has the number n.
func (s *summed) pass(n int) error {
	for line := range bytes.Lines(s.pending) {
		s.n++
		if err := s.take(s.n, line); err != nil {
			return &lineError{s.n, err}
		}
	}
	s.n, s.pending, s.held = n, s.pending[:0], true
	return nil
}

// end takes what follows the last whole line. Lines that have no sum are left out if
// they are what a process leaves that dies while it writes.
func (s *summed) end(n int, rest []byte) error {
	if last := append(bytes.Clone(rest), '\n'); bytes.HasPrefix(last, []byte(sumPrefix)) && s.holds(last) {
		s.whole, s.wholeCRC, s.torn = s.size+int64(len(last)), crc32.Update(s.crc, castagnoli, last), true
		return s.pass(n) // only the newline is missing
	}
	if !s.held {
		return errCut
	}
	for line := range bytes.Lines(s.pending) {
		s.n++
		if !known(line) {
			return &lineError{s.n, fmt.Errorf("not a journal line: %w", ErrChanged)}
		}
	}
	if !durable.Torn(rest, linePrefix) {
		return &lineError{n, fmt.Errorf("the line does not end: %w", ErrChanged)}
	}
	return nil
}

// known reports whether a line is one that a Writer writes, other than a sum line.
func known(line []byte) bool {
	kind, ok := kindOf(line)
	return ok && kinds[kind] && json.Valid(line)
}

var kinds = map[string]bool{
	"head": true, "asked": true, "reply": true, "report": true, "event": true, "effect": true, "end": true,
}

// linePrefix begins every line that a Writer writes.
const linePrefix = `{"k":"`

// lineError names the line of a file that cannot be read.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

var errCut = errors.New("there is no head: this is not a journal, or it was cut off at once")

// kindOf returns the kind of a line as a Writer writes it.
func kindOf(raw []byte) (kind string, ok bool) {
	rest, ok := bytes.CutPrefix(raw, []byte(linePrefix))
	if !ok {
		return "", false
	}
	name, _, ok := bytes.Cut(rest[:min(len(rest), 16)], []byte(`",`))
	return string(name), ok
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
