package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
	"synod.dev/synod/internal/order"
)

// Key identifies a model call of a run.
type Key struct {
	Node synod.NodeID
	ID   synod.ConsultID
}

func (k Key) compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Node, other.Node), cmp.Compare(k.ID, other.ID))
}

// Replies are the replies of a run by call.
type Replies map[Key]synod.Reply

// Run is a journal that was read.
type Run struct {
	Head    Head
	Replies Replies
	// Unanswered are the requests of this run and of earlier attempts at it whose replies
	// never came, by seat. They cost what they may cost at most.
	Unanswered []Unanswered
	Reports    []Report // of seats that were played elsewhere
	End        *End     // nil: the run was cut off
	held       *held    // after Resume: the file, which the run continues in
	lines      []stored
	digest     string   // of the lines
	seats      []string // digests by NodeID
	changed    error    // wraps ErrChanged, or nil
}

// stored is an event or effect line of a file.
type stored struct {
	line
	raw []byte // as it stands in the file, newline included
	at  int    // line number, from 1
}

// ErrChanged reports that a journal was changed after it was written.
var ErrChanged = errors.New("the file was changed")

// Digest returns the digest of the run's event and effect lines.
func (run *Run) Digest() string { return run.digest }

// SeatDigests returns the digests of the seats by NodeID; nil in the journal of one
// seat.
func (run *Run) SeatDigests() []string { return run.seats }

// maxLine is the longest line that is read, in bytes: the longest reply that is let
// in, and some more.
const maxLine = 64 << 20

// Load reads a journal file.
func Load(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	run, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("journal: %s: %w", path, err)
	}
	return run, nil
}

// Resume is Load for a run that is to be resumed. Until the lock is closed no other
// process can resume the journal. The error is filelock.ErrHeld if another process is
// writing or resuming it.
func Resume(path string) (run *Run, lock io.Closer, err error) { return ResumeOn(durable.System, path) }

// ResumeOn is Resume on a disk, which campaigns let fail.
func ResumeOn(d durable.Disk, path string) (run *Run, lock io.Closer, err error) {
	f, err := d.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	err = d.Hold(f)
	if errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("%s: %w: it is writing or resuming this journal", path, err)
	}
	if err == nil { // the process that made the file may have died before its name was on the disk
		err = d.SyncDir(filepath.Dir(path))
	}
	if err == nil {
		run, err = readHeld(path, f)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return run, f, nil
}

// readHeld reads a journal that is to be continued in its file.
func readHeld(path string, f durable.File) (*Run, error) {
	in := reading{run: &Run{Replies: Replies{}}}
	sum := summed{take: in.take}
	if err := eachLine(f, &sum); err != nil {
		return nil, fmt.Errorf("journal: %s: %w", path, err)
	}
	run := in.finish()
	run.held = &held{path: path, file: f, size: sum.whole, crc: sum.wholeCRC, torn: sum.torn}
	return run, nil
}

// held is the file of a journal that was read, up to its last sum line.
type held struct {
	path string
	file durable.File
	size int64
	crc  uint32
	torn bool // the last byte, a newline, is missing
}

// Continues reports whether the run was read by Resume from the file of this path, so that
// Continue writes to it.
func (run *Run) Continues(path string) bool { return run.held != nil && run.held.path == path }

// Continue begins another attempt at the run, in the file that Resume has read it from. The
// file keeps what was paid for, and the Writer owns it from then on.
func (run *Run) Continue(head Head) (*Writer, error) {
	h := run.held
	run.held = nil
	if err := h.file.Truncate(h.size); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if h.torn {
		if _, err := h.file.WriteAt([]byte{'\n'}, h.size-1); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
	}
	if err := durable.Rewrite(h.file, 0, h.size); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if _, err := h.file.Seek(h.size, io.SeekStart); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return newWriter(h.path, &file{File: h.file, size: h.size, crc: h.crc}, head, true)
}

