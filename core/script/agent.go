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
	pause   func() // returns from Step; the call returns when the wait is over
	effects []synod.Effect
	waits   condition
	state

	// Asking.
	calls   []call         // of this batch or, with Options.Remember, of this run
	from    []int          // by prompt of the batch: the call whose reply it gets
	replies []*synod.Reply // buffer of Replies
	prompts []synod.Prompt // storage for copies of prompts
	rated   []synod.Rated  // storage for their peers
	asks    []synod.Effect // the first calls, by id: a machine that is reset uses their prompts again

	// Receiving.
	row       []*synod.Message // by neighbour: for slot
	inbox     []*synod.Message // for other slots that have not been collected
	collected []*synod.Message // buffer of Messages
	counts    []int            // messages in inbox, by neighbour
	closed    []synod.Slot     // slots that have been collected: later messages for them are late
	late      []*synod.Message

	sent    []synod.Effect // the first messages: a machine that is reset uses them again
	set     []synod.Effect // the first alarms, by id, likewise
	scratch []any          // see Scratch
	types   []typed        // of the messages sent, by the name of their slots
}

// state is the numbers of a run.
type state struct {
	now      synod.Tick
	nonces   uint64          // seed of the prompts' nonces
	consults synod.ConsultID // the next id
	first    synod.ConsultID // of calls
	batch    int             // the first of calls that is of this batch
	missing  int             // replies of the batch that have not come
	taken    bool            // the replies of the batch were taken: the next prompt begins another one
	reused   int             // prompts answered from memory since the last note
	slot     synod.Slot      // whose round was begun last
	open     bool            // slot has not been collected
	arrived  int             // messages in row, of those that are awaited
	awaited  []synod.NodeID  // whose messages the open round waits for; nil: all neighbours'
	alarms   int64           // the last id
	expired  int64           // the last id that has expired
	sends    int             // messages sent
}

// call is a prompt that was put to the model.
type call struct {
	prompt    *synod.Prompt
	candidate synod.Answer // of the prompt, which is somewhere else in memory
	reply     *synod.Reply // nil: it has not come
	gone      bool         // the reply is not remembered
}

// maxKept is how many calls, messages and alarms of a kind a machine keeps for its next
// run. A long run must not hold all of them in memory.
const maxKept = 64

