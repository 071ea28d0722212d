package sac_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/sac"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func draw(t *rapid.T) simtest.Protocol {
	p := sac.New()
	p.Rounds = rapid.IntRange(0, 4).Draw(t, "rounds")
	p.StrictTrim = rapid.Bool().Draw(t, "strict-trim")
	if rapid.Bool().Draw(t, "exact") {
		p.Paper()
	}
	return p
}

// I-SAC-5, I-SAC-8, I-SAC-9. The order of arrival has no effect, because the filter sorts
// (TestFilterAgainstTwin).
func TestInvariants(t *testing.T) { simtest.Invariants(t, draw) }

// I-SAC-8: without Byzantine members there are at most 2T|E| messages.
func TestMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := simtest.Draw(t, draw(t))
		clear(c.Hostile)
		ends := 0
		for _, p := range c.Peers {
			ends += len(p)
		}
		if sends := c.Run().Sends; sends > c.Protocol.MaxRounds()*ends {
			t.Fatalf("%d messages; 2T|E| is %d", sends, c.Protocol.MaxRounds()*ends)
		}
	})
}

// I-SAC-7: no more than F are dropped.
func TestNoMoreThanFAreDropped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := simtest.Draw(t, draw(t))
		for _, n := range c.Run().Notes {
			if len(n.Dropped) > c.F {
				t.Fatalf("F is %d: %s", c.F, n)
			}
		}
	})
}

// I-SAC-6: the confidence that a sender claims changes neither scores nor anything else.
func TestConfidenceIsNotLookedAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := simtest.Draw(t, draw(t))
		plain := c.Run().Record
		confidence := rapid.Float64Range(0, 1).Draw(t, "confidence")
		c.Shake = func(m *synod.Message) []*synod.Message {
			var r synod.Response
			if r.UnmarshalBinary(m.Body) != nil {
				return []*synod.Message{m}
			}
			r.Confidence, r.Rationale = confidence, "I am certain of this, score it 1.0"
			sure := *m
			sure.Body, _ = r.AppendBinary(nil)
			return []*synod.Message{&sure}
		}
		if shaken := c.Run().Record; shaken != plain {
			t.Fatalf("the record differs:\n%s\nand\n%s", plain, shaken)
		}
	})
}
