package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/tidwall/gjson"

	"synod.dev/synod"
)

// Summary is what a report needs of a journal: enough to grade the run and to add up
// its cost, and not enough to replay it.
type Summary struct {
	Head    Head
	Replies Replies                     // only Status, Usage and Calls of each
	Noted   []Noted                     // without Surface, Source, From, Scores, Silent, Suspects and counts other than Reused
	Last    map[synod.NodeID]synod.Tick // when each node noted for the last time
	End     *End                        // nil: the run was cut off
}

// Summarize reads a journal as Load does, but decodes only what a report needs: it
// skips events and all effects that are not notes. It returns an ErrChanged if the
// journal has an end whose digests are not those of the lines, so that the lines that
// it skipped are known to be unchanged too.
func Summarize(path string) (sum *Summary, err error) {
	err = open(path, func(r io.Reader) (err error) {
		sum, err = summarize(r)
		return err
	}, func(s *Segment, id string) (err error) {
		sum, err = s.Summarize(id)
		return err
	})
	return sum, err
}

// How the lines that a Writer writes begin.
const (
	eventPrefix  = `{"k":"event","t":`
	effectPrefix = `{"k":"effect","t":`
	replyPrefix  = `{"k":"reply",`
)

func summarize(r io.Reader) (*Summary, error) {
	in := reading{run: &Run{Replies: make(Replies, 64)}}
	s := &Summary{Replies: in.run.Replies, Last: map[synod.NodeID]synod.Tick{}}
	err := eachLine(r, func(n int, raw []byte) error { return s.take(&in, n, raw) })
	if err == nil {
		err = in.changed()
	}
	s.Head, s.End = in.run.Head, in.run.End
	return s, err
}

func (s *Summary) take(in *reading, n int, raw []byte) error {
	if n > 1 && in.run.End == nil {
		event := bytes.HasPrefix(raw, []byte(eventPrefix))
		if event || bytes.HasPrefix(raw, []byte(effectPrefix)) {
			if node, ok := nodeOf(raw); ok {
				if err := in.digests.add(node, raw); err != nil || event {
					return err
				}
				return s.note(raw)
			}
		} else if bytes.HasPrefix(raw, []byte(replyPrefix)) {
			in.digests.note(raw)
			return s.reply(raw)
		}
	}
	err := in.take(n, raw) // the head, the end, or a line that another program has written
	for _, k := range in.run.lines {
		if k.Opinion != nil {
			s.Noted = append(s.Noted, Noted{k.Tick, k.Node, *k.Opinion})
			s.Last[k.Node] = k.Tick
		}
	}
	in.run.lines = in.run.lines[:0]
	return err
}

// nodeOf returns the node of an event or effect line: the number after "t" and its
// number.
func nodeOf(raw []byte) (synod.NodeID, bool) {
	_, rest, ok := bytes.Cut(raw[:min(len(raw), 64)], []byte(`,"n":`))
	node, digits := 0, 0
	for digits < len(rest) && digits < 9 && rest[digits] >= '0' && rest[digits] <= '9' {
		node = 10*node + int(rest[digits]-'0')
		digits++
	}
	return synod.NodeID(node), ok && digits > 0 && digits < len(rest) && rest[digits] == ','
}

var errLine = errors.New("not a JSON object")

// each calls use with the fields of a JSON object. encoding/json would decode all of
// them, and a report wants few.
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

// reply keeps status, usage and call count of a reply.
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

// note keeps an effect if it is a note.
func (s *Summary) note(raw []byte) error {
	if gjson.GetBytes(raw, "w").Str != "note" {
		return nil
	}
	var note Noted
	var opinion []byte
	wrong := each(raw, func(name string, v gjson.Result) {
		switch name {
		case "t":
			note.Tick = synod.Tick(v.Int())
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
	note.Opinion, err = summaryOf(opinion)
	s.Noted = append(s.Noted, note)
	s.Last[note.Node] = note.Tick
	return err
}

// summaryOf decodes what a report needs of an opinion.
func summaryOf(raw []byte) (o synod.Opinion, err error) {
	decode := func(v gjson.Result, into any) { err = errors.Join(err, json.Unmarshal([]byte(v.Raw), into)) }
	wrong := each(raw, func(name string, v gjson.Result) {
		switch name {
		case "round":
			o.Round = int(v.Int())
		case "answer":
			o.Answer = synod.Answer(v.Str)
		case "confidence":
			decode(v, &o.Confidence)
		case "retained":
			decode(v, &o.Retained)
		case "dropped":
			decode(v, &o.Dropped)
		case "record":
			o.Record = synod.RawRecord(bytes.Clone([]byte(v.Raw)))
		case "reused":
			o.Reused = int(v.Int())
		}
	})
	return o, errors.Join(wrong, err)
}
