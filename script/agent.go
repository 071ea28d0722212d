package script

import (
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
	pause   func()      // gives the step back; returns when waits holds
	waits   func() bool // what the text waits for; nil: nothing

	// Asking.
	consults synod.ConsultID // the next id
	first    synod.ConsultID // of the batch that is waited for
	replies  []*synod.Reply
	missing  int
	memory   []recalled
	reused   int

	// Hearing.
	inbox   []*synod.Message
	closed  []synod.Slot // slots already collected: words for them come too late
	pending []int        // words in inbox, by peer
	alarms  int64        // the next id
	expired int64        // the last id that has expired
}

type recalled struct {
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
// reply. Replies stand in the order of the prompts, whatever their status. The
// prompts belong to the run from then on and must not be changed.
func (me *Agent) Ask(prompts ...synod.Prompt) []*synod.Reply {
	out := make([]*synod.Reply, len(prompts))
	from := make([]int, len(prompts)) // consult of this batch that answers prompt i
	asked := make([]*synod.Prompt, 0, len(prompts))
	for i := range prompts {
		if me.opt.Remember {
			if out[i] = me.recall(&prompts[i]); out[i] != nil {
				me.reused++
				continue
			}
			if from[i] = slices.IndexFunc(asked, prompts[i].Same); from[i] >= 0 {
				me.reused++
				continue
			}
		}
		from[i] = len(asked)
		asked = append(asked, &prompts[i])
	}
	if len(asked) > 0 {
		me.consult(asked)
	}
	for i := range prompts {
		if out[i] == nil {
			out[i] = me.replies[from[i]]
		}
	}
	for k, p := range asked {
		if r := me.replies[k]; me.opt.Remember && r.Status == synod.OK {
			me.memory = append(me.memory, recalled{p, r})
		}
	}
	return out
}

func (me *Agent) consult(asked []*synod.Prompt) {
	me.first = me.consults
	me.missing = len(asked)
	me.replies = make([]*synod.Reply, len(asked))
	for _, p := range asked {
		if !me.opt.OneSeed {
			p.Seed = Derive(me.seat.Seed, uint64(me.consults))
		}
		me.effects = append(me.effects, synod.Consult{ID: me.consults, Prompt: p})
		me.consults++
	}
	me.wait(func() bool { return me.missing == 0 })
}

func (me *Agent) recall(p *synod.Prompt) *synod.Reply {
	for i := range me.memory {
		if me.memory[i].prompt.Same(p) {
			return me.memory[i].reply
		}
	}
	return nil
}

func (me *Agent) answered(e synod.Answered) {
	i := int64(e.ID) - int64(me.first)
	if i < 0 || i >= int64(len(me.replies)) || me.replies[i] != nil {
		return // an answer to nothing that is waited for: a late or double reply
	}
	me.replies[i] = e.Reply
	me.missing--
}

func (me *Agent) wait(until func() bool) {
	if until() {
		return
	}
	me.waits = until
	me.pause()
	me.waits = nil
}

// ready reports whether the text can go on. Before its first wait it can.
func (me *Agent) ready() bool { return me.waits == nil || me.waits() }

// Derive mixes a stream number into a seed (SplitMix64). Seeds derived from one
// seed by different numbers are independent for all our purposes, and none is 0,
// which means "no seed".
func Derive(seed, stream uint64) uint64 {
	z := seed + (stream+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return max(z^z>>31, 1)
}
