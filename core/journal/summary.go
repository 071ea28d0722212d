package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/tidwall/gjson"

	"synod.dev/synod"
)

// Summary is what a report needs of a journal: enough to grade the run and to add up
// its cost, and not enough to replay it.
type Summary struct {
	Head       Head
	Replies    []Replied    // only Status, Usage, Calls, Fault and Model of each, in any order
	Unanswered []Unanswered // as Run.Unanswered
	Reports    []SeatReport // as Run.Reports
	// without Surface, Source, From, Suspects and Unsure
	Noted  []Noted
	Opened []Opened
	End    *End // nil: the run was cut off
}

// Summarize reads the lines of a finished journal as Load does, but decodes only what a report needs: it
// skips events and all effects that are not notes. It returns an ErrChanged if the
// journal has an end whose digests are not those of the lines, so that the lines that
// it skipped are known to be unchanged too.
func Summarize(lines []byte) (*Summary, error) { return summarize(bytes.NewReader(lines), false) }

// Finish reads the text of a journal file whose run is finished. It returns the lines of the last attempt, without
// sum lines, and the run.
func Finish(text []byte) (lines []byte, run *Run, err error) {
	if run, err = Read(bytes.NewReader(text)); err != nil {
		return nil, nil, err
	}
	if run.End == nil {
		return nil, nil, errors.New("the journal has no end")
	}
	for line := range bytes.Lines(text) {
		kind, _ := kindOf(line)
		switch {
		case bytes.HasPrefix(line, []byte(sumPrefix)):
			continue
		case kind == "head":
			lines = lines[:0]
		}
		lines = append(lines, line...)
	}
	return lines, run, nil
}

// Parse reads the lines of a finished journal that a Segment has held.
func Parse(lines []byte) (*Run, error) { return readRun(bytes.NewReader(lines), false) }

// How the lines that a Writer writes begin.
const (
	eventPrefix  = `{"k":"event","t":`
	effectPrefix = `{"k":"effect","t":`
	replyPrefix  = `{"k":"reply",`
)

func summarize(r io.Reader, sums bool) (*Summary, error) {
	in := reading{run: &Run{Replies: make(Replies, 64)}}
	s := &Summary{}
	err := eachLine(r, &summed{take: func(n int, raw []byte) error { return s.take(&in, n, raw) }, none: !sums})
	if err == nil {
		err = in.changed()
	}
	s.Head, s.End, s.Unanswered, s.Reports = in.run.Head, in.run.End, in.unanswered(), in.run.Reports
	s.Replies = in.run.Replies.List()
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
				return s.note(in, raw)
			}
		} else if bytes.HasPrefix(raw, []byte(replyPrefix)) {
			in.digests.note(raw)
			return in.reply(raw)
		}
	}
	if kind, _ := kindOf(raw); kind == "head" { // of a later attempt
		s.Noted, s.Opened = nil, nil
	}
	err := in.take(n, raw) // a head, the end, or a line that another program has written
	for _, k := range in.run.lines {
		if k.Opinion != nil {
			s.Noted = append(s.Noted, Noted{k.Tick, k.Node, *k.Opinion})
		}
		if k.What == opened {
			s.Opened = append(s.Opened, Opened{k.Node, k.First})
		}
	}
	in.run.lines = in.run.lines[:0]
	return err
}

// nodeOf returns the node of an event or effect line: the number after "t" and its
// number.
func nodeOf(raw []byte) (synod.NodeID, bool) {
	_, rest, ok := bytes.Cut(raw[:min(len(raw), 64)], []byte(`,"n":`))
	digits, _, ended := bytes.Cut(rest, []byte{','})
	node, err := strconv.ParseUint(string(digits), 10, 31)
	return synod.NodeID(node), ok && ended && err == nil
}

var errLine = errors.New("not a JSON object")

// object parses a JSON object. encoding/json would decode all of its fields, and a
// report needs few.
func object(raw []byte) (gjson.Result, error) {
	if tooDeep(raw) || !gjson.ValidBytes(raw) || len(raw) == 0 || raw[0] != '{' {
		return gjson.Result{}, errLine
	}
	return gjson.ParseBytes(raw), nil
}

// maxNesting is how deep an object may be nested. gjson calls itself for every level, and
// the stack of a process is not endless.
const maxNesting = 1000

