package catalog_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/cpwbft"
	"synod.dev/synod/protocol/debate"
	"synod.dev/synod/protocol/sac"
	"synod.dev/synod/protocol/weightedmajority"
	"synod.dev/synod/protocol/wmsr"
)

// Exchanges that end as soon as every neighbour has spoken (answer.Member.Exchange) lead
// to the same opinions as exchanges with fixed ends, whatever a Byzantine member sends
// to some members and not to others, and however late. So such a member gains nothing
// from early ends; only the time differs.
func TestEarlyEnds(t *testing.T) {
	earlier, silences := 0, 0
	for name, fresh := range map[string]func() protocol.Protocol{
		"sac":               func() protocol.Protocol { p := sac.New(); p.Rounds = 4; return p },
		"cp-wbft":           func() protocol.Protocol { p := cpwbft.New(); p.Rounds = 3; p.Reflect = true; return p },
		"debate":            func() protocol.Protocol { p := debate.New(); p.Rounds = 4; return p },
		"weighted-majority": func() protocol.Protocol { return weightedmajority.New() },
		"w-msr":             func() protocol.Protocol { p := wmsr.New(); p.Rounds = 6; return p },
	} {
		for seed := range uint64(60) {
			early, fixed := playEarly(fresh(), seed, false), playEarly(fresh(), seed, true)
			if !reflect.DeepEqual(early.notes, fixed.notes) {
				t.Fatalf("%s, seed %d: with early ends\n%v\nwith fixed ends\n%v", name, seed, early.notes, fixed.notes)
			}
			earlier += bit(early.last < fixed.last)
			silences += early.silent
		}
	}
	if earlier == 0 || silences == 0 {
		t.Errorf("%d runs were shorter with early ends, and %d times a member was silent: the test does not test",
			earlier, silences)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

type timed struct {
	notes  map[synod.NodeID][]string // of honest members
	last   synod.Tick                // the last note of an honest member
	silent int
}

// playEarly plays five members, one or two of them Byzantine. With fixed ends, honest
// members hear messages only when an alarm expires.
func playEarly(p protocol.Protocol, seed uint64, fixed bool) timed {
	const n = 5
	chance := rand.New(rand.NewPCG(seed, 1))
	byzantine := 1 + chance.IntN(2)
	peers := simtest.Neighbours(n, "complete")
	machines := make([]synod.Machine, n)
	for i := range machines {
		seat := synod.Seat{Self: synod.NodeID(i), Peers: peers[i], F: 1, Pace: simtest.Pace,
			Question: &synod.Question{Text: "?", Form: synod.Number}, Seed: seed + 1}
		switch {
		case i < byzantine:
			machines[i] = newSelective(seat, chance.Uint64())
		case fixed:
			machines[i] = &untilExpired{honest: p.Join(seat)}
		default:
			machines[i] = p.Join(seat)
		}
	}
	out := timed{notes: map[synod.NodeID][]string{}}
	sim.Run(sim.Config{Machines: machines, Ask: sim.Immediate(func(calls []sim.Call) []synod.Reply {
		replies := make([]synod.Reply, len(calls))
		for i, c := range calls {
			replies[i] = hashedReply(c)
		}
		return replies
	}), Watch: func(now synod.Tick, notes []sim.Noted) string {
		for _, note := range notes {
			out.last = now
			out.notes[note.Node] = append(out.notes[note.Node], fmt.Sprintf("%+v", note.Opinion))
			out.silent += len(note.Silent)
		}
		return ""
	}})
	return out
}

// hashedReply is a reply that depends on the prompt and the member alone.
func hashedReply(c sim.Call) synod.Reply {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", c.Node, c.Prompt)
	x := h.Sum64()
	sure := float64(x>>20%100) / 100
	r := synod.Reply{Status: synod.OK, Typed: true, Value: sure, Confidence: &sure}
	switch {
	case x%16 == 0:
		return synod.Reply{Status: synod.Timeout}
	case c.Prompt.Purpose == synod.Refining && len(c.Prompt.Peers) > 0 && x%3 > 0:
		r.Answer = c.Prompt.Peers[x%uint64(len(c.Prompt.Peers))].Answer
	case c.Prompt.Purpose != synod.Scoring:
		r.Answer = synod.Answer(strconv.FormatUint(1+x>>8%4, 10))
	}
	return r
}

// untilExpired keeps what a machine hears until an alarm of its own expires.
type untilExpired struct {
	honest synod.Machine
	heard  []synod.Event
}

func (m *untilExpired) Step(now synod.Tick, e synod.Event) (effects []synod.Effect) {
	switch e.(type) {
	case synod.Heard:
		m.heard = append(m.heard, e)
		return nil
	case synod.Expired:
		for _, h := range m.heard {
			effects = append(effects, m.honest.Step(now, h)...)
		}
		m.heard = nil
	}
	return append(effects, m.honest.Step(now, e)...)
}

// selective sends its messages to some members only, or at any time.
type selective struct {
	seat synod.Seat
	plan []synod.Send // by alarm
	at   []synod.Tick
}

func newSelective(seat synod.Seat, seed uint64) *selective {
	m := &selective{seat: seat}
	r := rand.New(rand.NewPCG(seed, 2))
	for round := range 7 {
		for _, to := range seat.Peers {
			if seed%2 == 0 && r.IntN(3) == 0 {
				continue // silent to this member in this round
			}
			body, _ := synod.Response{Answer: synod.Answer(strconv.Itoa(1 + r.IntN(9))),
				Confidence: r.Float64()}.AppendBinary(nil)
			if r.IntN(8) == 0 {
				body = binary.BigEndian.AppendUint32(nil, r.Uint32()) // unreadable
			}
			m.plan = append(m.plan, synod.Send{To: []synod.NodeID{to},
				Message: &synod.Message{From: seat.Self, Slot: synod.Slot{Name: synod.Respond, Round: round},
					Body: body}})
			m.at = append(m.at, synod.Tick(1+r.IntN(4+16*int(seed%2)*(round+1))))
		}
	}
	return m
}

func (m *selective) Step(_ synod.Tick, e synod.Event) (effects []synod.Effect) {
	switch e := e.(type) {
	case synod.Begin:
		for i, at := range m.at {
			effects = append(effects, synod.Alarm{ID: synod.AlarmID(i), At: at})
		}
	case synod.Expired:
		effects = append(effects, m.plan[e.ID])
	}
	return effects
}
