package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"synod.dev/synod/internal/durable"
)

// scan finds the chunks of the file. A chunk that was being written when the process
// died is removed; what else is not a chunk is an error.
func (s *Segment) scan(f durable.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(f, maxChunkLine)
	end := info.Size()
	for s.size < end {
		line, err := in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		var c chunk
		crc, ok := c.decode(line)
		lines := extent{s.size + int64(len(line)), c.Bytes, crc}
		unended := err != nil && len(line) < maxChunkLine && durable.Torn(line, chunkPrefix)
		switch whole := ok && lines.at+int64(c.Bytes) <= end; {
		case s.size == 0 && !ok && !durable.Hole(line) && !unended && !beginsChunk(line):
			return errors.New("the file does not begin with a chunk: it is not a segment of journals")
		case !ok && !durable.Hole(line) && !unended:
			return s.damage("is not a chunk")
		case !whole:
			return s.cut()
		}
		next := lines.at + int64(c.Bytes)
		sum, empty, err := sumOf(in, &lines)
		switch {
		case err != nil:
			return err
		case sum != crc && (empty && next == end || s.endsEmpty(end)):
			return s.cut()
		case sum != crc:
			return s.damage("does not have its checksum")
		}
		s.enter(c, lines)
		s.size = next
	}
	return nil
}

// endsEmpty reports whether the end of the file was never written: lines end with a newline.
func (s *Segment) endsEmpty(end int64) bool {
	var last [1]byte
	_, err := s.file.ReadAt(last[:], end-1)
	return err == nil && last[0] == 0
}

// beginsChunk reports whether a line is the line before a chunk, or begins as one.
func beginsChunk(line []byte) bool {
	n := min(len(line), len(chunkPrefix))
	return string(line[:n]) == chunkPrefix[:n]
}

// cut removes what follows the last chunk.
func (s *Segment) cut() error { return s.file.Truncate(s.size) }

func (s *Segment) damage(what string) error {
	return fmt.Errorf("the part at byte %d %s: %w", s.size, what, ErrChanged)
}
