package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"unicode/utf8"

	"synod.dev/synod"
)

// Packed is a journal of one attempt in binary, without what follows from the rest: it has the replies
// of the members, what a report needs of their opinions, and the end with the digest of the run. The
// events and effects are those of a council that is given these replies, and they have this digest. Only
// journals of replies that cost nothing and have no text are packed, without requests and without
// reports: they can be played again at no cost.
type Packed struct {
	Text  []byte
	Words []byte // numbers of eight bytes, which compress better apart from the text
}

// packing is a journal that is packed while it is written.
type packing struct {
	Packed
	notes int
	next  []synod.ConsultID // by node: one more than the last call with a reply
	bad   bool              // the journal has something that is not packed
}

// The entries of a packed journal.
const (
	packedReply = iota + 1
	packedNote
	packedEnd
	packedOpened
)

// What a reply has beside its status and calls.
const (
	replyTyped = 1 << iota
	replyValue
	replyConfidence
	replyOther // fault or model
)

func (p *packing) number(n int) {
	if n < 0 { // of a program that is not ours
		p.bad = true
	}
	p.Text = binary.AppendUvarint(p.Text, uint64(n))
}

// text packs a text that JSON keeps as it is.
func (p *packing) text(s string) {
	p.bad = p.bad || !utf8.ValidString(s)
	p.number(len(s))
	p.Text = append(p.Text, s...)
}

func (p *packing) nodes(ids []synod.NodeID) {
	p.number(len(ids))
	for _, id := range ids {
		p.number(int(id))
	}
}

func (p *packing) word(v float64) {
	p.Words = binary.LittleEndian.AppendUint64(p.Words, math.Float64bits(v))
}

// head begins the journal. It packs nothing: the reader knows the head.
func (p *packing) head(h *Head) { p.bad = h.Seat != nil || len(h.Unanswered) > 0 || len(h.Known) > 0 }

// packable reports whether nothing is lost of a reply.
func packable(r *synod.Reply) bool {
	return r.Text == "" && r.Detail == "" && r.Usage == (synod.Usage{}) && r.Charged == (synod.Usage{}) &&
		r.Logprob == nil && !r.Reused && r.Took == 0 && !r.Late && !r.Needless
}

