package script

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"synod.dev/synod"
)

// Agent is the member as its protocol function sees it: its seat, the current tick, its
// own model and its neighbours. It is valid only inside the Play that received it.
type Agent struct {
	seat    synod.Seat
	opt     Options
	now     synod.Tick
	effects []synod.Effect
	pause   func() // returns from Step; the call returns when the wait is over
	waits   condition

	// Asking.
	consults synod.ConsultID // the next id
	first    synod.ConsultID // of the current batch
	nonces   uint64          // seed of the prompts' nonces
	batch    []asked         // the current batch; replies that have not come are nil
	missing  int             // replies of the batch that have not come
	memory   []asked         // for Options.Remember
	reused   int             // prompts answered from memory since the last note
	prompts  []synod.Prompt  // storage for copies of prompts
	rated    []synod.Rated   // storage for their peers
	asks     []synod.Effect  // the first calls, by id: a machine that is reset uses their prompts again
	from     []int           // buffer of Ask
	replies  []*synod.Reply  // what the last Ask returned

	// Receiving.
	inbox   []*synod.Message // for slots that have not been collected
	counts  []int            // messages in inbox, by neighbour
	arrived int              // messages in inbox for the slot that is waited for
	closed  []synod.Slot     // slots that have been collected: later messages for them are late
	late    []*synod.Message
	alarms  int64 // the last id
	expired int64 // the last id that has expired

	sends   int            // messages sent
	sent    []synod.Effect // the first messages: a machine that is reset uses them again
	set     []synod.Effect // the first alarms, by id, likewise
	scratch []any          // see Scratch
}

// maxKept is how many calls, messages and alarms of a kind a machine keeps for its next
// run. A long run must not hold all of them in memory.
const maxKept = 64

// reset prepares the agent for another run. It keeps buffers.
func (me *Agent) reset(seat synod.Seat) {
	clear(me.memory)
	clear(me.batch)
	clear(me.replies)
	clear(me.inbox)
	clear(me.counts)
	counts := me.counts
	if len(counts) != len(seat.Peers) {
		counts = nil
	}
	*me = Agent{
		seat: seat, opt: me.opt, effects: me.effects[:0],
		batch: me.batch[:0], memory: me.memory[:0], prompts: me.prompts, rated: me.rated[:0], asks: me.asks,
		from: me.from[:0], replies: me.replies[:0],
		inbox: me.inbox[:0], counts: counts, closed: me.closed[:0],
		sent: me.sent, set: me.set, scratch: me.scratch,
	}
}

// Scratch returns the agent's T, the same in every call and also after the machine was
// reset. It is for the buffers of a protocol function: what it holds of an earlier run
// must have no influence on the next one.
func Scratch[T any](me *Agent) *T {
	for _, s := range me.scratch {
		if t, ok := s.(*T); ok {
			return t
		}
	}
	t := new(T)
	me.scratch = append(me.scratch, t)
	return t
}

// asked is a prompt that was put to the model, and the reply.
type asked struct {
	prompt *synod.Prompt
	reply  *synod.Reply
}

// Seat returns what the member may know.
func (me *Agent) Seat() synod.Seat { return me.seat }

// Now returns the current tick.
func (me *Agent) Now() synod.Tick { return me.now }

// Note records what the member holds, and how many of its prompts since the last note
// were answered from memory.
func (me *Agent) Note(o synod.Opinion) {
	o.Reused, me.reused = me.reused, 0
	me.effects = append(me.effects, synod.Note{Opinion: &o})
}