// tooDeep reports whether an object is nested too deeply.
func tooDeep(raw []byte) bool {
	if len(raw) <= maxNesting {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxNesting {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// reply keeps status, usage, call count, fault and reported model of a reply, and what became of the second request.
func (in *reading) reply(raw []byte) error {
	line, err := object(raw)
	var key Key
	var r synod.Reply
	line.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "n":
			key.Node = synod.NodeID(v.Int())
		case "id":
			key.ID = synod.ConsultID(v.Int())
		case "status":
			r.Status = synod.Status(v.Str)
		case "usage":
			r.Usage = synod.Usage{Prompt: int(v.Get("prompt").Int()), Completion: int(v.Get("completion").Int()),
				Cached: int(v.Get("cached").Int()), Stored: int(v.Get("stored").Int()),
				Billed: int(v.Get("billed").Int()), Bills: int(v.Get("bills").Int())}
		case "calls":
			r.Calls = int(v.Int())
		case "reused":
			r.Reused = v.Bool()
		case "ms":
			r.Took = int(v.Int())
		case "fault":
			r.Fault = v.Str
		case "model":
			r.Model = v.Str
		case "needless":
			r.Needless = v.Bool()
		case "reread":
			r.Reread = synod.Reread(v.Str)
		}
		return true
	})
	if err == nil {
		in.run.Replies[key] = r
		delete(in.asked, key)
	}
	return err
}

// usualNotes is how many notes most runs of a few seats have at most.
const usualNotes = 32

// note keeps an effect if it is a note, or what a node opened.
func (s *Summary) note(in *reading, raw []byte) error {
	switch what(raw) {
	case "note":
	case opened:
		var l line
		err := json.Unmarshal(raw, &l)
		s.Opened = append(s.Opened, Opened{l.Node, l.First})
		return err
	default:
		return nil
	}
	line, err := object(raw)
	if s.Noted == nil {
		s.Noted = make([]Noted, 0, usualNotes)
	}
	last := len(s.Noted)
	s.Noted = append(s.Noted, Noted{})
	note, noted := &s.Noted[last], false
	line.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "t":
			note.Tick = synod.Tick(v.Int())
		case "n":
			note.Node = synod.NodeID(v.Int())
		case "opinion":
			noted = true
			err = errors.Join(err, summarizeOpinion(v, &note.Opinion))
		}
		return true
	})
	if err == nil && noted {
		err = in.noted(note.Round)
	}
	if err != nil || !noted {
		s.Noted = s.Noted[:last]
		return err
	}
	return nil
}

// what returns what an effect line is. A Writer writes it after its tick and node.
func what(raw []byte) string {
	if _, rest, ok := bytes.Cut(raw[:min(len(raw), 64)], []byte(`,"w":"`)); ok {
		for _, known := range []string{"note", opened} {
			if len(rest) > len(known) && string(rest[:len(known)]) == known && rest[len(known)] == '"' {
				return known
			}
		}
		return ""
	}
	return gjson.GetBytes(raw, "w").Str
}

// summarizeOpinion decodes what a report needs of an opinion.
func summarizeOpinion(opinion gjson.Result, o *synod.Opinion) (err error) {
	opinion.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "round":
			o.Round = int(v.Int())
		case "answer":
			o.Answer = synod.Answer(v.Str)
		case "confidence":
			err = errors.Join(err, json.Unmarshal([]byte(v.Raw), &o.Confidence))
		case "scores":
			o.Scores = scores(v)
		case "retained":
			err = errors.Join(err, nodes(v, &o.Retained))
		case "dropped":
			err = errors.Join(err, nodes(v, &o.Dropped))
		case "silent":
			err = errors.Join(err, nodes(v, &o.Silent))
		case "failed":
			o.Failed = int(v.Int())
		case "garbled":
			o.Unreadable = int(v.Int())
		case "record":
			o.Record = synod.RawRecord(v.Raw)
		case "reused":
			o.Reused = int(v.Int())
		}
		return true
	})
	return err
}

// nodes decodes a list of nodes.
func nodes(list gjson.Result, into *[]synod.NodeID) (err error) {
	if list.Type == gjson.Null {
		return nil
	}
	if !list.IsArray() {
		return errLine
	}
	ids := make([]synod.NodeID, 0, 8)
	list.ForEach(func(_, id gjson.Result) bool {
		if id.Type != gjson.Number {
			err = errLine
		}
		ids = append(ids, synod.NodeID(id.Int()))
		return err == nil
	})
	*into = ids
	return err
}
func scores(list gjson.Result) (all []synod.Judged) {
	list.ForEach(func(_, v gjson.Result) bool {
		judged := synod.Judged{Of: synod.NodeID(v.Get("of").Int()), Score: synod.Untrusted}
		if score := v.Get("score"); score.Type == gjson.Number {
			judged.Score = synod.Score(score.Num)
		}
		all = append(all, judged)
		return true
	})
	return all
}
