package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// Segment is a file that holds the journals of many runs, so that a bench run of
// thousands of questions does not make thousands of files. It consists of chunks: a
// line that says whose lines follow and how many bytes they have, and these lines.
//
//	{"k":"chunk","run":"q7-0","begin":true,"bytes":1234,"crc":"89abcdef"}
//	{"k":"head",…}
//	…
//
// The chunks of one run, in order, are its journal. Chunks of different runs are
// mixed. A run can be attempted several times; each attempt begins with a head.
// Load merges the replies of all attempts that were cut off. A run counts as finished
// when the last attempt has an end and was kept (Keep).
//
// Crash safety is that of a journal file: a reply that was paid for is with the
// operating system before Writer.Reply returns. Lines of replies that cost nothing may
// wait in memory, and are lost with the process. When a segment is opened, a chunk that
// was cut off at the end of the file is left out.
//
// One process may write a segment at a time, with any number of Writers; others may
// read it meanwhile. All methods may be called concurrently. The zero Segment holds
// nothing.
type Segment struct {
	mu     sync.Mutex
	path   string
	file   *os.File
	write  bool
	size   int64  // of the file
	buf    []byte // chunks that have not been written to the file
	unsafe bool   // something was written since the last sync
	runs   map[string]*attempts
	err    error // the first failed write
}

// attempts is what a segment holds of one run.
type attempts struct {
	all      [][]extent // one list of chunks for each attempt
	kept     bool       // the last attempt is whole and was kept
	finished *pending   // the last attempt is whole, and waits for Keep or Drop
}

// extent is where the lines of a chunk are.
type extent struct {
	at    int64
	bytes int
	crc   uint32
}

// pending is the last chunk of a finished attempt.
type pending struct {
	lines []byte
	begin bool // it is the only chunk
	paid  bool // as in attempt
}

// chunk is the line before the lines of a chunk.
type chunk struct {
	Kind  string `json:"k"`
	Run   string `json:"run"`
	Begin bool   `json:"begin,omitempty"` // the first chunk of an attempt
	Kept  bool   `json:"kept,omitempty"`  // the last chunk of a finished run
	Drop  bool   `json:"drop,omitempty"`  // what the segment holds of the run so far no longer counts
	Bytes int    `json:"bytes"`
	CRC   string `json:"crc"` // CRC-32C of the lines, 8 hexadecimal digits
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenSegment opens a segment for writing and reading; it makes the file, readable by
// its owner only, if there is none. The caller must keep other processes from writing
// it.
func OpenSegment(path string) (*Segment, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return openSegment(path, os.O_RDWR|os.O_CREATE, true)
}

// ReadSegment opens a segment for reading.
func ReadSegment(path string) (*Segment, error) { return openSegment(path, os.O_RDONLY, false) }

func openSegment(path string, flags int, write bool) (*Segment, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	s := &Segment{path: path, file: f, write: write, runs: map[string]*attempts{}}
	if err := s.scan(); err != nil {
		f.Close()
		return nil, fmt.Errorf("journal: %s: %w", path, err)
	}
	return s, nil
}

// maxID bounds the id of a run, and maxChunkLine the line before a chunk, in bytes.
const (
	maxID        = 4 << 10
	maxChunkLine = 64 << 10
)

// chunkPrefix begins the line before a chunk.
const chunkPrefix = `{"k":"chunk",`

// scan finds the chunks of the file. What is not a chunk is left out, whether it was
// damaged or was being written when the process died: a run that has lost a chunk is
// unfinished, or does not have its digest any more. If the segment is open for writing,
// scan removes what follows the last chunk. The last chunk must have its checksum, since
// the machine may have stopped when the file had grown but its contents were not on disk.
func (s *Segment) scan() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(s.file, maxChunkLine)
	var last chunk
	var lines extent // of last
	for at, end := int64(0), info.Size(); at < end; {
		line, err := in.ReadSlice('\n')
		at += int64(len(line))
		var c chunk
		crc, ok := c.decode(line)
		switch {
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
			return err
		case at == int64(len(line)) && err == nil && line[0] != 0 && !bytes.HasPrefix(line, []byte(chunkPrefix)):
			return errors.New("the file does not begin with a chunk: it is not a segment of journals")
		case !ok || int64(c.Bytes) > end-at:
			continue
		}
		if last.CRC != "" {
			s.enter(last, lines)
			s.size = lines.at + int64(lines.bytes)
		}
		last, lines = c, extent{at, c.Bytes, crc}
		at += int64(c.Bytes)
		if in.Buffered() >= c.Bytes {
			in.Discard(c.Bytes)
		} else if _, err := s.file.Seek(at, io.SeekStart); err != nil {
			return err
		} else {
			in.Reset(s.file)
		}
	}
	if _, err := lines.read(s.file, nil); err == nil && last.CRC != "" {
		s.enter(last, lines)
		s.size = lines.at + int64(lines.bytes)
	}
	if s.size < info.Size() && s.write {
		return s.file.Truncate(s.size)
	}
	return nil
}

