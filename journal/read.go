package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"synod.dev/synod"
)

// Key names a model call of a run.
type Key struct {
	Node synod.NodeID
	ID   synod.ConsultID
}

// Replies are the replies of a run by call.
type Replies map[Key]synod.Reply

// Run is a journal that was read.
type Run struct {
	Head    Head
	Replies Replies
	End     *End // nil: the run was cut off
	lines   []kept
	sum     string
}

type kept struct {
	line
	raw []byte // as it stands in the file, newline included
	at  int    // line number, from 1
}

// maxLine bounds a line in bytes: the longest reply that is let in, and room.
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

// Read reads a journal. A last line that was cut off is left out; anything else
// that cannot be read is an error that names the line.
func Read(r io.Reader) (*Run, error) {
	run := &Run{Replies: Replies{}}
	sum := sha256.New()
	if err := eachLine(r, func(n int, raw []byte) error { return run.take(raw, n, sum) }); err != nil {
		return nil, err
	}
	run.sum = hex.EncodeToString(sum.Sum(nil))
	return run, nil
}

// rooms are buffers for lines.
var rooms = sync.Pool{New: func() any { return new(make([]byte, 64<<10)) }}

// eachLine hands over the lines of a journal by number, from 1.
func eachLine(r io.Reader, take func(n int, raw []byte) error) error {
	room := rooms.Get().(*[]byte) // a report reads thousands of journals
	defer rooms.Put(room)
	in := bufio.NewScanner(r)
	in.Buffer(*room, maxLine)
	in.Split(wholeLines)
	n := 0
	for in.Scan() {
		n++
		if err := take(n, in.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	if n == 0 {
		return errors.New("no head: this is not a journal, or it was cut off at once")
	}
	return nil
}

func (run *Run) take(raw []byte, n int, sum io.Writer) error {
	var kind struct {
		Kind string `json:"k"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return fmt.Errorf("not a journal line: %w", err)
	}
	if (kind.Kind == "head") != (n == 1) {
		return errors.New("the head must be the first line, and only that")
	}
	if run.End != nil {
		return errors.New("there is something after the end")
	}
	switch kind.Kind {
	case "head":
		if err := json.Unmarshal(raw, &run.Head); err != nil {
			return err
		}
		if run.Head.Version < 1 || run.Head.Version > Version {
			return fmt.Errorf("version %d; this program reads up to %d", run.Head.Version, Version)
		}
	case "reply":
		return run.reply(raw)
	case "event", "effect":
		k := kept{raw: bytes.Clone(raw), at: n}
		if err := json.Unmarshal(raw, &k.line); err != nil {
			return err
		}
		run.lines = append(run.lines, k)
		sum.Write(raw)
	case "end":
		run.End = &End{}
		return json.Unmarshal(raw, run.End)
	default:
		return fmt.Errorf("unknown kind %q", kind.Kind)
	}
	return nil
}

// replyLine is a reply as it came.
type replyLine struct {
	Kind string          `json:"k"`
	Node synod.NodeID    `json:"n"`
	ID   synod.ConsultID `json:"id"`
	synod.Reply
}

func (run *Run) reply(raw []byte) error {
	var l replyLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	run.Replies[Key{l.Node, l.ID}] = l.Reply
	return nil
}

// Opinions lists what every node noted, in order.
func (run *Run) Opinions() []Noted {
	var out []Noted
	for _, k := range run.lines {
		if k.Opinion != nil {
			out = append(out, Noted{k.Tick, k.Node, *k.Opinion})
		}
	}
	return out
}

// Noted is an opinion on file.
type Noted struct {
	Tick synod.Tick
	Node synod.NodeID
	synod.Opinion
}

// wholeLines is bufio.ScanLines that keeps the newline and drops a last line
// without one: it was being written when the writer died.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}
