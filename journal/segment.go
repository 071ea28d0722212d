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

// Segment is a file that holds the journals of many runs, so that a bench run of
// thousands of questions does not make thousands of files. It consists of chunks: a
// line that names whose lines follow and how many bytes they have, and these lines.
//
//	{"k":"chunk","run":"q7-0","begin":true,"bytes":1234,"crc":"89abcdef","sum":"01234567"}
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
// was cut off at the end of the file is left out. Anything else that is not a chunk was
// changed, and is an error; so are lines without their checksum, when they are read and,
// in a segment that is opened for writing, at once.
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
	index  *index // packed summaries of finished runs; nil: there are none
	err    error  // the first failed write
}

// attempts is what a segment holds of one run.
type attempts struct {
	all      [][]extent // one list of chunks for each attempt
	kept     bool       // the last attempt is whole and was kept
	finished *pending   // the last attempt is whole, and waits for Keep or Drop
	packed   extent     // the summary of the last attempt in the index; without bytes: there is none
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
	packed []byte // the packed summary of the attempt; nil: there is none
	begin  bool   // it is the only chunk
	paid   bool   // as in attempt
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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenSegment opens a segment for writing and reading; it makes the file, readable by
// its owner only, if there is none. The caller must keep other processes from writing
// it.
func OpenSegment(path string) (*Segment, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	s, err := openSegment(path, os.O_RDWR|os.O_CREATE, true)
	if err != nil {
		return nil, err
	}
	if err := durable.SyncDir(filepath.Dir(path)); err != nil { // the file may be new
		return nil, errors.Join(fmt.Errorf("journal: %w", err), s.Close())
	}
	return s, nil
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
	s.index = openIndex(path, write, s.runs)
	return s, nil
}

// maxID bounds the id of a run, and maxChunkLine the line before a chunk, in bytes.
const (
	maxID        = 4 << 10
	maxChunkLine = 64 << 10
)

// chunkPrefix begins the line before a chunk.
const chunkPrefix = `{"k":"chunk",`

// scan finds the chunks of the file. A chunk that was being written when the process
// died is left out, and removed if the segment is open for writing; what else is not a
// chunk is an error.
func (s *Segment) scan() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(s.file, maxChunkLine)
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
		case s.size == 0 && !ok && !durable.Hole(line) && !beginsChunk(line):
			return errors.New("the file does not begin with a chunk: it is not a segment of journals")
		case !ok && !durable.Hole(line) && !unended:
			return s.damage("is not a chunk")
		case !whole:
			return s.cut()
		}
		next := lines.at + int64(c.Bytes)
		sum, empty, err := sumOf(in, &lines, s.write || next == end)
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

// endsEmpty reports whether the end of the file was never written.
func (s *Segment) endsEmpty(end int64) bool {
	var last [16]byte
	_, err := s.file.ReadAt(last[:], max(end-int64(len(last)), 0))
	return err == nil && durable.Hole(last[:])
}

// beginsChunk reports whether a line is the line before a chunk, or begins as one.
func beginsChunk(line []byte) bool {
	n := min(len(line), len(chunkPrefix))
	return string(line[:n]) == chunkPrefix[:n]
}

// cut leaves out what follows the last chunk.
func (s *Segment) cut() error {
	if !s.write {
		return nil
	}
	return s.file.Truncate(s.size)
}

func (s *Segment) damage(what string) error {
	return fmt.Errorf("the part at byte %d %s: %w", s.size, what, ErrChanged)
}

// sumOf reads over the lines of a chunk. With check it returns their CRC, and whether a
// part of them was never written; without, it returns the CRC that they should have.
func sumOf(in *bufio.Reader, x *extent, check bool) (crc uint32, empty bool, err error) {
	if !check {
		_, err := in.Discard(x.bytes)
		return x.crc, false, err
	}
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
	r.kept, r.packed = c.Kept, extent{}
}

// append writes a chunk. With sync it is with the operating system afterwards.
func (s *Segment) append(c chunk, lines []byte, sync bool) error {
	switch {
	case s.err != nil:
		return s.err
	case !s.write || s.file == nil:
		return fmt.Errorf("%s is not open for writing", s.path)
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
	s.index.flush()
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
	s.index.close()
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

func (a *attempt) close(lines, packed []byte, ended bool) error {
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
	r.finished = &pending{lines, packed, a.begin, a.paid}
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
	if err == nil && p.packed != nil && s.index != nil {
		r.packed = s.index.add(id, sumOfExtents(r.all[len(r.all)-1]), p.packed)
	}
	if err == nil && p.paid {
		err = s.sync()
	}
	recycle(p.lines)
	if b := p.packed[:0]; cap(b) > 0 && cap(b) < maxBuffer {
		packedBuffers.Put(&b)
	}
	return s.named(err)
}

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

// Summarize reads the journal of a finished run as the function Summarize does. The
// error is os.ErrNotExist if the run is not finished.
func (s *Segment) Summarize(id string) (*Summary, error) {
	s.mu.Lock()
	r := s.runs[id]
	var chunks []extent
	var packed extent
	if r != nil && r.kept {
		chunks, packed = r.all[len(r.all)-1], r.packed
	}
	s.mu.Unlock()
	if chunks == nil {
		return nil, s.missing(id)
	}
	if sum := s.fromIndex(id, chunks, packed); sum != nil {
		return sum, nil
	}
	in := s.reader(chunks)
	sum, err := summarize(in, false)
	in.release()
	if err != nil {
		return nil, fmt.Errorf("journal: %s: %w", s.Path(id), err)
	}
	return sum, nil
}