// Read reads a journal. It leaves out lines at the end that were being written when the
// process died; anything else that cannot be read is an error that names the line.
func Read(r io.Reader) (*Run, error) { return readRun(r, true) }

// readRun reads a journal that has sum lines, or a part of a segment, which has none.
func readRun(r io.Reader, sums bool) (*Run, error) {
	in := reading{run: &Run{Replies: Replies{}}}
	check := summed{take: in.take, none: !sums}
	if err := eachLine(r, &check); err != nil {
		return nil, err
	}
	return in.finish(), nil
}

// finish returns the run when all lines have been read.
func (in *reading) finish() *Run {
	if in.run.End == nil && in.earlier != nil {
		in.run.Replies = (&Run{Replies: in.earlier}).before(in.run.Replies)
	}
	in.run.digest, in.run.seats = in.digests.end()
	in.run.changed, in.run.Unanswered = in.changed(), in.unanswered()
	return in.run
}

var buffers = sync.Pool{New: func() any { return new(make([]byte, 64<<10)) }}

// eachLine calls check.take with every line that counts, newline included, and its number.
// A line is valid until take returns.
func eachLine(r io.Reader, check *summed) error {
	buf := buffers.Get().(*[]byte) // a report reads thousands of journals
	defer buffers.Put(buf)
	in := bufio.NewScanner(r)
	in.Buffer(*buf, maxLine)
	in.Split(allLines)
	take := check.add
	if check.none {
		take = check.take
	}
	n := 0
	var rest []byte // the last line, if it has no newline
	for in.Scan() {
		raw := in.Bytes()
		if raw[len(raw)-1] != '\n' {
			rest = raw
			break
		}
		n++
		if err := take(n, raw); err != nil {
			return atLine(n, err)
		}
	}
	if err := in.Err(); err != nil {
		return atLine(n+1, err)
	}
	if !check.none {
		return check.end(n+1, rest)
	}
	if rest != nil {
		return atLine(n+1, fmt.Errorf("the line does not end: %w", ErrChanged))
	}
	if n == 0 {
		return errCut
	}
	return nil
}

var errCut = errors.New("there is no head: this is not a journal, or it was cut off at once")

// atLine names the line of an error, unless the error does.
func atLine(n int, err error) error {
	if named := new(lineError); errors.As(err, &named) {
		return err
	}
	return &lineError{n, err}
}

// reading is a journal while it is read.
type reading struct {
	notes   int // lines with an opinion
	run     *Run
	digests digests
	earlier Replies      // of earlier attempts at the run
	before  *Head        // of the attempt before this one; nil: there is none
	asked   map[Key]Cost // requests whose reply has not been read
}

// unanswered returns the cost of the requests without a reply, by seat.
func (in *reading) unanswered() []Unanswered {
	all := slices.Clone(in.run.Head.Unanswered)
	for key, c := range in.asked {
		all = append(all, Unanswered{key.Node, c})
	}
	return bySeat(all)
}

// bySeat returns one entry for each seat.
func bySeat(all []Unanswered) (sums []Unanswered) {
	order.Sort(all, func(a, b Unanswered) int { return cmp.Compare(a.Node, b.Node) })
	for _, u := range all {
		if n := len(sums); n > 0 && sums[n-1].Node == u.Node {
			sums[n-1].Cost = sums[n-1].Plus(u.Cost)
		} else {
			sums = append(sums, u)
		}
	}
	return sums
}

// ask takes an asked line.
func (in *reading) ask(raw []byte) error {
	in.digests.note(raw)
	var l askedLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	if in.asked == nil {
		in.asked = map[Key]Cost{}
	}
	key := Key{l.Node, l.ID}
	in.asked[key] = in.asked[key].Plus(l.Cost)
	return nil
}

