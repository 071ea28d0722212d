package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
)

// maxLine is the longest line that is read, in bytes: the longest reply that is let
// in, and some more.
const maxLine = 64 << 20

// Load reads a journal file.
func Load(path string) (*Run, error) {
	f, err := durable.Open(path)
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
		var r SeatReport
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
