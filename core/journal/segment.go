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

	"synod.dev/synod/internal/durable"
)

// Segment is a file that holds the journals of runs that are being played, so that a bench run of
// thousands of questions does not make thousands of files. It consists of chunks: a
// line that names whose lines follow and how many bytes they have, and these lines.
//
//	{"k":"chunk","run":"q7-0","begin":true,"bytes":1234,"crc":"89abcdef","sum":"01234567"}
//	{"k":"head",…}
//	…
//
// The chunks of one run, in order, are its journal. Chunks of different runs are
// mixed. A run can be attempted several times; each attempt begins with a head.
// Load merges the replies of all attempts that were cut off. A finished journal is taken
// out (Take), kept elsewhere, and then forgotten (Forget). What was taken and not forgotten when
// the process died is there when the segment is opened again (Finished, Lines).
//
// Crash safety is that of a journal file: a reply that was paid for is with the
// operating system before Writer.Reply returns. Lines of replies that cost nothing may
// wait in memory, and are lost with the process. When a segment is opened, a chunk that
// was cut off at the end of the file is left out. Anything else that is not a chunk was
// changed, and is an error; so are lines without their checksum.
//
// One process may write a segment at a time, with any number of Writers. All methods may
// be called concurrently.
type Segment struct {
	// Pack says that Take also returns journals in their packed form, where they have one.
	Pack bool

	only   bool // digests: nothing is kept
	mu     sync.Mutex
	disk   durable.Disk
	path   string
	file   storage
	size   int64  // of the file
	buf    []byte // chunks that have not been written to the file
	unsafe bool   // something was written since the last sync
	runs   map[string]*attempts
	forgot bool  // the file may have runs that were forgotten
	err    error // the first failed write
}

// storage is the file of a segment, or memory.
type storage interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// attempts is what a segment holds of one run.
type attempts struct {
	all      [][]extent // one list of chunks for each attempt
	kept     bool       // the last attempt is whole and was taken
	finished *pending   // the last attempt is whole, and waits for Take or Drop
}

// extent is where the lines of a chunk are.
type extent struct {
	at    int64
	bytes int
	crc   uint32
}

// pending is the last chunk of a finished attempt.
type pending struct {
	lines  []byte
	packed *Packed // the packed form of the attempt; nil: there is none
	begin  bool    // it is the only chunk
}

// chunk is the line before the lines of a chunk.
type chunk struct {
	Run   string `json:"run"`
	Begin bool   `json:"begin,omitempty"` // the first chunk of an attempt
	Kept  bool   `json:"kept,omitempty"`  // the last chunk of a finished run
	Drop  bool   `json:"drop,omitempty"`  // the chunks of the run before this one no longer count
	Bytes int    `json:"bytes"`
	CRC   string `json:"crc"` // CRC-32C of the lines, 8 hexadecimal digits
	Sum   string `json:"sum"` // CRC-32C of this line up to this field
}

// OpenSegment opens a segment; it makes the file, readable by its owner only, if there is
// none. The caller must keep other processes from writing it.
func OpenSegment(path string) (*Segment, error) { return OpenSegmentOn(durable.System, path) }

// OpenSegmentOn is OpenSegment on a disk, which campaigns let fail.
func OpenSegmentOn(d durable.Disk, path string) (*Segment, error) {
	f, err := d.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	s := &Segment{disk: d, path: path, file: f, runs: map[string]*attempts{}}
	if err := s.scan(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("journal: %s: %w", path, err)
	}
	if err = s.store(); err == nil {
		err = d.SyncDir(filepath.Dir(path)) // the file may be new
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), s.Close())
	}
	return s, nil
}

// store puts what was read on disk, and no more: whoever finds a run that was taken relies on it (Lines). The process
// before may have cut off what follows, and failed to sync that.
func (s *Segment) store() error {
	f, ok := s.file.(durable.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err // a device cannot be cut
	}
	if err := errors.Join(f.Truncate(s.size), durable.Rewrite(f, 0, s.size)); err != nil {
		return err
	}
	return f.Sync()
}

// InMemory returns a segment that is lost with the process.
func InMemory() *Segment {
	return &Segment{path: "memory", file: new(memory), runs: map[string]*attempts{}}
}

// Digesting returns a segment that keeps nothing of its journals: their writers only compute the digest of the run, and
// nothing can be taken.
func Digesting() *Segment { return &Segment{path: "memory", only: true} }

// digesting is the output of a journal of which nothing is kept.
type digesting struct{}

func (digesting) write([]byte, bool) error { return nil }

func (digesting) close(lines []byte, _ *Packed, _ bool) error {
	recycle(lines)
	return nil
}

