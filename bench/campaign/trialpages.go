package campaign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"reflect"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
)

// leaf is an event or effect line of a journal, as encoding/json writes it.
type leaf struct {
	Kind    string         `json:"k"`
	Tick    synod.Tick     `json:"t"`
	Node    synod.NodeID   `json:"n"`
	What    string         `json:"w"`
	ID      uint32         `json:"id,omitempty"`
	At      synod.Tick     `json:"at,omitempty"`
	From    *synod.NodeID  `json:"from,omitempty"`
	To      []synod.NodeID `json:"to,omitempty"`
	Slot    *synod.Slot    `json:"slot,omitempty"`
	Body    []byte         `json:"body,omitempty"`
	Prompt  *synod.Prompt  `json:"prompt,omitempty"`
	Opinion *synod.Opinion `json:"opinion,omitempty"`
	Answer  synod.Answer   `json:"answer,omitempty"`
	First   []synod.Given  `json:"first,omitempty"`
}

// pages is a journal that is written, and what it must hold.
type pages struct {
	*ClaimTried
	w       *journal.Writer
	lines   []any // what encoding/json must make of them: leaves and replies
	notes   []leaf
	replies journal.Replies
}

// pages compares the lines of a journal with what encoding/json writes, and what is read from them with what was
// written.
func (t *ClaimTried) pages() {
	segment := journal.InMemory()
	head := journal.Head{Program: "claims", Seed: t.Rand.Uint64()}
	if t.Rand.IntN(3) == 0 {
		seat := synod.NodeID(t.Rand.IntN(6))
		head.Seat = &seat
	}
	w, err := segment.Create("run", head)
	if !t.Need(err) {
		return
	}
	p := &pages{ClaimTried: t, w: w, replies: journal.Replies{}}
	for range t.Rand.IntN(8) {
		p.write()
	}
	_, err = w.Close("rounds")
	t.Check(err == nil, "a journal cannot be written: %v", err)
	f, err := segment.Take("run")
	if err != nil {
		return
	}
	all := bytes.SplitAfter(f.Lines, []byte("\n"))
	for i, want := range p.lines {
		b, err := json.Marshal(want)
		if r, ok := want.(answered); ok {
			b, err = r.line()
		}
		t.Check(err == nil && i+3 < len(all) && string(all[i+1]) == string(b)+"\n", "line %d of %q is not %s: %v", i+1,
			f.Lines, b, err)
	}
	run, err := journal.Parse(f.Lines)
	t.Check(err == nil && len(run.Replies) == len(p.replies), "%q has %d replies: %v", f.Lines, len(p.replies), err)
	if err == nil {
		t.digested(run, f.Lines)
		p.summary(f.Lines, run)
	}
}

// packedAlike compares what a report reads of a journal in binary with what it reads of its lines.
func packedAlike(t *ClaimTried) {
	lines := freeRun(t)
	if lines == nil {
		return
	}
	run, err := journal.Parse(lines)
	want, err1 := journal.Summarize(lines)
	if !t.Need(err) || !t.Need(err1) {
		return
	}
	p := journal.Pack(run)
	if t.Check(p != nil, "a journal without texts is not packed"); p == nil {
		return
	}
	got, err := p.Summary(run.Head)
	if t.Check(err == nil, "a packed journal cannot be read: %v", err); err != nil {
		return
	}
	same := slices.EqualFunc(got.Noted, want.Noted, func(a, b journal.Noted) bool { return reflect.DeepEqual(a, b) })
	t.Check(same && got.End.Digest == want.End.Digest, "packed %+v, and not packed %+v", got, want)
	calls := func(all []journal.Replied) (list []string) {
		for _, r := range all {
			list = append(list, fmt.Sprint(r.Key, r.Status, r.Calls, r.Fault))
		}
		slices.Sort(list)
		return list
	}
	t.Check(slices.Equal(calls(got.Replies), calls(want.Replies)), "the packed replies are %v, and not %v",
		calls(got.Replies), calls(want.Replies))
}

