package journal

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

// index is a file beside a segment with the packed summaries of finished runs, so that a report
// need not decode the journals. It can be deleted: what it lacks, and what in it was changed, is
// read from the journals. An entry counts only if the chunks of the run have the checksums of
// those that it was made from, and these are compared with the bytes whenever it is used.
//
// After a line with its version the file has entries: the length of the body and its CRC-32C in
// four bytes each, and the body: the id of the run after its length, the sumOfExtents of the
// chunks, the packed summary.
type index struct {
	file *os.File // nil after a write that failed: the index is of no further use
	size int64    // of the file
	buf  []byte   // entries that have not been written to the file
}

// indexVersion is the first line of an index. Other files are written anew.
const indexVersion = "synod journal index 1\n"

// maxEntry bounds an entry of an index, in bytes.
const maxEntry = 1 << 24

// indexPath is the path of the index of a segment.
func indexPath(segment string) string { return strings.TrimSuffix(segment, ".jsonl") + ".index" }

// openIndex opens the index of a segment and finds the entries of its runs. It returns nil if
// there is no index and none can be written.
func openIndex(segment string, write bool, runs map[string]*attempts) *index {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR | os.O_CREATE
	}
	f, err := os.OpenFile(indexPath(segment), flags, 0o600)
	if err != nil {
		return nil
	}
	x := &index{file: f}
	x.scan(runs)
	if write {
		if x.size == 0 {
			x.buf = append(x.buf, indexVersion...)
		}
		if f.Truncate(x.size) != nil { // what follows is no entry
			x.close()
			return nil
		}
	}
	return x
}

// scan finds the entries of the file up to the first that is not whole. Their checksums are
// compared when they are read.
func (x *index) scan(runs map[string]*attempts) {
	info, err := x.file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	in := bufio.NewReaderSize(x.file, 64<<10)
	first := make([]byte, len(indexVersion))
	if _, err := io.ReadFull(in, first); err != nil || string(first) != indexVersion {
		return
	}
	x.size = int64(len(first))
	for {
		head, err := in.Peek(8)
		if err != nil {
			return
		}
		body := extent{x.size + 8, int(binary.LittleEndian.Uint32(head)), binary.LittleEndian.Uint32(head[4:])}
		if body.bytes > maxEntry || body.at+int64(body.bytes) > info.Size() {
			return
		}
		start, err := in.Peek(min(8+body.bytes, 8+2+maxID))
		if err != nil {
			return
		}
		if id, _, ok := cutID(start[8:]); ok && runs[string(id)] != nil {
			runs[string(id)].packed = body // of several the last counts
		}
		if _, err := in.Discard(8 + body.bytes); err != nil {
			return
		}
		x.size = body.at + int64(body.bytes)
	}
}

// cutID returns the id of an entry and what follows it.
func cutID(body []byte) (id, rest []byte, ok bool) {
	n, size := binary.Uvarint(body)
	if size <= 0 || n > uint64(len(body)-size) {
		return nil, nil, false
	}
	return body[size : size+int(n)], body[size+int(n):], true
}

// sumOfExtents identifies the lines of a run.
func sumOfExtents(chunks []extent) (crc uint32) {
	var b [12]byte
	for _, c := range chunks {
		binary.LittleEndian.PutUint64(b[:], uint64(c.bytes))
		binary.LittleEndian.PutUint32(b[8:], c.crc)
		crc = crc32.Update(crc, castagnoli, b[:])
	}
	return crc
}

// add appends an entry and returns where its body will be.
func (x *index) add(id string, lines uint32, packed []byte) extent {
	if x.file == nil {
		return extent{}
	}
	start := len(x.buf)
	x.buf = append(x.buf, make([]byte, 8)...)
	x.buf = append(binary.AppendUvarint(x.buf, uint64(len(id))), id...)
	x.buf = append(binary.LittleEndian.AppendUint32(x.buf, lines), packed...)
	body := x.buf[start+8:]
	e := extent{x.size + int64(start) + 8, len(body), crc32.Checksum(body, castagnoli)}
	if e.bytes > maxEntry {
		x.buf = x.buf[:start]
		return extent{}
	}
	binary.LittleEndian.PutUint32(x.buf[start:], uint32(e.bytes))
	binary.LittleEndian.PutUint32(x.buf[start+4:], e.crc)
	return e
}

// flush writes the entries that wait. The index can be lost, so a failure is no error.
func (x *index) flush() {
	if x == nil || x.file == nil || len(x.buf) == 0 {
		return
	}
	if _, err := x.file.WriteAt(x.buf, x.size); err != nil {
		x.file.Close()
		x.file, x.buf = nil, nil
		return
	}
	x.size += int64(len(x.buf))
	x.buf = x.buf[:0]
}

func (x *index) close() {
	if x.flush(); x != nil && x.file != nil {
		x.file.Close()
		x.file, x.buf = nil, nil
	}
}

// fromIndex returns the summary of a run from the index, without the seats' digests and what
// only replays need of the head; nil if the index does not have it. The lines of the run are
// read and have their checksums.
func (s *Segment) fromIndex(id string, chunks []extent, packed extent) *Summary {
	if packed.bytes == 0 {
		return nil
	}
	s.mu.Lock()
	flushed := s.flush()
	file, beside := s.file, s.index.file
	s.mu.Unlock()
	if flushed != nil || file == nil || beside == nil {
		return nil
	}
	buf := *lineBuffers.Get().(*[]byte)
	defer func() { recycle(buf) }()
	for _, c := range chunks {
		var err error
		if buf, err = c.read(file, buf); err != nil {
			return nil
		}
	}
	var err error
	if buf, err = packed.read(beside, buf); err != nil {
		return nil
	}
	of, rest, ok := cutID(buf)
	if !ok || string(of) != id || len(rest) < 4 || binary.LittleEndian.Uint32(rest) != sumOfExtents(chunks) {
		return nil
	}
	sum, err := unpack(rest[4:])
	if err != nil {
		return nil
	}
	return sum
}