func (in *reading) take(n int, raw []byte) error {
	if kind, ok := kindOf(raw); ok { // the whole line is decoded below
		return in.takeKind(kind, n, raw)
	}
	var kind struct {
		Kind string `json:"k"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return fmt.Errorf("not a journal line: %w", err)
	}
	return in.takeKind(kind.Kind, n, raw)
}

// maxSkipped is how many rounds may pass in which no seat notes anything.
const maxSkipped = 1024

// noted checks the round of a note: rounds follow one another, and readers make room for all
// rounds up to the last.
func (in *reading) noted(round int) error {
	if round < 0 || round > in.notes+maxSkipped {
		return fmt.Errorf("an opinion is about round %d, and there are %d opinions before it", round, in.notes)
	}
	in.notes++
	return nil
}

// kindOf returns the kind of a line as a Writer writes it.
func kindOf(raw []byte) (kind string, ok bool) {
	rest, ok := bytes.CutPrefix(raw, []byte(linePrefix))
	if !ok {
		return "", false
	}
	name, _, ok := bytes.Cut(rest[:min(len(rest), 16)], []byte(`",`))
	return string(name), ok
}

func (in *reading) takeKind(kind string, n int, raw []byte) error {
	if err := in.checkPlace(kind, n); err != nil {
		return err
	}
	run := in.run
	switch kind {
	case "head":
		in.digests.note(raw)
		return in.head(raw)
	case "reply":
		in.digests.note(raw)
		var l replyLine
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		run.Replies[Key{l.Node, l.ID}] = l.Reply
		delete(in.asked, Key{l.Node, l.ID})
	case "asked":
		return in.ask(raw)
	case "report":
		in.digests.note(raw)
		var r Report
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		run.Reports = append(run.Reports, r)
	case "event", "effect":
		k := stored{raw: bytes.Clone(raw), at: n}
		if err := json.Unmarshal(raw, &k.line); err != nil {
			return err
		}
		if k.Opinion != nil {
			if err := in.noted(k.Opinion.Round); err != nil {
				return err
			}
		}
		run.lines = append(run.lines, k)
		return in.digests.add(k.Node, raw)
	case "end":
		run.End = &End{}
		return json.Unmarshal(raw, run.End)
	default:
		return fmt.Errorf("unknown kind of line: %q", kind)
	}
	return nil
}

// checkPlace returns an error if line n must not be of this kind. The head of a later attempt begins that attempt.
func (in *reading) checkPlace(kind string, n int) error {
	switch {
	case kind == "chunk":
		return errors.New("this file holds the journals of several runs that are being asked; finished ones are " +
			"named FOLDER#ID")
	case n == 1 && kind != "head":
		return errors.New("the head must be the first line")
	case n > 1 && kind == "head":
		return in.restart()
	case in.run.End != nil:
		return errors.New("a line follows the end")
	}
	return nil
}

// restart begins to read a later attempt at a run that was cut off.
func (in *reading) restart() error {
	if err := in.changed(); err != nil {
		return err
	}
	in.earlier = (&Run{Replies: in.earlier}).before(in.run.Replies)
	clear(in.run.Replies)
	head := in.run.Head
	in.before = &head
	*in.run = Run{Replies: in.run.Replies, lines: in.run.lines[:0]}
	in.digests, in.asked = digests{}, nil
	return nil
}

func (in *reading) head(raw []byte) error {
	head := &in.run.Head
	if err := json.Unmarshal(raw, head); err != nil {
		return err
	}
	in.digests.seat = head.Seat
	switch {
	case in.before != nil && (head.Seed != in.before.Seed || head.Instance != in.before.Instance):
		return errors.New("a second head is not one of the same run")
	case head.Version < 1:
		return errors.New("the head has no version: this is not a journal")
	case head.Version < Version:
		return fmt.Errorf("this journal has format %d of an earlier version of Synod, and this version reads format "+
			"%d only; replay it with the version that wrote it, or ask the question again", head.Version, Version)
	case head.Version > Version:
		return fmt.Errorf("this journal has format %d of a later version of Synod; this version reads format %d only",
			head.Version, Version)
	}
	return nil
}

// changed returns an ErrChanged if the journal has an end, and its digests are not those
// of the lines.
func (in *reading) changed() error {
	end := in.run.End
	if end == nil {
		return nil
	}
	switch digest, _ := in.digests.end(); {
	case digest != end.Digest:
		return fmt.Errorf("the lines have digest %s and the end names %s: %w", digest, end.Digest, ErrChanged)
	case in.digests.recordOf(digest) != end.Record:
		return fmt.Errorf("the head and the replies do not have the digest that the end names: %w", ErrChanged)
	}
	return nil
}

// askedLine is an asked line.
type askedLine struct {
	Kind string          `json:"k"`
	Node synod.NodeID    `json:"n"`
	ID   synod.ConsultID `json:"id"`
	Cost
}

// replyLine is a reply line.
type replyLine struct {
	Kind string          `json:"k"`
	Node synod.NodeID    `json:"n"`
	ID   synod.ConsultID `json:"id"`
	synod.Reply
}

// Noted is an opinion of a journal, with the node that noted it and when.
type Noted struct {
	Tick synod.Tick
	Node synod.NodeID
	synod.Opinion
}

// Opinions returns what every node noted, in order.
func (run *Run) Opinions() []Noted {
	var out []Noted
	for _, k := range run.lines {
		if k.Opinion != nil {
			out = append(out, Noted{k.Tick, k.Node, *k.Opinion})
		}
	}
	return out
}

// Opened is what a node of a journal opened: a synod.Opened.
type Opened struct {
	Node  synod.NodeID
	First []synod.Given
}

// Opened returns what every node opened, in order.
func (run *Run) Opened() (all []Opened) {
	for _, k := range run.lines {
		if k.What == opened {
			all = append(all, Opened{k.Node, k.First})
		}
	}
	return all
}

// Lost returns the requests that were paid for and brought nothing that a resumed run can
// use: Unanswered, and those of calls that were dropped because the run ended.
func (run *Run) Lost() []Unanswered {
	all := slices.Clone(run.Unanswered)
	for key, r := range run.Replies {
		if r.Status == synod.Dropped && r.Calls > 0 {
			all = append(all, Unanswered{key.Node, Cost{r.Calls, r.Spent()}})
		}
	}
	return bySeat(all)
}

// Answered returns the replies that a resumed run can use. Calls that were dropped because
// the run ended are made again.
func (run *Run) Answered() Replies {
	all := make(Replies, len(run.Replies))
	for key, r := range run.Replies {
		if r.Status != synod.Dropped {
			all[key] = r
		}
	}
	return all
}

// before returns the replies of a later attempt with those of this one that it does not
// have. The head of the later attempt has the cost of calls that were dropped.
func (run *Run) before(later Replies) Replies {
	all := run.Answered()
	maps.Copy(all, later)
	return all
}

// Asked is a model call of a journal with its prompt.
type Asked struct {
	Key
	Prompt *synod.Prompt
	Round  int // of the next note of the node that asked; -1: it noted nothing more
}

// Asked returns every model call, in order.
func (run *Run) Asked() []Asked {
	var out []Asked
	open := map[synod.NodeID]int{} // where in out the calls of a node begin that wait for its next note
	for _, k := range run.lines {
		if k.Opinion != nil {
			for i := open[k.Node]; i < len(out); i++ {
				if out[i].Node == k.Node {
					out[i].Round = k.Opinion.Round
				}
			}
			open[k.Node] = len(out)
		}
		if k.What != "consult" || k.Prompt == nil {
			continue
		}
		p := *k.Prompt
		p.Question = &run.Head.Question
		out = append(out, Asked{Key{k.Node, synod.ConsultID(k.ID)}, &p, -1})
	}
	return out
}

// allLines is bufio.ScanLines, but it keeps the newline. Only the last line may have
// none.
func allLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
