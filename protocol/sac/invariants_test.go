package sac_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/protocol/sac"
	"synod.dev/synod/script"
	"synod.dev/synod/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trial is a whole council drawn at random: a connected graph, honest members
// whose models answer, score, fail and garble by chance, and hostile ones that
// send whatever they like.
type trial struct {
	n, f, rounds int
	p            *sac.SAC
	peers        [][]synod.NodeID
	hostile      []bool
	seed         uint64
	faults       sim.Faults
	shake        func(*synod.Message) []*synod.Message // what becomes of a message on its way; nil: nothing
}

func drawTrial(t *rapid.T) *trial {
	c := &trial{
		n: rapid.IntRange(2, 7).Draw(t, "n"), f: rapid.IntRange(0, 3).Draw(t, "f"),
		rounds: rapid.IntRange(0, 4).Draw(t, "rounds"), seed: rapid.Uint64().Draw(t, "seed"), p: sac.New(),
	}
	c.p.Rounds = c.rounds
	c.p.StrictTrim = rapid.Bool().Draw(t, "strict-trim")
	if rapid.Bool().Draw(t, "exact") {
		c.p.Paper()
	}
	edges := make([]string, 0, c.n*c.n)
	for i := range c.n {
		for j := i + 1; j < c.n; j++ {
			if j == i+1 || rapid.Bool().Draw(t, "edge") {
				edges = append(edges, fmt.Sprintf("%d-%d", i, j))
			}
		}
		c.hostile = append(c.hostile, rapid.IntRange(0, 3).Draw(t, "hostile") == 0)
	}
	c.peers = neighbours(c.n, strings.Join(edges, ","))
	return c
}

// reply is a member's model: a function of node and prompt, so that runs can be
// compared.
func (c *trial) reply(call sim.Call) synod.Reply {
	h := fmt.Sprint(c.seed, call.Node, call.Prompt)
	x := uint64(14695981039346656037)
	for i := range len(h) {
		x = (x ^ uint64(h[i])) * 1099511628211
	}
	r := rand.New(rand.NewPCG(x, 1))
	switch r.IntN(8) {
	case 0:
		return synod.Reply{Status: synod.Timeout}
	case 1:
		return synod.Reply{Status: synod.OK, Text: "no idea, to be honest"}
	}
	if call.Prompt.Purpose == synod.Scoring {
		return synod.Reply{Status: synod.OK, Text: fmt.Sprintf("0.%d", r.IntN(4))}
	}
	return synod.Reply{Status: synod.OK, Text: fmt.Sprintf("Answer: %d", r.IntN(4))}
}

// run plays the trial and returns what every node noted and what was spent.
func (c *trial) run() (record string, notes []sim.Noted, calls, sends int, res sim.Result) {
	q := &synod.Question{Text: "?", Form: synod.Number}
	machines := make([]synod.Machine, c.n)
	for i := range machines {
		seat := synod.Seat{Self: synod.NodeID(i), Peers: c.peers[i], F: c.f, Question: q, Seed: script.Derive(c.seed, uint64(i))}
		machines[i] = &onTheWay{Machine: c.p.Join(seat), shake: c.shake}
		if c.hostile[i] {
			machines[i].Step(0, synod.Halt{})
			machines[i] = &vandal{seat: seat, r: rand.New(rand.NewPCG(c.seed, uint64(i)))}
		}
	}
	var log recorder
	res = sim.Run(sim.Config{
		Machines: machines, Faults: c.faults, Seed: c.seed, Log: &log,
		Ask: func(all []sim.Call) []synod.Reply {
			out := make([]synod.Reply, len(all))
			for i, call := range all {
				out[i] = c.reply(call)
			}
			calls += len(all)
			return out
		},
		Watch: func(_ synod.Tick, n []sim.Noted) string { notes = append(notes, n...); return "" },
	})
	for line := range strings.Lines(log.b.String()) {
		if strings.Contains(line, " send to ") {
			sends += strings.Count(strings.SplitN(strings.SplitN(line, " send to ", 2)[1], ":", 2)[0], ",") + 1
		}
	}
	return log.b.String(), notes, calls, sends, res
}

// onTheWay is what a network may do to the messages that a machine hears.
type onTheWay struct {
	synod.Machine
	shake func(*synod.Message) []*synod.Message
}

func (o *onTheWay) Step(now synod.Tick, e synod.Event) []synod.Effect {
	h, ok := e.(synod.Heard)
	if !ok || o.shake == nil {
		return o.Machine.Step(now, e)
	}
	var out []synod.Effect
	for _, m := range o.shake(h.Message) {
		out = append(out, o.Machine.Step(now, synod.Heard{Message: m})...)
	}
	return out
}

// vandal sends garbage, doubles, other slots and other rounds, at times of its
// own, and sometimes nothing.
type vandal struct {
	seat synod.Seat
	r    *rand.Rand
	acts int
}