// freeRun writes the journal of members that cost nothing, and returns its lines; nil: it cannot be written. Some seats
// are far from the others: few councils have more than 64.
func freeRun(t *ClaimTried) []byte {
	segment := journal.InMemory()
	w, err := segment.Create("run", journal.Head{Program: "claims", Seed: t.Rand.Uint64()})
	if !t.Need(err) {
		return nil
	}
	next := map[synod.NodeID]synod.ConsultID{}
	for range t.Rand.IntN(30) {
		node := synod.NodeID(t.Rand.IntN(3) + 62*t.Rand.IntN(2))
		id := next[node] + synod.ConsultID(t.Rand.IntN(3))
		next[node] = id + 1
		r := synod.Reply{Status: synod.OK, Typed: true, Answer: synod.Answer(fmt.Sprint(t.Rand.IntN(9))),
			Value: t.Rand.Float64(), Calls: t.Rand.IntN(3)}
		if t.Rand.IntN(4) == 0 {
			r = synod.Reply{Status: synod.Unavailable, Fault: "down", Calls: t.Rand.IntN(3)}
		}
		w.Reply(node, id, r)
		w.Effect(synod.Tick(t.Rand.IntN(9)), node, synod.Note{Opinion: &synod.Opinion{Round: t.Rand.IntN(3),
			Answer: r.Answer, Failed: t.Rand.IntN(3), Silent: []synod.NodeID{node}}})
	}
	_, err = w.Close("rounds")
	f, err1 := segment.Take("run")
	if !t.Need(err) || !t.Need(err1) {
		return nil
	}
	return f.Lines
}

// answered is a reply to a call.
type answered struct {
	journal.Key
	synod.Reply
}

// line writes the line of a reply, whose fields follow those of the line.
func (a answered) line() ([]byte, error) {
	b, err := json.Marshal(a.Reply)
	return fmt.Appendf(nil, `{"k":"reply","n":%d,"id":%d,%s`, a.Node, a.ID, b[min(1, len(b)):]), err
}

// write writes one line.
func (p *pages) write() {
	l := leaf{Kind: "effect", Tick: synod.Tick(p.Rand.IntN(9)), Node: synod.NodeID(p.Rand.IntN(5))}
	var effect synod.Effect
	switch p.Rand.IntN(7) {
	case 0:
		p.draw(reflect.ValueOf(&l.To).Elem())
		l.What, l.Slot, l.Body = "send", &synod.Slot{Name: p.text(), Round: p.Rand.IntN(4)}, []byte(p.text())
		effect = synod.Send{To: l.To, Message: &synod.Message{Slot: *l.Slot, Body: l.Body}}
	case 1:
		l.What, l.ID, l.Prompt = "consult", p.Rand.Uint32N(3), sparse[synod.Prompt](p.ClaimTried)
		effect = synod.Consult{ID: synod.ConsultID(l.ID), Prompt: l.Prompt}
	case 2:
		l.What, l.ID, l.At = "alarm", p.Rand.Uint32N(3), synod.Tick(p.Rand.IntN(3))
		effect = synod.Alarm{ID: synod.AlarmID(l.ID), At: l.At}
	case 3:
		l.What, l.Opinion = "note", sparse[synod.Opinion](p.ClaimTried)
		l.Opinion.Round = p.Rand.IntN(3)
		p.notes = append(p.notes, l)
		effect = synod.Note{Opinion: l.Opinion}
	case 4:
		l.What, l.Answer = "decide", synod.Answer(p.text())
		effect = synod.Decide{Answer: l.Answer}
	case 5:
		p.draw(reflect.ValueOf(&l.First).Elem())
		l.What = "opened"
		effect = synod.Opened{First: l.First}
	default:
		a := answered{journal.Key{Node: l.Node, ID: synod.ConsultID(len(p.lines))}, *sparse[synod.Reply](p.ClaimTried)}
		p.replies[a.Key] = a.Reply
		p.lines = append(p.lines, a)
		p.w.Reply(a.Node, a.ID, a.Reply)
		return
	}
	p.lines = append(p.lines, l)
	p.w.Effect(l.Tick, l.Node, effect)
}

// sparse draws a struct most of whose fields are zero, so that the one which an encoder forgets is often alone.
func sparse[T any](t *ClaimTried) *T {
	x := new(T)
	v := reflect.ValueOf(x).Elem()
	for range t.Rand.IntN(4) {
		i := t.Rand.IntN(v.NumField())
		if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
			t.draw(v.Field(i))
		}
	}
	return x
}