// reset prepares the agent for another run. It keeps buffers, and does not clear those that
// are overwritten.
func (me *Agent) reset(seat synod.Seat) {
	if len(me.counts) != len(seat.Peers) {
		me.counts, me.row = nil, nil
	}
	clear(me.counts)
	clear(me.row)
	me.seat, me.state, me.waits = seat, state{}, condition{}
	me.effects, me.calls, me.from, me.rated = me.effects[:0], me.calls[:0], me.from[:0], me.rated[:0]
	me.inbox, me.closed, me.late = me.inbox[:0], me.closed[:0], me.late[:0]
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

// Seat returns what the member may know.
func (me *Agent) Seat() *synod.Seat { return &me.seat }

// Now returns the current tick.
func (me *Agent) Now() synod.Tick { return me.now }

// Note records what the member holds, and how many of its prompts since the last note
// were answered from memory.
func (me *Agent) Note(o synod.Opinion) { me.Noted(&o) }

// Noted is Note for an opinion that the caller does not use any more, so it is not copied.
func (me *Agent) Noted(o *synod.Opinion) {
	o.Reused, me.reused = me.reused, 0
	me.effects = append(me.effects, synod.Note{Opinion: o})
}

// Ask puts all prompts to the member's own model at once and waits for all replies. It
// returns them in the order of the prompts, whatever their status; the slice is valid
// until the next Ask. Prompts are copied with their lists of peers, so the caller may
// change them afterwards.
func (me *Agent) Ask(prompts ...synod.Prompt) []*synod.Reply {
	me.openBatch()
	for i := range prompts {
		me.Put(&prompts[i])
	}
	me.Wait()
	return me.Replies()
}

// Put puts one more prompt to the member's own model. Wait waits for the replies to all
// prompts that were put since replies were last taken. The prompt is copied with its list of
// peers.
func (me *Agent) Put(q *synod.Prompt) {
	if me.taken {
		me.openBatch()
	}
	at := me.recall(q)
	if at < 0 {
		at = len(me.calls)
		me.consult(q)
	} else {
		me.reused++
	}
	me.from = append(me.from, at)
	me.waits.what = forReplies
}

// Replies returns the replies to the prompts that were put, in their order and whatever
// their status. The slice is valid until the next Put.
func (me *Agent) Replies() []*synod.Reply {
	me.replies = slices.Grow(me.replies[:0], len(me.from))
	for i := range me.from {
		me.replies = append(me.replies, me.Reply(i))
	}
	return me.replies
}

// Reply returns the reply to the prompt that was put as number i, from 0.
func (me *Agent) Reply(i int) *synod.Reply {
	if !me.taken {
		me.taken = true
		for k := me.batch; k < len(me.calls); k++ { // a failed call may be repeated
			me.calls[k].gone = me.calls[k].reply.Status != synod.OK
		}
	}
	return me.calls[me.from[i]].reply
}

// openBatch begins a batch of prompts.
func (me *Agent) openBatch() {
	me.taken, me.missing, me.from = false, 0, me.from[:0]
	if !me.opt.Remember {
		me.calls, me.first = me.calls[:0], me.consults
	}
	me.batch = len(me.calls)
}

// Draft returns the storage of the next prompt, to be set completely and put. It holds an earlier
// prompt, and is valid until the next call of Draft or Put. It saves the time to copy a prompt.
func (me *Agent) Draft() *synod.Prompt {
	k := min(int(me.consults), maxKept)
	if k == len(me.asks) || k == maxKept {
		me.asks = append(me.asks[:k], synod.Consult{ID: me.consults, Prompt: me.prompt()})
	}
	return me.asks[k].(synod.Consult).Prompt
}

// consult asks q, or a copy of it if q is not the last draft.
func (me *Agent) consult(q *synod.Prompt) {
	k, id := min(int(me.consults), maxKept), me.consults
	if k == len(me.asks) || me.asks[k].(synod.Consult).Prompt != q {
		*me.Draft() = *q
	}
	p := me.asks[k].(synod.Consult).Prompt
	me.consults++
	p.Peers = me.copyPeers(q.Peers)
	if !me.opt.OneSeed {
		p.Seed = Derive(me.seat.Seed, uint64(id))
	}
	p.Nonce = Derive(me.nonces, uint64(id))
	p.Unfenced, p.Raw = me.seat.Guards.NoFence, me.seat.Guards.KeepTokens
	me.missing++
	me.calls = append(me.calls, call{prompt: p, candidate: p.Candidate})
	me.effects = append(me.effects, me.asks[k])
}

// prompt returns storage for a prompt. Most protocols ask about all neighbours at some
// point; where replies are remembered, few of these prompts are new.
func (me *Agent) prompt() *synod.Prompt {
	if len(me.prompts) == cap(me.prompts) {
		size := min(len(me.seat.Peers)+1, maxKept)
		if me.opt.Remember {
			size = min(size, 4)
		}
		me.prompts = make([]synod.Prompt, 0, size)
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

// recall returns the call that has or will get the reply to a prompt, -1 if there is none.
func (me *Agent) recall(q *synod.Prompt) int {
	if !me.opt.Remember {
		return -1
	}
	for i := len(me.calls) - 1; i >= 0; i-- { // members mostly repeat what they asked last
		if c := &me.calls[i]; c.candidate == q.Candidate && !c.gone && c.prompt.Same(q) {
			return i
		}
	}
	return -1
}

// Forget removes a reply from memory, so that the same prompt is asked again. It is for
// replies that could not be read.
func (me *Agent) Forget(r *synod.Reply) {
	for i := range me.calls {
		if me.calls[i].reply == r {
			me.calls[i].gone = true
		}
	}
}

func (me *Agent) answered(e synod.Answered) {
	i := int64(e.ID) - int64(me.first)
	if i < int64(me.batch) || i >= int64(len(me.calls)) || me.calls[i].reply != nil {
		return // a late or second reply
	}
	me.calls[i].reply = e.Reply
	me.missing--
}

// condition is what the protocol waits for.
type condition struct {
	what  awaited
	alarm int64 // with forRound: the id of the alarm that ends the round
	early bool  // with forRound: the round also ends when enough neighbours have sent
	need  int   // with early: how many are enough
}

type awaited int

const (
	nothing    awaited = iota
	forReplies         // to all prompts of the batch
	forRound           // the end of a slot's round
)

// Wait waits for the replies to the prompts that were put, or for the end of the round that
// Expect began.
func (me *Agent) Wait() {
	if !me.ready() {
		me.pause()
	}
	me.waits.what = nothing
}

// ready reports whether the protocol function can go on.
func (me *Agent) ready() bool {
	w := &me.waits
	switch w.what {
	case forReplies:
		return me.missing == 0
	case forRound:
		return me.expired >= w.alarm || w.early && me.arrived >= w.need
	}
	return true
}

// nonceSeed returns the seed of a seat's prompt nonces. It hashes the seat's seed, so
// that nonces cannot be computed from the seeds of calls, which providers and journals
// see. It is never 0.
func nonceSeed(seed uint64) uint64 {
	var buf [64]byte
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(append(buf[:0], "synod prompt nonces 1"...), seed))
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
