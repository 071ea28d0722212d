package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"unicode/utf8"

	"synod.dev/synod"
)

// packing is the Summary of a journal of one attempt while the journal is written, in binary.
// It is what Summarize returns for the journal, in a fiftieth of the bytes. Journals with
// requests, with reports or with replies of earlier attempts are not packed: reading them
// costs little in comparison with their calls.
type packing struct {
	b     []byte
	notes int
	next  []synod.ConsultID // by node: one more than the last call with a reply
	bad   bool              // the journal has something that is not packed
}

// The entries of a packed summary.
const (
	packedReply = iota + 1
	packedNote
	packedEnd
)

func (p *packing) number(n int) {
	if n < 0 { // of a program that is not ours
		p.bad = true
	}
	p.b = binary.AppendUvarint(p.b, uint64(n))
}

// text packs a text that JSON keeps as it is.
func (p *packing) text(s string) {
	p.bad = p.bad || !utf8.ValidString(s)
	p.number(len(s))
	p.b = append(p.b, s...)
}

func (p *packing) nodes(ids []synod.NodeID) {
	p.number(len(ids))
	for _, id := range ids {
		p.number(int(id))
	}
}

// head begins the summary.
func (p *packing) head(h *Head) {
	p.bad = h.Seat != nil || len(h.Unanswered) > 0 || len(h.Known) > 0
	p.b = binary.AppendUvarint(p.b, h.Seed)
	question, err := json.Marshal(h.Question)
	p.bad = p.bad || err != nil
	p.text(string(question))
}

// reply packs what Summarize reads of a reply.
func (p *packing) reply(node synod.NodeID, id synod.ConsultID, r *synod.Reply) {
	if p.bad {
		return
	}
	if node < 0 || node >= maxSeats || int(node) < len(p.next) && id < p.next[node] { // it may replace an earlier reply
		p.bad = true
		return
	}
	for int(node) >= len(p.next) {
		p.next = append(p.next, 0)
	}
	p.next[node] = id + 1
	p.number(packedReply)
	p.number(int(node))
	p.number(int(id))
	p.text(string(r.Status))
	p.number(r.Calls)
	p.text(r.Fault)
	p.text(r.Model)
	p.bad = p.bad || r.Usage != (synod.Usage{}) || r.Took != 0 || r.Reused
}

// note packs what Summarize reads of a note.
func (p *packing) note(now synod.Tick, node synod.NodeID, o *synod.Opinion) {
	if p.bad {
		return
	}
	p.bad = o.Round < 0 || o.Round > p.notes+maxSkipped
	p.notes++
	p.number(packedNote)
	p.number(int(now))
	p.number(int(node))
	p.number(o.Round)
	p.text(string(o.Answer))
	p.nodes(o.Retained)
	p.nodes(o.Dropped)
	p.nodes(o.Silent)
	p.number(o.Failed)
	p.number(o.Unreadable)
	p.number(o.Reused)
	if o.Confidence == nil {
		p.number(0)
	} else {
		p.number(1)
		p.b = binary.LittleEndian.AppendUint64(p.b, math.Float64bits(*o.Confidence))
	}
	var record []byte
	if o.Record != nil {
		var err error
		if record, err = json.Marshal(o.Record); err != nil || string(record) == "null" {
			p.bad = true
		}
	}
	p.text(string(record))
}

// end packs the end. The summary is complete then.
func (p *packing) end(e *End) {
	p.number(packedEnd)
	p.text(e.Stopped)
	p.text(e.Digest)
	p.number(int(e.Ticks))
}

var errPacked = errors.New("not a packed summary")

// unpacking reads a packed summary. After the first part that is missing or out of its bounds
// every call returns a zero value.
type unpacking struct {
	b   []byte
	bad bool
}

func (u *unpacking) uint() uint64 {
	n, size := binary.Uvarint(u.b)
	if size <= 0 || u.bad {
		u.bad = true
		return 0
	}
	u.b = u.b[size:]
	return n
}

func (u *unpacking) number() int {
	n := u.uint()
	if n > math.MaxInt {
		u.bad = true
		return 0
	}
	return int(n)
}

func (u *unpacking) text() string { return string(u.fixed(u.number())) }

func (u *unpacking) fixed(n int) []byte {
	if u.bad || n > len(u.b) {
		u.bad = true
		return nil
	}
	part := u.b[:n]
	u.b = u.b[n:]
	return part
}

func (u *unpacking) nodes() []synod.NodeID {
	n := u.number()
	if n == 0 || n > len(u.b) {
		u.bad = u.bad || n > 0
		return nil
	}
	ids := make([]synod.NodeID, n)
	for i := range ids {
		ids[i] = synod.NodeID(u.number())
	}
	return ids
}

// unpack returns the summary that a packing has packed.
func unpack(b []byte) (*Summary, error) {
	u := unpacking{b: b}
	s := &Summary{Head: Head{Kind: "head", Version: Version}, Replies: make([]Replied, 0, usualReplies)}
	s.Head.Seed = u.uint()
	if json.Unmarshal(u.fixed(u.number()), &s.Head.Question) != nil {
		return nil, errPacked
	}
	s.Noted = make([]Noted, 0, usualNotes)
	for !u.bad && s.End == nil {
		switch u.number() {
		case packedReply:
			s.Replies = append(s.Replies, Replied{})
			r := &s.Replies[len(s.Replies)-1]
			r.Node, r.ID = synod.NodeID(u.number()), synod.ConsultID(u.number())
			r.Status, r.Calls, r.Fault, r.Model = status(u.fixed(u.number())), u.number(), u.text(), u.text()
		case packedNote:
			s.Noted = append(s.Noted, u.note())
		case packedEnd:
			s.End = &End{Kind: "end", Stopped: u.text(), Digest: u.text(), Ticks: synod.Tick(u.number())}
		default:
			u.bad = true
		}
	}
	if u.bad || len(u.b) > 0 {
		return nil, errPacked
	}
	return s, nil
}

// usualReplies is how many replies most runs of a few seats have at most.
const usualReplies = 64

// status returns a status without an allocation where it is that of most replies.
func status(b []byte) synod.Status {
	if string(b) == string(synod.OK) {
		return synod.OK
	}
	return synod.Status(b)
}

func (u *unpacking) note() (n Noted) {
	n.Tick, n.Node = synod.Tick(u.number()), synod.NodeID(u.number())
	n.Round, n.Answer = u.number(), synod.Answer(u.text())
	n.Retained, n.Dropped, n.Silent = u.nodes(), u.nodes(), u.nodes()
	n.Failed, n.Unreadable, n.Reused = u.number(), u.number(), u.number()
	if u.number() != 0 {
		if bits := u.fixed(8); bits != nil {
			c := math.Float64frombits(binary.LittleEndian.Uint64(bits))
			n.Confidence = &c
		}
	}
	if record := u.fixed(u.number()); len(record) > 0 {
		n.Record = synod.RawRecord(bytes.Clone(record))
	}
	return n
}