// maxID bounds the id of a run, and maxChunkLine the line before a chunk, in bytes.
const (
	maxID        = 4 << 10
	maxChunkLine = 64 << 10
)

// chunkPrefix begins the line before a chunk.
const chunkPrefix = `{"k":"chunk",`

// sumOf reads over the lines of a chunk. It returns their CRC, and whether a part of them was
// never written.
func sumOf(in *bufio.Reader, x *extent) (crc uint32, empty bool, err error) {
	for left := x.bytes; left > 0; {
		part, err := in.Peek(min(left, in.Size()))
		if err != nil {
			return 0, false, err
		}
		crc, empty = crc32.Update(crc, castagnoli, part), empty || durable.Hole(part)
		left -= len(part)
		if _, err := in.Discard(len(part)); err != nil {
			return 0, false, err
		}
	}
	return crc, empty, nil
}

// sumField is the last field of the line before a chunk.
const sumField = `,"sum":"`

// decode reads the line before a chunk.
func (c *chunk) decode(line []byte) (crc uint32, ok bool) {
	at := len(line) - len(sumField) - 8 - len("\"}\n")
	if !bytes.HasPrefix(line, []byte(chunkPrefix)) || at < 0 {
		return 0, false
	}
	var buf [len(sumField) + 16]byte
	if !bytes.Equal(line[at:], appendSumField(buf[:0], line[:at])) {
		return 0, false
	}
	if json.Unmarshal(line, c) != nil || c.Bytes < 0 || c.Run == "" {
		return 0, false
	}
	sum, err := strconv.ParseUint(c.CRC, 16, 32)
	return uint32(sum), err == nil
}

// appendSumField ends the line before a chunk.
func appendSumField(b, line []byte) []byte {
	return append(appendHex(append(b, sumField...), crc32.Checksum(line, castagnoli)), '"', '}', '\n')
}

// appendLine writes the line before a chunk.
func (c *chunk) appendLine(b []byte, crc uint32) []byte {
	start := len(b)
	b = appendText(append(b, `{"k":"chunk","run":`...), c.Run)
	if c.Begin {
		b = append(b, `,"begin":true`...)
	}
	if c.Kept {
		b = append(b, `,"kept":true`...)
	}
	if c.Drop {
		b = append(b, `,"drop":true`...)
	}
	b = strconv.AppendInt(append(b, `,"bytes":`...), int64(c.Bytes), 10)
	b = append(appendHex(append(b, `,"crc":"`...), crc), '"')
	return appendSumField(b, b[start:])
}

// enter puts a chunk in the index.
func (s *Segment) enter(c chunk, x extent) {
	r := s.runs[c.Run]
	if r == nil {
		r = &attempts{}
		s.runs[c.Run] = r
	}
	if c.Drop {
		r.all = nil
	}
	switch {
	case c.Drop && c.Bytes == 0:
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
	case s.file == nil:
		return os.ErrClosed
	}
	c.Bytes = len(lines)
	crc := crc32.Checksum(lines, castagnoli)
	s.buf = append(c.appendLine(s.buf, crc), lines...)
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

// sync puts all chunks on disk. A sync that fails ends all writing, too: a later one may succeed although the chunks
// are lost.
func (s *Segment) sync() error {
	if err := s.flush(); err != nil || !s.unsafe {
		return err
	}
	s.unsafe = false
	if err := s.file.Sync(); err != nil {
		s.err = err // what it should have put on disk may never get there
	}
	return s.err
}

func (s *Segment) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal: %s: %w", s.path, err)
}

// Close writes what is left, syncs and closes the file. Finished runs that were
// neither taken nor dropped stay unfinished.
func (s *Segment) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	var err error
	if s.forgot && s.err == nil {
		err = s.rewrite()
	}
	err = errors.Join(err, s.sync(), s.file.Close())
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

// Finished reports whether a run has come to its end and was taken.
func (s *Segment) Finished(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	return r != nil && r.kept
}

// Holds reports whether the file has something of a run.
func (s *Segment) Holds(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	return r != nil && len(r.all) > 0
}

// Create begins an attempt at a run. An id is any text of 1 to 4,096 bytes. The
// attempt replaces a finished one; what earlier attempts have paid for stays until the
// run is kept.
func (s *Segment) Create(id string, head Head) (*Writer, error) {
	if id == "" || len(id) > maxID {
		return nil, fmt.Errorf("journal: the id of a run has %d bytes; it must have 1 to %d", len(id), maxID)
	}
	if s.only {
		return newWriter(s.Path(id), digesting{}, head, false)
	}
	return newWriter(s.Path(id), &attempt{segment: s, id: id, begin: true}, head, false)
}

// attempt is the output of a journal in a segment.
type attempt struct {
	segment *Segment
	id      string
	begin   bool // nothing has been written
}