// decode reads the line before a chunk.
func (c *chunk) decode(line []byte) (crc uint32, ok bool) {
	if !bytes.HasPrefix(line, []byte(chunkPrefix)) || json.Unmarshal(line, c) != nil || c.Bytes < 0 {
		return 0, false
	}
	sum, err := strconv.ParseUint(c.CRC, 16, 32)
	return uint32(sum), err == nil
}

// enter puts a chunk in the index.
func (s *Segment) enter(c chunk, x extent) {
	r := s.runs[c.Run]
	if r == nil {
		r = &attempts{}
		s.runs[c.Run] = r
	}
	switch {
	case c.Drop:
		delete(s.runs, c.Run)
		return
	case c.Begin || len(r.all) == 0:
		r.all = append(r.all, nil)
	}
	last := len(r.all) - 1
	r.all[last] = append(r.all[last], x)
	r.kept = c.Kept
}

// append writes a chunk. With sync it is with the operating system afterwards.
func (s *Segment) append(c chunk, lines []byte, sync bool) error {
	switch {
	case s.err != nil:
		return s.err
	case !s.write || s.file == nil:
		return fmt.Errorf("%s is not open for writing", s.path)
	}
	c.Kind, c.Bytes = "chunk", len(lines)
	crc := crc32.Checksum(lines, castagnoli)
	c.CRC = fmt.Sprintf("%08x", crc)
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	s.buf = append(append(append(s.buf, line...), '\n'), lines...)
	s.enter(c, extent{s.size + int64(len(s.buf)-len(lines)), len(lines), crc})
	if sync || len(s.buf) > maxBuffer {
		return s.flush()
	}
	return nil
}

// flush hands all chunks to the operating system. A write that fails ends all writing:
// what follows it could not be found.
func (s *Segment) flush() error {
	if s.err != nil || len(s.buf) == 0 {
		return s.err
	}
	if _, err := s.file.WriteAt(s.buf, s.size); err != nil {
		s.err = err
		return err
	}
	s.size += int64(len(s.buf))
	s.buf, s.unsafe = s.buf[:0], true
	return nil
}

// sync puts all chunks on disk.
func (s *Segment) sync() error {
	if err := s.flush(); err != nil || !s.unsafe {
		return err
	}
	s.unsafe = false
	return s.file.Sync()
}

func (s *Segment) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal: %s: %w", s.path, err)
}

// Close writes what is left, syncs and closes the file. Finished runs that were
// neither kept nor dropped stay unfinished.
func (s *Segment) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	var err error
	if s.write {
		err = s.sync()
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	return s.named(err)
}

// Path returns where a run of the segment can be loaded from: FILE#ID.
func (s *Segment) Path(id string) string { return s.path + "#" + id }

// IDs returns the ids of all runs that the segment holds something of, sorted.
func (s *Segment) IDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.runs))
}

// Finished reports whether a run has come to its end and was kept.
func (s *Segment) Finished(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	return r != nil && r.kept
}

// Create begins an attempt at a run. An id is any text of 1 to 4,096 bytes. The
// attempt replaces a finished one; what earlier attempts have paid for stays until the
// run is kept.
func (s *Segment) Create(id string, head Head) (*Writer, error) {
	if id == "" || len(id) > maxID {
		return nil, fmt.Errorf("journal: the id of a run has %d bytes; it must have 1 to %d", len(id), maxID)
	}
	return newWriter(s.Path(id), &attempt{segment: s, id: id, begin: true}, head, false)
}

