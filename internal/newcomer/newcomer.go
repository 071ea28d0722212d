// Package newcomer has a protocol, an adversary and a task as somebody who is new to this module would write them.
// Tests
// add them to the catalogues and see that all parts of the module take them as they are: attacks, certificates, nodes,
// the gateway and its page, campaigns, runs of tasks. So nothing but an entry has to be written for them.
//
// The package has rank 6: it uses adversary.
package newcomer

import (
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/script"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
)

// tell is a protocol of one round: members answer, tell one another their answers, and keep them.
type tell struct {
	answer.Plain `yaml:",inline"`
}

// Join implements synod.Protocol.
func (p *tell) Join(seat synod.Seat) synod.Machine {
	return script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		m := answer.New(me, answer.Settings{Templates: "newcomer"})
		r := m.Answer()
		m.Note(0, r, synod.Opinion{})
		_, silent := m.Exchange(0, &r, 1)
		m.Note(1, r, synod.Opinion{Silent: silent})
		return r.Answer
	})
}

func (p *tell) MaxRounds() int          { return 1 }
func (p *tell) Calls(degrees []int) int { return len(degrees) }
func (p *tell) TellsFirst() bool        { return true }

// Protocol is the entry of the protocol.
var Protocol = protocol.Entry{
	Entry:   synod.Entry{Name: "newcomer", Summary: "members tell one another their answers, and keep them"},
	Traits:  []synod.Trait{synod.Tells, synod.Votes, synod.FirstVotes},
	New:     func() protocol.Protocol { return &tell{} },
	Prompts: answer.Templates,
}

// loud is an adversary that sends its answer as one with full confidence.
type loud struct{}

// Corrupt implements adversary.Adversary.
func (loud) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &adversary.MessageRewriter{Honest: honest, Response: func(s synod.Send, r synod.Response) []synod.Send {
		r.Confidence = 1
		return []synod.Send{adversary.WithResponse(s, s.To, r)}
	}}
}

// Steady reports that its messages change only when answers do.
func (loud) Steady() bool { return true }

// Adversary is the entry of the adversary. It attacks protocols in which confidence counts.
var Adversary = adversary.Entry{
	Entry: synod.Entry{Name: "loud-newcomer", Summary: "says that it is certain"},
	Facts: adversary.Facts{Place: adversary.AtSeat, Model: adversary.Restricted,
		Where: synod.With(synod.Confides), Kind: adversary.NoDefence, Defence: "none", Source: "own"},
	About: "It has no parameters.",
	New:   adversary.NoParams(loud{}),
}

// Task is the entry of the task.
var Task = task.Entry{
	Entry: synod.Entry{Name: "newcomer-sums", Summary: "three sums"},
	Form:  string(synod.Number),
	Items: 3,
	Load: func(string, task.Options) (all []task.Item, err error) {
		for i := range 3 {
			n := strconv.Itoa(i)
			item, err := task.NewItem(synod.Question{ID: n, Text: "What is " + n + " + 40?", Form: synod.Number},
				strconv.Itoa(i+40))
			if err != nil {
				return nil, err
			}
			all = append(all, item)
		}
		return all, nil
	},
}