func (a *attempt) write(lines []byte, sync bool) error {
	a.segment.mu.Lock()
	defer a.segment.mu.Unlock()
	c := chunk{Run: a.id, Begin: a.begin}
	a.begin = false
	return a.segment.append(c, lines, sync)
}

func (a *attempt) close(lines []byte, packed *Packed, ended bool) error {
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
	r.finished = &pending{lines, packed, a.begin}
	return a.segment.err
}

// Finished is the journal of a run that has come to its end.
type Finished struct {
	Lines  []byte
	Packed *Packed // the same, packed; nil: there is no packed form
}

// Release makes the memory of the lines available to other journals.
func (f *Finished) Release() {
	recycle(f.Lines)
	f.Lines = nil
}

// Take returns the journal of a run whose Writer was closed. It fails if there is no such run. Where
// replies were paid for, the journal is on disk when Take returns, until Forget.
func (s *Segment) Take(id string) (*Finished, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	if r == nil || r.finished == nil {
		return nil, s.named(fmt.Errorf("run %s has not come to its end", id))
	}
	p := r.finished
	r.finished = nil
	if p.begin { // the file has nothing of this attempt: none of its replies was paid for
		if len(r.all) == 0 {
			delete(s.runs, id)
		}
		return &Finished{p.lines, p.packed}, nil
	}
	err := s.append(chunk{Run: id, Kept: true}, p.lines, false)
	recycle(p.lines)
	if err == nil {
		err = s.sync()
	}
	if err != nil {
		return nil, s.named(err)
	}
	lines, err := s.lines(r.all[len(r.all)-1])
	return &Finished{lines, p.packed}, s.named(err)
}

// Lines returns the journal of a run that was taken before the segment was opened.
func (s *Segment) Lines(id string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	if r == nil || !r.kept {
		return nil, s.missing(id)
	}
	lines, err := s.lines(r.all[len(r.all)-1])
	return lines, s.named(err)
}

// lines reads chunks that are in the file.
func (s *Segment) lines(chunks []extent) (all []byte, err error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	var buf []byte
	for _, x := range chunks {
		if buf, err = x.read(s.file, buf); err != nil {
			return nil, err
		}
		all = append(all, buf...)
	}
	return all, nil
}

// Forget removes runs that are kept elsewhere. The file is emptied when it holds no other run, and
// written anew when most of it is of no use.
func (s *Segment) Forget(ids ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if r := s.runs[id]; r != nil && r.finished == nil {
			delete(s.runs, id)
			s.forgot = true
		}
	}
	live := int64(0)
	for _, r := range s.runs {
		for _, chunks := range r.all {
			for _, x := range chunks {
				live += int64(x.bytes)
			}
		}
	}
	if s.file == nil || s.size == 0 || live > 0 && (s.size < maxUseless || live > s.size/2) {
		return nil
	}
	return s.named(s.rewrite())
}

// maxUseless is how many bytes the file of a segment may have before most of them must be of use.
const maxUseless = 64 << 20

// Drop makes the segment forget the replies of all attempts at a run, but not what they
// cost: that is in the head of an attempt without replies, which takes their place.
func (s *Segment) Drop(id string) error {
	lines, err := s.costOf(id)
	if err != nil {
		return err
	}
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
	return s.named(s.append(chunk{Run: id, Begin: true, Drop: true}, lines, true))
}

// costOf returns the head of the last attempt at a run with the cost of all attempts in
// it; nothing if they cost nothing.
func (s *Segment) costOf(id string) ([]byte, error) {
	run, err := s.Load(id)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for key, r := range run.Replies {
		if r.Calls > 0 {
			run.Unanswered = append(run.Unanswered, Unanswered{key.Node, Cost{r.Calls, r.Spent()}})
		}
	}
	head := run.Head
	if head.Unanswered = bySeat(run.Unanswered); len(head.Unanswered) == 0 {
		return nil, nil
	}
	line, err := json.Marshal(head)
	return append(line, '\n'), err
}

// Load reads the journal of a run. The replies of a run that was cut off are those of
// all its attempts, later ones first; its head and lines are those of the last attempt.
// The error is os.ErrNotExist if the segment has nothing of the run.
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
	for _, chunks := range all {
		in := s.reader(chunks)
		next, err := readRun(in, false)
		in.release()
		if err != nil {
			return nil, fmt.Errorf("journal: %s: %w", s.Path(id), err)
		}
		if run != nil {
			next.Replies = run.before(next.Replies)
		}
		run = next
	}
	return run, nil
}

func (s *Segment) missing(id string) error {
	return fmt.Errorf("journal: %s: the segment has no run of this id: %w", s.Path(id), os.ErrNotExist)
}
