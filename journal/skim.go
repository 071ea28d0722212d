package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"synod.dev/synod"
)

// Summary is what a journal says of its run without how it came about: enough to
// grade it and to add up what it took, and not enough to play it again.
type Summary struct {
	Head    Head
	Replies Replies // status, calls and tokens; not what they said
	Noted   []Noted // round, answer, confidence, whom it retained and dropped, vote, a panel's answers and signature, and what was reused; not scores
	End     *End    // nil: the run was cut off

	Last map[synod.NodeID]synod.Tick // when each member noted for the last time what it holds
}

// ErrChanged says that a journal is not what was written.
var ErrChanged = errors.New("the lines do not have the digest that the end names: the file was changed")

// Skim reads a journal file as Load does, and skips the events and effects that
// are no notes. Where the run came to its end, all lines must have the digest that
// the end names, so that what was skipped is known to be what was written.
func Skim(path string) (*Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	s, err := skim(f)
	if err != nil {
		return nil, fmt.Errorf("journal: %s: %w", path, err)
	}
	return s, nil
}

func skim(r io.Reader) (*Summary, error) {
	run := &Run{Replies: make(Replies, 64)}
	out, sum := &Summary{Replies: run.Replies, Last: map[synod.NodeID]synod.Tick{}}, sha256.New()
	err := eachLine(r, func(n int, raw []byte) error {
		switch {
		case n > 1 && run.End == nil && bytes.HasPrefix(raw, []byte(eventBegins)):
			sum.Write(raw)
			return nil
		case n > 1 && run.End == nil && bytes.HasPrefix(raw, []byte(effectBegins)):
			sum.Write(raw)
			return out.note(raw)
		case n > 1 && run.End == nil && bytes.HasPrefix(raw, []byte(replyBegins)):
			return out.reply(raw)
		}
		err := run.take(raw, n, sum)
		for _, k := range run.lines { // oddly spelled, so it was read in full
			if k.Opinion != nil {
				out.Noted = append(out.Noted, Noted{k.Node, *k.Opinion})
				out.Last[k.Node] = k.Tick
			}
		}
		run.lines = run.lines[:0]
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Head, out.End = run.Head, run.End
	if out.End != nil && out.End.Digest != hex.EncodeToString(sum.Sum(nil)) {
		return nil, ErrChanged
	}
	return out, nil
}

// How the lines that a Writer writes begin.
const (
	eventBegins  = `{"k":"event",`
	effectBegins = `{"k":"effect",`
	replyBegins  = `{"k":"reply",`
)

// reply takes of a reply what it took.
func (s *Summary) reply(raw []byte) error {
	var l struct {
		Node   synod.NodeID    `json:"n"`
		ID     synod.ConsultID `json:"id"`
		Status synod.Status    `json:"status"`
		Usage  synod.Usage     `json:"usage"`
		Calls  int             `json:"calls"`
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	s.Replies[Key{l.Node, l.ID}] = synod.Reply{Status: l.Status, Usage: l.Usage, Calls: l.Calls}
	return nil
}

// note takes an effect if it is a note. Before its name an effect has numbers
// only, so the name is the first thing that looks like one.
func (s *Summary) note(raw []byte) error {
	_, rest, named := bytes.Cut(raw, []byte(`"w":"`))
	if named && !bytes.HasPrefix(rest, []byte(`note"`)) {
		return nil
	}
	var l struct {
		Tick    synod.Tick   `json:"t"`
		Node    synod.NodeID `json:"n"`
		Opinion *struct {
			Round      int            `json:"round"`
			Answer     synod.Answer   `json:"answer"`
			Confidence *float64       `json:"confidence"`
			Retained   []synod.NodeID `json:"retained"`
			Dropped    []synod.NodeID `json:"dropped"`
			Vote       synod.Vote     `json:"vote"`
			Panel      *struct {
				Answers   []synod.PanelAnswer `json:"answers"`
				Signature []byte              `json:"signature"`
				Undecided string              `json:"undecided"`
			} `json:"panel"`
			Reused int `json:"reused"`
		} `json:"opinion"`
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	if o := l.Opinion; o != nil {
		note := Noted{l.Node, synod.Opinion{Round: o.Round, Answer: o.Answer, Confidence: o.Confidence, Retained: o.Retained, Dropped: o.Dropped, Vote: o.Vote, Reused: o.Reused}}
		if p := o.Panel; p != nil {
			note.Panel = &synod.Panel{Answers: p.Answers, Signature: p.Signature, Undecided: p.Undecided}
		}
		s.Noted = append(s.Noted, note)
		s.Last[l.Node] = l.Tick
	}
	return nil
}
