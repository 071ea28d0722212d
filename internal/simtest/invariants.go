package simtest

import (
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// Check tests a protocol with its transcripts and the invariants. vary sets random
// parameters of a new protocol; nil: defaults. It fails if goroutines remain.
func Check[P Protocol](t *testing.T, fresh func() P, vary func(*rapid.T, P)) {
	t.Cleanup(func() { goleak.VerifyNone(t) })
	t.Run("transcripts", func(t *testing.T) { Transcripts(t, func() Protocol { return fresh() }) })
	Invariants(t, func(t *rapid.T) Protocol {
		p := fresh()
		if vary != nil {
			vary(t, p)
		}
		return p
	})
}

// Invariants checks what must hold for every protocol in every trial, whatever messages are sent or
// lost and whatever calls fail. draw returns a protocol with random parameters.
func Invariants(t *testing.T, draw func(*rapid.T) Protocol) {
	t.Run("rounds and cost", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { roundsAndCost(t, Draw(t, draw(t))) })
	})
	t.Run("sources", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { sources(t, Draw(t, draw(t))) })
	})
	t.Run("duplicates change nothing", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			c := Draw(t, draw(t))
			plain := c.Run().Record
			c.Shake = double
			if changed := c.Run().Record; changed != plain {
				t.Fatalf("the record differs:\n%s\nand\n%s", plain, changed)
			}
		})
	})
	t.Run("equal seeds, equal records", func(t *testing.T) {
		c := rapid.Custom(func(t *rapid.T) *RandomCouncil { return Draw(t, draw(t)) }).Example(1)
		first := c.Run().Record
		for range 50 {
			if again := c.Run().Record; again != first {
				t.Fatalf("two records with one seed:\n%s\nand\n%s", first, again)
			}
		}
	})
}

// roundsAndCost checks that every honest member that takes part plays all rounds, and that there
// are at most the planned calls and one more for each member and round, for a repeated question
// (I-SAC-8).
func roundsAndCost(t *rapid.T, c *RandomCouncil) {
	c.Faults = sim.Faults{Loss: rapid.Float64Range(0, .5).Draw(t, "loss"),
		Delay: sim.Delay{Max: synod.Tick(rapid.IntRange(0, 5).Draw(t, "delay"))}}
	p := c.Run()
	if p.Result.Stopped != sim.Finished {
		t.Fatalf("it did not end: %s", p.Result.Stopped)
	}
	most := c.Protocol.MaxRounds()
	degrees := make([]int, len(c.Peers))
	for i := range c.Peers {
		degrees[i] = len(c.Peers[i])
		rounds := p.rounds(i)
		if len(rounds) > 0 && (len(rounds) != most+1 || !slices.IsSorted(rounds) || rounds[0] != 0 ||
			rounds[most] != most) {
			t.Fatalf("node %d has notes of rounds %v; want 0 to %d", i, rounds, most)
		}
	}
	if bound := c.Protocol.Calls(degrees) + len(c.Peers)*most; p.Calls > bound {
		t.Fatalf("%d calls; the bound is %d", p.Calls, bound)
	}
}

// sources checks that the source of every answer is correct (I-SAC-9).
func sources(t *rapid.T, c *RandomCouncil) {
	held := map[synod.NodeID]synod.Answer{}
	for _, n := range c.Run().Notes {
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
	}
}

// double returns a message twice, another message for its slot, and its content for another slot.
func double(m *synod.Message) []*synod.Message {
	later, other := *m, *m
	later.Body, _ = synod.Response{Answer: "99"}.AppendBinary(nil)
	other.Slot.Name = "elsewhere"
	return []*synod.Message{&other, m, &later, m}
}
