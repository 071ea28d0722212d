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

	"github.com/tidwall/gjson"

	"synod.dev/synod"
)

// Summary is what a journal says of its run without how it came about: enough to
// grade it and to add up what it took, and not enough to play it again.
type Summary struct {
	Head    Head
	Replies Replies // status, calls and tokens; not what they said
	Noted   []Noted // round, answer, confidence, whom it retained and dropped, the protocol's record, and what was reused; not scores
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
				out.Noted = append(out.Noted, Noted{k.Tick, k.Node, *k.Opinion})
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

var errLine = errors.New("not a JSON object")

// each calls use with the members of a JSON object. A report wants few of them, and
// encoding/json would decode them all.
func each(raw []byte, use func(name string, value gjson.Result)) error {
	object := gjson.ParseBytes(raw)
	if !gjson.ValidBytes(raw) || !object.IsObject() {
		return errLine
	}
	object.ForEach(func(name, value gjson.Result) bool {
		use(name.Str, value)
		return true
	})
	return nil
}

// reply takes of a reply what it took.
func (s *Summary) reply(raw []byte) (err error) {
	var key Key
	var r synod.Reply
	wrong := each(raw, func(name string, v gjson.Result) {
		switch name {
		case "n":
			key.Node = synod.NodeID(v.Int())
		case "id":
			key.ID = synod.ConsultID(v.Int())
		case "status":
			r.Status = synod.Status(v.Str)
		case "usage":
			err = json.Unmarshal([]byte(v.Raw), &r.Usage)
		case "calls":
			r.Calls = int(v.Int())
		}
	})
	s.Replies[key] = r
	return errors.Join(wrong, err)
}

// note takes an effect if it is a note.
func (s *Summary) note(raw []byte) error {
	if gjson.GetBytes(raw, "w").Str != "note" {
		return nil
	}
	var note Noted
	var tick synod.Tick
	var opinion []byte
	wrong := each(raw, func(name string, v gjson.Result) {
		switch name {
		case "t":
			tick = synod.Tick(v.Int())
		case "n":
			note.Node = synod.NodeID(v.Int())
		case "opinion":
			opinion = []byte(v.Raw)
		}
	})
	if wrong != nil || opinion == nil {
		return wrong
	}
	var err error
	note.Opinion, err = held(opinion)
	note.Tick = tick
	s.Noted = append(s.Noted, note)
	s.Last[note.Node] = tick
	return err
}

// held is an opinion without what a report does not need of it.
func held(raw []byte) (o synod.Opinion, err error) {
	read := func(v gjson.Result, into any) { err = errors.Join(err, json.Unmarshal([]byte(v.Raw), into)) }
	wrong := each(raw, func(name string, v gjson.Result) {
		switch name {
		case "round":
			o.Round = int(v.Int())
		case "answer":
			o.Answer = synod.Answer(v.Str)
		case "confidence":
			read(v, &o.Confidence)
		case "retained":
			read(v, &o.Retained)
		case "dropped":
			read(v, &o.Dropped)
		case "record":
			o.Record = synod.RawRecord(bytes.Clone([]byte(v.Raw)))
		case "reused":
			o.Reused = int(v.Int())
		}
	})
	return o, errors.Join(wrong, err)
}