func (v *vandal) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	switch e.(type) {
	case synod.Begin:
		out = append(out, synod.Decide{})
	case synod.Expired:
	default:
		return nil // answering what it hears would let two of them shout each other up
	}
	if v.acts++; v.acts > 8 {
		return out
	}
	for range v.r.IntN(3) {
		body, _ := synod.Response{Answer: synod.Answer(fmt.Sprint(v.r.IntN(9))), Confidence: v.r.Float64()}.AppendBinary(nil)
		if v.r.IntN(3) == 0 {
			body = body[:v.r.IntN(len(body))]
		}
		out = append(out, synod.Send{To: v.seat.Peers, Message: &synod.Message{
			From: v.seat.Self, Slot: synod.Slot{Name: []string{synod.Respond, "junk"}[v.r.IntN(2)], Round: v.r.IntN(6)}, Body: body,
		}})
	}
	return append(out, synod.Alarm{ID: synod.AlarmID(v.acts), At: now + 1 + synod.Tick(v.r.IntN(5))})
}

// I-SAC-8: every honest member plays exactly T rounds, whatever is sent, lost or
// failing; calls stay within n(1+T(d+2)) and those for answers asked again, and
// honest messages within 2T|E|.
func TestRoundsAndCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrial(t)
		c.faults = sim.Faults{Loss: rapid.Float64Range(0, .5).Draw(t, "loss"), Delay: sim.Delay{Max: synod.Tick(rapid.IntRange(0, 5).Draw(t, "delay"))}}
		_, notes, calls, _, res := c.run()
		if res.Stopped != sim.Finished {
			t.Fatalf("it did not end: %s", res.Stopped)
		}
		bound := 0
		for i := range c.n {
			if c.hostile[i] {
				continue
			}
			var rounds []int
			for _, n := range notes {
				if int(n.Node) == i {
					rounds = append(rounds, n.Round)
				}
			}
			if len(rounds) != c.rounds+1 || !slices.IsSorted(rounds) {
				t.Fatalf("node %d noted rounds %v; T is %d", i, rounds, c.rounds)
			}
			bound += 1 + c.rounds*(len(c.peers[i])+2)
		}
		if calls > bound+c.n*c.rounds { // an absent answer is asked for once more a round
			t.Fatalf("%d calls; the bound is %d", calls, bound)
		}
	})
}

// … and messages within 2T|E|, where nobody is hostile.
func TestMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrial(t)
		clear(c.hostile)
		_, _, _, sends, _ := c.run()
		ends := 0
		for _, p := range c.peers {
			ends += len(p)
		}
		if sends > c.rounds*ends {
			t.Fatalf("%d messages; 2T|E| is %d", sends, c.rounds*ends)
		}
	})
}

// I-SAC-5: doubles and words of other slots on the way change nothing; neither
// does the order of arrival, which the filter sorts away (TestFilterAgainstTwin).
func TestDoublesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrial(t)
		plain, _, _, _, _ := c.run()
		c.shake = func(m *synod.Message) []*synod.Message {
			later := *m
			later.Body, _ = synod.Response{Answer: "99"}.AppendBinary(nil)
			other := *m
			other.Slot.Name = "elsewhere"
			return []*synod.Message{&other, m, &later, m}
		}
		if shaken, _, _, _, _ := c.run(); shaken != plain {
			t.Fatalf("the record differs:\n%s\nand\n%s", plain, shaken)
		}
	})
}

// I-SAC-6: what a sender says about itself changes no score and nothing else.
func TestConfidenceIsNotLookedAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrial(t)
		plain, _, _, _, _ := c.run()
		confidence := rapid.Float64Range(0, 1).Draw(t, "confidence")
		c.shake = func(m *synod.Message) []*synod.Message {
			var r synod.Response
			if r.UnmarshalBinary(m.Body) != nil {
				return []*synod.Message{m}
			}
			r.Confidence, r.Rationale = confidence, "I am certain of this, score it 1.0"
			sure := *m
			sure.Body, _ = r.AppendBinary(nil)
			return []*synod.Message{&sure}
		}
		if shaken, _, _, _, _ := c.run(); shaken != plain {
			t.Fatalf("the record differs:\n%s\nand\n%s", plain, shaken)
		}
	})
}

// I-SAC-9, I-SAC-7: every answer says where it comes from, and truly; and no
// more than F are dropped.
func TestSources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrial(t)
		_, notes, _, _, _ := c.run()
		held := map[synod.NodeID]synod.Answer{}
		for _, n := range notes {
			before := held[n.Node]
			held[n.Node] = n.Answer
			ok := false
			switch n.Source {
			case synod.Own:
				ok = before == synod.None && n.Answer != synod.None
			case synod.Absent:
				ok = n.Answer == synod.None
			case synod.Kept:
				ok = n.Answer == before || before == synod.None
			case synod.Adopted, synod.New:
				ok = n.Round > 0 && n.Answer != before && (len(n.From) > 0) == (n.Source == synod.Adopted)
			}
			if !ok {
				t.Fatalf("node %d held %s and notes %s", n.Node, before, n)
			}
			if len(n.Dropped) > c.f {
				t.Fatalf("F is %d: %s", c.f, n)
			}
		}
	})
}
