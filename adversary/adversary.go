// Package adversary holds liars: wrappers that corrupt an honest machine, one
// file each. A protocol knows of none of them.
//
// A liar is the honest machine with something wrong about it. One that lies with
// its model answers the machine's consults itself (mouth) or forges its model's
// replies (forgery); one that lies with its messages rewrites what the machine sends
// (tongue), or is two machines with one key where words are signed (twins). All
// work for any protocol that speaks in synod.Response. None can sign for another
// seat: a Seat holds its own Signer only.
//
// Liars exist for experiments and tests: the council file names them, every
// output labels them, and each has a test in which it is seen to bite.
package adversary

import (
	"cmp"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/read"
)

// Adversary corrupts one seat's honest machine.
type Adversary interface {
	Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine
}

// Steady is an Adversary that may promise that its words do not change by
// themselves: where nobody's answers change from one round to the next, neither
// does what it says. Only then may a council stop before its last round.
type Steady interface{ Steady() bool }

// Entry is an adversary's line in the catalogue.
type Entry struct {
	synod.Entry
	About string // what it does, where it comes from, its parameters
	New   func(params map[string]any) (Adversary, error)
}

// Catalogue lists every adversary.
var Catalogue = synod.NewCatalogue("adversary", replayEntry, weakAnswerEntry, overconfidentEntry, silentEntry, equivocatorEntry, inverterEntry,
	advertiserEntry, numberAltererEntry, cartelEntry, lateRevealerEntry, hashGrinderEntry, delimiterForgerEntry,
	midpointEntry, mimicEntry, oscillatorEntry, extremistEntry, saboteurEntry)

// plain makes an adversary that takes no parameters.
func plain(a Adversary) func(map[string]any) (Adversary, error) {
	return func(params map[string]any) (Adversary, error) {
		for key := range params {
			return nil, fmt.Errorf("unknown key %q; this adversary takes none", key)
		}
		return a, nil
	}
}

// mouth answers the honest machine's consults in place of its model. says
// returns nil where the model itself is to answer.
type mouth struct {
	honest synod.Machine
	says   func(*synod.Prompt) *synod.Reply
	hears  func(*synod.Prompt, *synod.Reply) // sees the model's own replies
	// replaces gives another reply than the model's own; nil: none.
	replaces func(*synod.Prompt, *synod.Reply) *synod.Reply
	open     map[synod.ConsultID]*synod.Prompt // consults that the model is answering
	out      []synod.Effect
	pending  []synod.Event // scratch of Step
}

// Step answers until the honest machine asks nothing that says would answer.
func (m *mouth) Step(now synod.Tick, e synod.Event) []synod.Effect {
	if a, ok := e.(synod.Answered); ok {
		if p := m.open[a.ID]; p != nil {
			delete(m.open, a.ID)
			e = synod.Answered{ID: a.ID, Reply: m.listen(p, a.Reply)}
		}
	}
	m.out, m.pending = m.out[:0], append(m.pending[:0], e)
	for i := 0; i < len(m.pending); i++ {
		for _, x := range m.honest.Step(now, m.pending[i]) {
			c, asks := x.(synod.Consult)
			if !asks {
				m.out = append(m.out, x)
				continue
			}
			if r := m.says(c.Prompt); r != nil {
				m.pending = append(m.pending, synod.Answered{ID: c.ID, Reply: r})
				continue
			}
			if m.open == nil {
				m.open = map[synod.ConsultID]*synod.Prompt{}
			}
			m.open[c.ID] = c.Prompt
			m.out = append(m.out, x)
		}
	}
	return m.out
}

func (m *mouth) listen(p *synod.Prompt, r *synod.Reply) *synod.Reply {
	if m.replaces != nil {
		return m.replaces(p, r)
	}
	if m.hears != nil {
		m.hears(p, r)
	}
	return r
}

// tongue rewrites every Response that the machine sends; rewrite returns the
// sends that take its place. holds, if any, does so for what it puts on record and
// decides.
type tongue struct {
	honest  synod.Machine
	rewrite func(synod.Send, synod.Response) []synod.Send
	other   func(synod.Send) []synod.Send // for words that are no Response; nil: as they are
	holds   func(synod.Effect) synod.Effect
	out     []synod.Effect
}

func (t *tongue) Step(now synod.Tick, e synod.Event) []synod.Effect {
	t.out = t.out[:0]
	for _, x := range t.honest.Step(now, e) {
		if t.holds != nil {
			x = t.holds(x)
		}
		send, ok := x.(synod.Send)
		var word synod.Response
		if !ok {
			t.out = append(t.out, x)
			continue
		}
		if send.Slot.Name != synod.Respond || word.UnmarshalBinary(send.Body) != nil {
			if t.other == nil {
				t.out = append(t.out, x)
				continue
			}
			for _, s := range t.other(send) {
				t.out = append(t.out, s)
			}
			continue
		}
		for _, s := range t.rewrite(send, word) {
			t.out = append(t.out, s)
		}
	}
	return t.out
}

// with is a copy of a send with another word, and other recipients.
func with(s synod.Send, to []synod.NodeID, word synod.Response) synod.Send {
	body, err := word.AppendBinary(nil)
	if err != nil {
		panic("adversary: a response cannot be encoded: " + err.Error())
	}
	m := *s.Message
	m.Body = body
	return synod.Send{To: to, Message: &m}
}

// boast makes a machine claim confidence 1.0 in everything it sends, and stand by
// mine once it has that, whatever its protocol makes it take over from others.
func boast(seat synod.Seat, m synod.Machine, mine *synod.Answer) synod.Machine {
	return &tongue{honest: m, rewrite: func(s synod.Send, word synod.Response) []synod.Send {
		word.Confidence = 1
		if said, _ := read.Canonical(seat.Question, string(word.Answer)); said != *mine && *mine != synod.None {
			word.Answer = *mine
		}
		return []synod.Send{with(s, s.To, word)}
	}, holds: func(x synod.Effect) synod.Effect {
		switch x := x.(type) {
		case synod.Note:
			return boastful(x, *mine)
		case synod.Decide:
			return synod.Decide{Answer: cmp.Or(*mine, x.Answer)}
		}
		return x
	}}
}

// boastful is what a boaster puts on record.
func boastful(x synod.Note, mine synod.Answer) synod.Note {
	o := *x.Opinion
	if mine != synod.None && o.Answer != mine {
		o.Answer, o.Surface, o.Source, o.From = mine, "", synod.Kept, nil
	}
	if o.Confidence != nil {
		certain := 1.0
		o.Confidence = &certain
	}
	return synod.Note{Opinion: &o}
}

// typed is a reply that answers a prompt as a liar that believes only in mine
// would: its own answer to whatever wants one, 1 for that answer and 0 for others.
func typed(p *synod.Prompt, mine synod.Answer) *synod.Reply {
	r := &synod.Reply{Status: synod.OK, Typed: true}
	switch p.Purpose {
	case grade.One, grade.All:
		*r = grade.Reply(p, func(a synod.Answer) grade.Grades {
			if a == mine {
				return grade.Uniform(grade.Max)
			}
			return grade.Grades{}
		})
	case synod.Scoring:
		if p.Candidate == mine {
			r.Value = 1
		}
	case synod.Weighing:
		if p.Candidate != mine {
			r.Value = -100
		}
	default:
		r.Answer = mine
		if p.Confide != synod.ConfideNothing {
			certain := 1.0
			r.Confidence = &certain
		}
	}
	return r
}