func (p *packing) reply(node synod.NodeID, id synod.ConsultID, r *synod.Reply) {
	if p.bad {
		return
	}
	if !packable(r) || node < 0 || node >= maxSeats ||
		int(node) < len(p.next) && id < p.next[node] { // it may replace an earlier reply
		p.bad = true
		return
	}
	for int(node) >= len(p.next) {
		p.next = append(p.next, 0)
	}
	since := id - p.next[node]
	p.next[node] = id + 1
	p.number(packedReply)
	p.number(int(node))
	p.number(int(since))
	p.text(string(r.Status))
	p.number(r.Calls)
	p.text(string(r.Answer))
	has := 0
	if r.Typed {
		has |= replyTyped
	}
	if r.Value != 0 {
		has |= replyValue
		p.word(r.Value)
	}
	if r.Confidence != nil {
		has |= replyConfidence
		p.word(*r.Confidence)
	}
	if r.Fault != "" || r.Model != "" {
		has |= replyOther
	}
	if p.number(has); has&replyOther != 0 {
		p.text(r.Fault)
		p.text(r.Model)
	}
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
		p.word(*o.Confidence)
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

// opened packs what a node opened.
func (p *packing) opened(node synod.NodeID, first []synod.Given) {
	if p.bad {
		return
	}
	p.number(packedOpened)
	p.number(int(node))
	p.number(len(first))
	for _, g := range first {
		p.number(int(g.Of))
		p.text(string(g.Answer))
	}
}

// end packs the end. The journal is complete then.
func (p *packing) end(e *End) {
	p.number(packedEnd)
	p.text(e.Stopped)
	digest, err := hex.DecodeString(e.Digest)
	p.bad = p.bad || err != nil || len(digest) != digestSize
	p.Text = append(p.Text, digest...)
	p.number(int(e.Ticks))
}

const digestSize = 32

// packed returns the packed form; nil if there is none.
func (p *packing) packed() *Packed {
	if p == nil || p.bad {
		return nil
	}
	return &p.Packed
}

// Pack returns the packed form of a finished run of members that cost nothing; nil if there is none.
func Pack(run *Run) *Packed {
	p := &packing{}
	p.head(&run.Head)
	p.bad = p.bad || run.End == nil || len(run.Unanswered)+len(run.Reports) > 0
	for _, r := range run.Replies.List() {
		p.reply(r.Node, r.ID, &r.Reply)
	}
	for _, n := range run.Opinions() {
		p.note(n.Tick, n.Node, &n.Opinion)
	}
	for _, o := range run.Opened() {
		p.opened(o.Node, o.First)
	}
	if !p.bad {
		p.end(run.End)
	}
	return p.packed()
}

var errPacked = errors.New("it is not a packed journal")

// unpacking reads a packed journal. After the first part that is missing or out of its bounds
// every call returns a zero value.
type unpacking struct {
	b, words []byte
	next     [maxSeatsPacked]synod.ConsultID
	more     map[synod.NodeID]synod.ConsultID // next of the other seats
	bad      bool
}

// maxSeatsPacked is how many seats most councils have at most.
const maxSeatsPacked = 64

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

func (u *unpacking) word() float64 {
	if u.bad || len(u.words) < 8 {
		u.bad = true
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(u.words))
	u.words = u.words[8:]
	return v
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

// Summary returns what a report needs of the journal, with the head that the caller knows. The replies
// are complete.
func (p *Packed) Summary(head Head) (*Summary, error) {
	u := unpacking{b: p.Text, words: p.Words}
	s := &Summary{Head: head, Replies: make([]Replied, 0, usualReplies), Noted: make([]Noted, 0, usualNotes)}
	s.Head.Kind, s.Head.Version = "head", Version
	for !u.bad && s.End == nil {
		switch u.number() {
		case packedReply:
			s.Replies = append(s.Replies, Replied{})
			u.reply(&s.Replies[len(s.Replies)-1])
		case packedNote:
			s.Noted = append(s.Noted, u.note())
		case packedOpened:
			s.Opened = append(s.Opened, u.opened())
		case packedEnd:
			s.End = &End{Kind: "end", Stopped: u.text(), Digest: hex.EncodeToString(u.fixed(digestSize)),
				Ticks: synod.Tick(u.number())}
		default:
			u.bad = true
		}
	}
	if u.bad || len(u.b) > 0 || len(u.words) > 0 {
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

func (u *unpacking) reply(r *Replied) {
	r.Node = synod.NodeID(u.number())
	r.ID = u.call(r.Node, synod.ConsultID(u.number()))
	r.Status, r.Calls = status(u.fixed(u.number())), u.number()
	r.Answer = synod.Answer(u.text())
	has := u.number()
	r.Typed = has&replyTyped != 0
	if has&replyValue != 0 {
		r.Value = u.word()
	}
	if has&replyConfidence != 0 {
		c := u.word()
		r.Confidence = &c
	}
	if has&replyOther != 0 {
		r.Fault, r.Model = u.text(), u.text()
	}
}

// call returns the number of a seat's call that comes so many calls after its last one with a reply.
func (u *unpacking) call(node synod.NodeID, since synod.ConsultID) (id synod.ConsultID) {
	if node >= 0 && node < maxSeatsPacked {
		id = u.next[node] + since
		u.next[node] = id + 1
		return id
	}
	if u.more == nil {
		u.more = map[synod.NodeID]synod.ConsultID{}
	}
	id = u.more[node] + since
	u.more[node] = id + 1
	return id
}

func (u *unpacking) opened() (o Opened) {
	o.Node = synod.NodeID(u.number())
	for n := u.number(); n > 0 && !u.bad; n-- {
		o.First = append(o.First, synod.Given{Of: synod.NodeID(u.number()), Answer: synod.Answer(u.text())})
	}
	return o
}

func (u *unpacking) note() (n Noted) {
	n.Tick, n.Node = synod.Tick(u.number()), synod.NodeID(u.number())
	n.Round, n.Answer = u.number(), synod.Answer(u.text())
	n.Retained, n.Dropped, n.Silent = u.nodes(), u.nodes(), u.nodes()
	n.Failed, n.Unreadable, n.Reused = u.number(), u.number(), u.number()
	if u.number() != 0 {
		c := u.word()
		n.Confidence = &c
	}
	if record := u.fixed(u.number()); len(record) > 0 {
		n.Record = synod.RawRecord(bytes.Clone(record))
	}
	return n
}
