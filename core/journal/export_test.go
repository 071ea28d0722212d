package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"

	"synod.dev/synod"
)

// Over returns a Writer to an open file, for tests of files that fail.
func Over(f *os.File) (*Writer, error) { return newWriter(f.Name(), &file{File: f}, Head{}, false) }

// Summed returns the text of a journal with a sum line at its end.
func Summed(text string) string {
	return string(appendSum([]byte(text), int64(len(text)), crc32.Checksum([]byte(text), castagnoli)))
}

// Encodings returns lines as a Writer encodes them and as encoding/json does.
func Encodings(now synod.Tick, node synod.NodeID, e synod.Event, x synod.Effect) (ours, theirs []string, err error) {
	compare := func(a []byte, errA error, b []byte, errB error) {
		if (errA == nil) != (errB == nil) {
			err = fmt.Errorf("ours: %v; encoding/json: %v", errA, errB)
		}
		if errA == nil {
			ours, theirs = append(ours, string(a)), append(theirs, string(b))
		}
	}
	for _, l := range []line{eventOf(now, node, e), effectOf(now, node, x)} {
		a, errA := l.append(nil)
		b, errB := json.Marshal(l)
		compare(a, errA, b, errB)
	}
	if e, ok := e.(synod.Answered); ok {
		a, errA := appendReply([]byte{'{'}, e.Reply)
		b, errB := json.Marshal(e.Reply)
		compare(a, errA, b, errB)
	}
	return ours, theirs, err
}

// ReadPart reads lines without sum lines, as a part of a segment has them.
func ReadPart(text string) error {
	_, err := readRun(strings.NewReader(text), false)
	return err
}

// Pending reads a line of a journal after a number of bytes without a sum line.
func Pending(before, line int) error {
	s := summed{pending: make([]byte, before, before+line), n: 1}
	return s.add(2, make([]byte, line))
}

// TooDeep reports whether an object is nested more than MaxNesting deep.
var TooDeep = tooDeep

// MaxNesting, MaxSeats and MaxID are bounds.
const (
	MaxNesting = maxNesting
	MaxLine    = maxLine
	MaxSeats   = maxSeats
	MaxID      = maxID
	MaxPending = maxPending
)

// SummarizeFile summarizes the journal in a file.
func SummarizeFile(path string) (*Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return summarize(f, true)
}

// Part loads a run of a segment that no other process writes.
func Part(path, id string) (*Run, error) {
	s, err := OpenSegment(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Load(id)
}

// Keep takes a finished run and forgets what Take returns.
func (s *Segment) Keep(id string) error {
	_, err := s.Take(id)
	return err
}

// Unsynced returns a segment whose file takes every write and is never on disk.
func Unsynced() *Segment {
	s := InMemory()
	s.file = unsynced{new(memory)}
	return s
}

type unsynced struct{ *memory }

func (unsynced) Sync() error { return errors.New("the disk does not answer") }
