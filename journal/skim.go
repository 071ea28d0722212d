package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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
	var key Key
	var r synod.Reply
	m := members{rest: raw}
	for m.next() {
		switch string(m.name) {
		case `"n"`:
			key.Node = synod.NodeID(m.number())
		case `"id"`:
			key.ID = synod.ConsultID(m.number())
		case `"status"`:
			r.Status = synod.Status(m.text())
		case `"usage"`:
			m.read(&r.Usage)
		case `"calls"`:
			r.Calls = int(m.number())
		}
	}
	s.Replies[key] = r
	return m.end()
}

// note takes an effect if it is a note.
func (s *Summary) note(raw []byte) error {
	var note Noted
	var tick synod.Tick
	opinion := members{}
	m := members{rest: raw}
	for m.next() {
		switch string(m.name) {
		case `"w"`:
			if m.text() != "note" {
				return nil
			}
		case `"t"`:
			tick = synod.Tick(m.number())
		case `"n"`:
			note.Node = synod.NodeID(m.number())
		case `"opinion"`:
			opinion.rest = m.value
		}
	}
	if err := m.end(); err != nil || opinion.rest == nil {
		return err
	}
	note.Opinion = held(&opinion)
	s.Noted = append(s.Noted, note)
	s.Last[note.Node] = tick
	return opinion.end()
}

// held is an opinion without what a report does not need of it.
func held(m *members) (o synod.Opinion) {
	for m.next() {
		switch string(m.name) {
		case `"round"`:
			o.Round = int(m.number())
		case `"answer"`:
			o.Answer = synod.Answer(m.text())
		case `"confidence"`:
			m.read(&o.Confidence)
		case `"retained"`:
			m.read(&o.Retained)
		case `"dropped"`:
			m.read(&o.Dropped)
		case `"vote"`:
			o.Vote = synod.Vote(m.text())
		case `"panel"`:
			var p struct {
				Answers   []synod.PanelAnswer `json:"answers"`
				Signature []byte              `json:"signature"`
				Undecided string              `json:"undecided"`
			}
			m.read(&p)
			o.Panel = &synod.Panel{Answers: p.Answers, Signature: p.Signature, Undecided: p.Undecided}
		case `"reused"`:
			o.Reused = int(m.number())
		}
	}
	return o
}
