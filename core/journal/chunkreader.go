package journal

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// reader reads the lines of some chunks, and checks their checksums.
func (s *Segment) reader(chunks []extent) *chunkReader {
	return &chunkReader{segment: s, rest: chunks, buf: *lineBuffers.Get().(*[]byte)}
}

type chunkReader struct {
	segment *Segment
	rest    []extent
	now     bytes.Reader
	buf     []byte
}

// release makes the buffer available to others. The reader must not be used afterwards.
func (r *chunkReader) release() { recycle(r.buf) }

// Read implements io.Reader.
func (r *chunkReader) Read(b []byte) (int, error) {
	for r.now.Len() == 0 {
		if len(r.rest) == 0 {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	return r.now.Read(b)
}

func (r *chunkReader) next() error {
	x := r.rest[0]
	r.rest = r.rest[1:]
	s := r.segment
	s.mu.Lock()
	err := s.flush()
	file := s.file
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if file == nil {
		return os.ErrClosed
	}
	r.buf, err = x.read(file, r.buf)
	r.now.Reset(r.buf)
	return err
}

// read reads the lines of a chunk into buf, or a larger buffer, and checks them.
func (x extent) read(f io.ReaderAt, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], x.bytes)[:x.bytes]
	if _, err := f.ReadAt(buf, x.at); err != nil {
		return buf[:0], err
	}
	if crc32.Checksum(buf, castagnoli) != x.crc {
		return buf[:0], fmt.Errorf("the part at byte %d does not have its checksum: %w", x.at, ErrChanged)
	}
	return buf, nil
}
