package script

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"synod.dev/synod"
)

// Agent is a member as its protocol text sees it: its seat, the tick, its own
// model, its peers. It is valid only inside the Play it was given to.
type Agent struct {
	seat    synod.Seat
	opt     Options
	now     synod.Tick
	effects []synod.Effect
	pause   func() // gives the step back; returns when waits is over
	waits   pending

	// Asking.
	consults synod.ConsultID // the next id
	first    synod.ConsultID // of the batch that is waited for
	nonces   uint64          // seed of the prompts' nonces; 0: not derived yet
	batch    []asked         // with nil for replies that have not come
	missing  int
	memory   []asked
	reused   int
	prompts  []synod.Prompt // room for copies of what is asked
	from     []int          // scratch of Ask
	replies  []*synod.Reply // what the last Ask returned

	// Hearing.
	inbox   []*synod.Message
	closed  []synod.Slot // slots already collected: words for them come too late
	missed  []*synod.Message
	waiting []int // words in inbox, by peer
	alarms  int64 // the next id
	expired int64 // the last id that has expired
}

// asked is a prompt that has been put to the model, and what came back.
type asked struct {
	prompt *synod.Prompt
	reply  *synod.Reply
}

// Seat is what the member may know.
func (me *Agent) Seat() synod.Seat { return me.seat }

// Now is the tick of the step that the text is running in.
func (me *Agent) Now() synod.Tick { return me.now }

// Note puts what the member holds on record, together with how many of its asks
// since the last note were answered from memory.
func (me *Agent) Note(o synod.Opinion) {
	o.Reused, me.reused = me.reused, 0
	me.effects = append(me.effects, synod.Note{Opinion: &o})
}

// Ask puts all prompts to the member's own model at once and waits for every
// reply. Replies stand in the order of the prompts, whatever their status; the
// slice is valid until the next Ask. What is asked is copied, the list of peers
// included, so that the text can use its prompts again.
func (me *Agent) Ask(prompts ...synod.Prompt) []*synod.Reply {
	room := max(len(prompts), len(me.seat.Peers)+1) // sooner or later it is about all peers
	me.first, me.batch = me.consults, slices.Grow(me.batch[:0], room)
	me.replies, me.from = slices.Grow(me.replies[:0], room), slices.Grow(me.from[:0], room)
	me.effects = slices.Grow(me.effects, len(prompts))
	for i := range prompts {
		known, from := me.recall(&prompts[i])
		switch {
		case known != nil || from >= 0:
			me.reused++
		default:
			from = len(me.batch)
			me.consult(&prompts[i], len(prompts)-i)
		}
		me.replies, me.from = append(me.replies, known), append(me.from, from)
	}
	me.missing = len(me.batch)
	me.wait(pending{replies: true})
	for i, from := range me.from {
		if from >= 0 {
			me.replies[i] = me.batch[from].reply
		}
	}
	if me.opt.Remember {
		me.remember()
	}
	return me.replies
}

// consult asks a copy of q, which is the first of so many that may be asked now.
func (me *Agent) consult(q *synod.Prompt, many int) {
	if len(me.prompts) == cap(me.prompts) {
		me.prompts = make([]synod.Prompt, 0, many)
	}
	me.prompts = append(me.prompts, *q)
	p := &me.prompts[len(me.prompts)-1]
	p.Peers = slices.Clone(p.Peers)
	if !me.opt.OneSeed {
		p.Seed = Derive(me.seat.Seed, uint64(me.consults))
	}
	if me.nonces == 0 {
		me.nonces = nonceSeed(me.seat.Seed)
	}
	p.Nonce = Derive(me.nonces, uint64(me.consults))
	me.batch = append(me.batch, asked{prompt: p})
	me.effects = append(me.effects, synod.Consult{ID: me.consults, Prompt: p})
	me.consults++
}

// recall finds the reply that is remembered to a prompt, or else the consult of
// this batch that asks the same, -1 if none does.
func (me *Agent) recall(p *synod.Prompt) (known *synod.Reply, from int) {
	if !me.opt.Remember {
		return nil, -1
	}
	for _, a := range me.memory {
		if a.prompt.Same(p) {
			return a.reply, -1
		}
	}
	return nil, slices.IndexFunc(me.batch, func(a asked) bool { return a.prompt.Same(p) })
}

// remember keeps what was answered. What failed may be asked again.
func (me *Agent) remember() {
	me.memory = slices.Grow(me.memory, cap(me.batch))
	for _, a := range me.batch {
		if a.reply.Status == synod.OK {
			me.memory = append(me.memory, a)
		}
	}
}

// Forget drops a reply from memory, so that the same prompt is asked again: what
// could not be read need not come back the same.
func (me *Agent) Forget(r *synod.Reply) {
	me.memory = slices.DeleteFunc(me.memory, func(a asked) bool { return a.reply == r })
}

func (me *Agent) answered(e synod.Answered) {
	i := int64(e.ID) - int64(me.first)
	if i < 0 || i >= int64(len(me.batch)) || me.batch[i].reply != nil {
		return // an answer to nothing that is waited for: a late or double reply
	}
	me.batch[i].reply = e.Reply
	me.missing--
}

// pending is what the text waits for: all replies of a batch, or the end of a
// slot's round. The zero value is nothing.
type pending struct {
	replies bool
	alarm   int64 // the round's end; 0: none
	early   bool  // or when all peers have spoken for slot
	slot    synod.Slot
}

func (me *Agent) wait(p pending) {
	me.waits = p
	if !me.ready() {
		me.pause()
	}
	me.waits = pending{}
}

// ready reports whether the text can go on. Before its first wait it can.
func (me *Agent) ready() bool {
	w := &me.waits
	switch {
	case w.replies:
		return me.missing == 0
	case w.alarm > 0:
		return me.expired >= w.alarm || w.early && me.spoken(w.slot) == len(me.seat.Peers)
	}
	return true
}

// nonceSeed returns the seed of a seat's prompt nonces. It hashes the seat's seed, so that nonces cannot be
// computed from the seeds of calls, which providers and journals see. It is never 0.
func nonceSeed(seed uint64) uint64 {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("synod prompt nonces 1"), seed))
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}

// Derive mixes a stream number into a seed (SplitMix64). Seeds derived from one
// seed by different numbers are independent for all our purposes, and none is 0,
// which means "no seed".
func Derive(seed, stream uint64) uint64 {
	z := seed + (stream+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return max(z^z>>31, 1)
}
