package reference

import (
	"slices"

	"synod.dev/synod"
)

// Act is one step of the text of a protocol: a wait for the messages of a slot, or calls of a model.
type Act struct {
	Slot   synod.Slot
	At     synod.Tick // when the round ends
	Early  bool       // it also ends when all that are awaited have sent but so many
	AllBut int
	Of     []synod.NodeID // whom it waits for; nil: all neighbours
	Ask    []string       // what a model is asked; nil: the step is a wait
	Forget bool           // the first reply is forgotten, so that its call is repeated where it is asked again
}

// Result is what a step came to: the messages that count, or the replies.
type Result struct {
	Heard   []synod.Message
	Replies []string
}

// Agent plays steps on events, by the text of docs/extend/architecture.md and of package script: the first message of a
// neighbour for a slot counts if it comes before its round is over; the first reply to a call counts; a call that
// succeeded is not repeated where replies are remembered. It keeps everything that it heard and looks through it anew.
type Agent struct {
	Seat     synod.Seat
	Remember bool
	Acts     []Act
	Results  []Result // of the steps that are over
	Late     []synod.Message

	now     synod.Tick
	begun   bool // the current step has begun
	alarms  int  // alarms, one for each wait
	fired   int  // the last one that has fired
	over    bool // the current round ended as it began
	heard   []synod.Message
	calls   []asked
	current []int // by prompt of the current step: its call
}

type asked struct {
	what     string
	reply    string
	answered bool
	ok       bool
	batch    int // the step that asked
}

// Heard delivers a message.
func (a *Agent) Heard(now synod.Tick, m synod.Message) {
	if slices.Contains(a.Seat.Neighbours(m.Slot.Round), m.From) && len(a.Results) < len(a.Acts) {
		switch waiting := a.waiting(m.From); {
		case a.closed(m.Slot):
			a.Late = append(a.Late, m)
		case !slices.Contains(waiting, m.Slot) && len(waiting) < MostPending:
			a.heard = append(a.heard, m)
		}
	}
	a.Go(now)
}

// MostPending is how many messages of one neighbour wait at most, and how many late ones of it are kept.
const MostPending = 64

// waiting returns the slots that are not over and that a neighbour has sent to.
func (a *Agent) waiting(from synod.NodeID) (slots []synod.Slot) {
	for _, m := range a.heard {
		if m.From == from && !a.closed(m.Slot) {
			slots = append(slots, m.Slot)
		}
	}
	return slots
}

// closed reports whether the round of a slot is over.
func (a *Agent) closed(s synod.Slot) bool {
	return slices.ContainsFunc(a.Acts[:len(a.Results)], func(act Act) bool { return act.Ask == nil && act.Slot == s })
}

// Fired says that an alarm has gone off, by its number from 1.
func (a *Agent) Fired(now synod.Tick, alarm int) {
	a.fired = max(a.fired, alarm)
	a.Go(now)
}

// Replied delivers a reply to a call, by its number from 0.
func (a *Agent) Replied(now synod.Tick, call int, text string, ok bool) {
	if call >= 0 && call < len(a.calls) && !a.calls[call].answered && a.calls[call].batch == len(a.Results) {
		c := &a.calls[call]
		c.reply, c.answered, c.ok = text, true, ok
	}
	a.Go(now)
}

// Go plays all steps that can be over.
func (a *Agent) Go(now synod.Tick) {
	for a.now = now; len(a.Results) < len(a.Acts); a.begun = false {
		act := &a.Acts[len(a.Results)]
		if !a.begun {
			a.begin(act)
		}
		if act.Ask != nil && !a.replied() || act.Ask == nil && !a.ended(act) {
			return
		}
		a.Results = append(a.Results, a.result(act))
		if act.Forget {
			a.calls[a.current[0]].ok = false
		}
	}
}

func (a *Agent) begin(act *Act) {
	a.begun = true
	if act.Ask == nil {
		a.alarms++
		a.over = act.At <= a.now
		return
	}
	a.current = nil
	for _, what := range act.Ask {
		at := slices.IndexFunc(a.calls, func(c asked) bool {
			return a.Remember && c.what == what && c.known(len(a.Results))
		})
		if at < 0 {
			at = len(a.calls)
			a.calls = append(a.calls, asked{what: what, batch: len(a.Results)})
		}
		a.current = append(a.current, at)
	}
}

// known reports whether a call need not be repeated: it is of this step, or it succeeded.
func (c *asked) known(step int) bool { return c.batch == step || c.answered && c.ok }

func (a *Agent) replied() bool {
	return !slices.ContainsFunc(a.current, func(at int) bool { return !a.calls[at].answered })
}

// ended reports whether the round of a wait is over.
func (a *Agent) ended(act *Act) bool {
	awaited, came := 0, 0
	for _, id := range a.Seat.Neighbours(act.Slot.Round) {
		if act.Of != nil && !slices.Contains(act.Of, id) {
			continue
		}
		awaited++
		if slices.ContainsFunc(a.heard, func(m synod.Message) bool { return m.From == id && m.Slot == act.Slot }) {
			came++
		}
	}
	return a.over || a.fired >= a.alarms || act.Early && came >= awaited-act.AllBut
}

func (a *Agent) result(act *Act) (r Result) {
	for _, at := range a.current {
		if act.Ask != nil {
			r.Replies = append(r.Replies, a.calls[at].reply)
		}
	}
	if act.Ask != nil {
		return r
	}
	for _, id := range a.Seat.Peers {
		at := slices.IndexFunc(a.heard, func(m synod.Message) bool { return m.From == id && m.Slot == act.Slot })
		if at >= 0 {
			r.Heard = append(r.Heard, a.heard[at])
		}
	}
	return r
}

// Calls is how often a model was called.
func (a *Agent) Calls() int { return len(a.calls) }