// draw draws a value of any type that lines have.
func (t *ClaimTried) draw(v reflect.Value) {
	if _, is := v.Interface().(synod.Score); is {
		v.SetFloat([]float64{-1, 0, 1, .5, 1e-9}[t.Rand.IntN(5)])
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(t.text())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(t.Rand.IntN(12) - 1))
	case reflect.Uint64, reflect.Uint32:
		v.SetUint(uint64(t.Rand.Uint32()))
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, -.25, 1e-6, 9e-7, 1e21, 9e20, -1e21, 1e22}[t.Rand.IntN(9)])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		t.draw(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), t.Rand.IntN(3), 3))
		for i := range v.Len() {
			t.draw(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" && t.Rand.IntN(2) == 0 {
				t.draw(v.Field(i))
			}
		}
	case reflect.Interface:
		if raw := reflect.ValueOf(synod.RawRecord(`{"vote":"stop"}`)); raw.Type().Implements(v.Type()) {
			v.Set(raw)
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.MakeMap(v.Type()))
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			t.draw(key)
			t.draw(value)
			v.SetMapIndex(key, value)
		}
	}
}

// digested compares the digests of a journal with those of its lines by definition (package journal).
func (t *ClaimTried) digested(run *journal.Run, text []byte) {
	var seats []hash.Hash
	record := sha256.New()
	for _, raw := range bytes.SplitAfter(text, []byte("\n")) {
		var l struct {
			Kind string       `json:"k"`
			Node synod.NodeID `json:"n"`
		}
		_ = json.Unmarshal(raw, &l) // after the last line there is nothing
		switch l.Kind {
		case "event", "effect":
			for int(l.Node) >= len(seats) {
				seats = append(seats, sha256.New())
			}
			seats[l.Node].Write(raw)
		case "head", "asked", "reply", "report":
			record.Write(raw)
		}
	}
	var names []string
	for _, h := range seats {
		names = append(names, hex.EncodeToString(h.Sum(nil)))
	}
	whole := sha256.Sum256([]byte(strings.Join(append(slices.Clone(names), ""), "\n")))
	digest := hex.EncodeToString(whole[:])
	if own := run.Head.Seat; own != nil {
		if digest = hex.EncodeToString(sha256.New().Sum(nil)); int(*own) < len(names) {
			digest = names[*own]
		}
		names = nil
	}
	record.Write([]byte(digest))
	t.Check(run.Digest() == digest && slices.Equal(run.SeatDigests(), names), "the digests are %s and %v, and by "+
		"definition %s and %v: %q", run.Digest(), run.SeatDigests(), digest, names, text)
	e := run.End
	t.Check(e != nil && e.Digest == digest && slices.Equal(e.Seats, names) &&
		e.Record == hex.EncodeToString(record.Sum(nil)), "the end is %+v, and by definition it has %s, %v and %x: %q",
		e, digest, names, record.Sum(nil), text)
}

// summary compares what a report reads of a journal with what was written.
func (p *pages) summary(text []byte, run *journal.Run) {
	s, err := journal.Summarize(text)
	if p.Check(err == nil, "%q cannot be summarized: %v", text, err); err != nil {
		return
	}
	p.Check(reflect.DeepEqual(s.Head, run.Head) && reflect.DeepEqual(s.End, run.End) && len(s.Noted) == len(p.notes) &&
		reflect.DeepEqual(s.Opened, run.Opened()), "%q has the summary %+v", text, s)
	for i, n := range run.Opinions() {
		n.Surface, n.Source, n.From, n.Suspects, n.Unsure = "", "", nil, nil, 0
		p.Check(i < len(s.Noted) && reflect.DeepEqual(n, s.Noted[i]), "note %d of %q has the summary %+v, and not %+v",
			i, text, s.Noted, n)
	}
	for key, r := range run.Replies {
		run.Replies[key] = synod.Reply{Status: r.Status, Usage: r.Usage, Calls: r.Calls, Reused: r.Reused, Took: r.Took,
			Fault: r.Fault, Model: r.Model, Needless: r.Needless, Reread: r.Reread}
	}
	byKey := func(a, b journal.Replied) int { return strings.Compare(fmt.Sprint(a.Key), fmt.Sprint(b.Key)) }
	got, want := slices.SortedFunc(slices.Values(s.Replies), byKey),
		slices.SortedFunc(slices.Values(run.Replies.List()), byKey)
	p.Check(reflect.DeepEqual(got, want), "the replies of %q have the summary %+v, and not %+v", text, got, want)
}