// Ask puts all prompts to the member's own model at once and waits for all replies. It
// returns them in the order of the prompts, whatever their status; the slice is valid
// until the next Ask. Prompts are copied with their lists of peers, so the caller may
// change them afterwards.
func (me *Agent) Ask(prompts ...synod.Prompt) []*synod.Reply {
	size := max(len(prompts), len(me.seat.Peers)+1) // most protocols ask about all neighbours at some point
	me.first, me.batch = me.consults, slices.Grow(me.batch[:0], min(size, 4+len(prompts)))
	me.replies, me.from = slices.Grow(me.replies[:0], size), slices.Grow(me.from[:0], size)
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
	me.wait(condition{replies: true})
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

// consult asks a copy of q. At most so many prompts of this batch are left, q included.
func (me *Agent) consult(q *synod.Prompt, left int) {
	id := me.consults
	me.consults++
	k := min(int(id), maxKept)
	if k == len(me.asks) || k == maxKept {
		me.asks = append(me.asks[:k], synod.Consult{ID: id, Prompt: me.prompt(left)})
	}
	p := me.asks[k].(synod.Consult).Prompt
	*p = *q
	p.Peers = me.copyPeers(q.Peers)
	if !me.opt.OneSeed {
		p.Seed = Derive(me.seat.Seed, uint64(id))
	}
	p.Nonce = Derive(me.nonces, uint64(id))
	me.batch = append(me.batch, asked{prompt: p})
	me.effects = append(me.effects, me.asks[k])
}

// prompt returns storage for a prompt of a batch of which so many are left.
func (me *Agent) prompt(left int) *synod.Prompt {
	if len(me.prompts) == cap(me.prompts) {
		if me.opt.Remember {
			left = min(left, 4) // neighbours often hold the same answer, and most prompts are answered from memory
		}
		me.prompts = make([]synod.Prompt, 0, left)
	}
	me.prompts = me.prompts[:len(me.prompts)+1]
	return &me.prompts[len(me.prompts)-1]
}

// copyPeers returns a copy that shares its storage with the copies of other prompts.
func (me *Agent) copyPeers(peers []synod.Rated) []synod.Rated {
	if len(peers) == 0 {
		return nil
	}
	from := len(me.rated)
	if from+len(peers) > cap(me.rated) {
		me.rated, from = make([]synod.Rated, 0, max(len(peers), min(2*cap(me.rated), maxKept))), 0
	}
	me.rated = append(me.rated, peers...)
	return me.rated[from:len(me.rated):len(me.rated)]
}

// recall returns the remembered reply to a prompt, or else the index of the same prompt
// in this batch, -1 if there is none.
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

// remember keeps the replies of the batch, except those that failed: they may be asked
// for again.
func (me *Agent) remember() {
	for _, a := range me.batch {
		if a.reply.Status == synod.OK {
			me.memory = append(me.memory, a)
		}
	}
}

// Forget removes a reply from memory, so that the same prompt is asked again. It is for
// replies that could not be read.
func (me *Agent) Forget(r *synod.Reply) {
	me.memory = slices.DeleteFunc(me.memory, func(a asked) bool { return a.reply == r })
}

func (me *Agent) answered(e synod.Answered) {
	i := int64(e.ID) - int64(me.first)
	if i < 0 || i >= int64(len(me.batch)) || me.batch[i].reply != nil {
		return // a late or second reply
	}
	me.batch[i].reply = e.Reply
	me.missing--
}

// condition is what the protocol function waits for: all replies of a batch, or the end
// of a slot's round. The zero value holds at once.
type condition struct {
	replies bool
	alarm   int64 // the id of the alarm that ends the round; 0: none
	early   bool  // the round also ends when all neighbours have sent for slot
	slot    synod.Slot
}

func (me *Agent) wait(c condition) {
	me.waits = c
	if c.early {
		me.arrived = me.received(c.slot)
	}
	if !me.ready() {
		me.pause()
	}
	me.waits = condition{}
}

// ready reports whether the protocol function can go on.
func (me *Agent) ready() bool {
	w := &me.waits
	switch {
	case w.replies:
		return me.missing == 0
	case w.alarm > 0:
		return me.expired >= w.alarm || w.early && me.arrived == len(me.seat.Peers)
	}
	return true
}

// nonceSeed returns the seed of a seat's prompt nonces. It hashes the seat's seed, so
// that nonces cannot be computed from the seeds of calls, which providers and journals
// see. It is never 0.
func nonceSeed(seed uint64) uint64 {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("synod prompt nonces 1"), seed))
	return max(binary.BigEndian.Uint64(sum[:]), 1)
}

// Derive returns the seed of a numbered stream (SplitMix64). Streams of one seed are
// statistically independent. The result is never 0, which means "no seed". Derive can be
// inverted: it must not separate secrets, for which package sign is.
func Derive(seed, stream uint64) uint64 {
	z := seed + (stream+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return max(z^z>>31, 1)
}