// attempt is the output of a journal in a segment.
type attempt struct {
	segment *Segment
	id      string
	begin   bool // nothing has been written
	paid    bool // the attempt has replies that were paid for
}

func (a *attempt) write(lines []byte, sync bool) error {
	a.segment.mu.Lock()
	defer a.segment.mu.Unlock()
	c := chunk{Run: a.id, Begin: a.begin}
	a.begin, a.paid = false, a.paid || sync
	return a.segment.append(c, lines, sync)
}

func (a *attempt) close(lines []byte, ended bool) error {
	if !ended {
		return a.write(lines, true)
	}
	a.segment.mu.Lock()
	defer a.segment.mu.Unlock()
	r := a.segment.runs[a.id]
	if r == nil {
		r = &attempts{}
		a.segment.runs[a.id] = r
	}
	r.finished = &pending{lines, a.begin, a.paid}
	return a.segment.err
}

// Keep makes a run whose Writer was closed count as finished, and writes its end. It
// fails if there is no such run. If replies of the run were paid for, the journal is on
// disk when Keep returns; otherwise it may wait for Close.
func (s *Segment) Keep(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	if r == nil || r.finished == nil {
		return s.named(fmt.Errorf("run %s has not come to its end", id))
	}
	p := r.finished
	r.finished = nil
	err := s.append(chunk{Run: id, Begin: p.begin, Kept: true}, p.lines, false)
	if err == nil && p.paid {
		err = s.sync()
	}
	recycle(p.lines)
	return s.named(err)
}

// Drop makes the segment forget all attempts at a run.
func (s *Segment) Drop(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	if r == nil {
		return nil
	}
	r.finished = nil
	if len(r.all) == 0 { // nothing of it is in the file
		delete(s.runs, id)
		return nil
	}
	return s.named(s.append(chunk{Run: id, Drop: true}, nil, true))
}

// Load reads the journal of a run. The replies of a run that was cut off are those of
// all its attempts, later ones first; its head and lines are those of the last attempt
// that can be read. The error is os.ErrNotExist if the segment has nothing of the run.
func (s *Segment) Load(id string) (*Run, error) {
	s.mu.Lock()
	r := s.runs[id]
	var all [][]extent
	if r != nil {
		all = slices.Clone(r.all)
	}
	if r != nil && r.kept {
		all = all[len(all)-1:]
	}
	s.mu.Unlock()
	if len(all) == 0 {
		return nil, s.missing(id)
	}
	var run *Run
	var first error
	for _, chunks := range all {
		next, err := Read(s.reader(chunks))
		switch {
		case err != nil:
			first = errors.Join(first, err)
			continue
		case run != nil:
			maps.Copy(run.Replies, next.Replies)
			next.Replies = run.Replies
		}
		run = next
	}
	if run == nil {
		return nil, fmt.Errorf("journal: %s: %w", s.Path(id), first)
	}
	return run, nil
}

func (s *Segment) missing(id string) error {
	return fmt.Errorf("journal: %s: the segment has no run of this id: %w", s.Path(id), os.ErrNotExist)
}

// Summarize reads the journal of a finished run as the function Summarize does. The
// error is os.ErrNotExist if the run is not finished.
func (s *Segment) Summarize(id string) (*Summary, error) {
	s.mu.Lock()
	r := s.runs[id]
	var chunks []extent
	if r != nil && r.kept {
		chunks = r.all[len(r.all)-1]
	}
	s.mu.Unlock()
	if chunks == nil {
		return nil, s.missing(id)
	}
	sum, err := summarize(s.reader(chunks))
	if err != nil {
		return nil, fmt.Errorf("journal: %s: %w", s.Path(id), err)
	}
	return sum, nil
}

// reader reads the lines of some chunks, and checks their checksums.
func (s *Segment) reader(chunks []extent) io.Reader { return &chunkReader{segment: s, rest: chunks} }

type chunkReader struct {
	segment *Segment
	rest    []extent
	now     bytes.Reader
	buf     []byte
}

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
func (x extent) read(f *os.File, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], x.bytes)[:x.bytes]
	if _, err := f.ReadAt(buf, x.at); err != nil {
		return buf[:0], err
	}
	if crc32.Checksum(buf, castagnoli) != x.crc {
		return buf[:0], fmt.Errorf("the part at byte %d does not have its checksum: %w", x.at, ErrChanged)
	}
	return buf, nil
}
