package game_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/game"
)

// GM-2: after three unreadable replies the player abstains from the round and votes to continue.
// GR-2: a failed call is not a vote.
func TestThreeTries(t *testing.T) {
	for _, c := range []struct {
		name    string
		reply   synod.Reply
		vote    game.Vote
		failed  int
		garbled int
	}{
		{"unreadable", says("I am not sure"), game.Continue, 0, 6},
		{"failed", synod.Reply{Status: synod.Timeout}, game.Abstain, 6, 0},
		{"cut short", synod.Reply{Status: synod.Unreadable}, game.Continue, 6, 0},
	} {
		g := game.New()
		g.Rounds = 1
		bad, asked := synod.NodeID(1), 0
		p := play(table(g, 4, 0, 1), func(call sim.Call) synod.Reply {
			if call.Node == bad {
				asked++
				return c.reply
			}
			return model(func(synod.NodeID, int) string { return "stop" })(call)
		})
		o := p.notes[bad][1]
		if asked != 6 || game.VoteOf(o) != c.vote || o.Failed != c.failed || o.Unreadable != c.garbled {
			t.Errorf("%s: asked %d times, noted %s", c.name, asked, o)
		}
		if got := p.notes[0][1].Silent; len(got) != 1 || got[0] != bad {
			t.Errorf("%s: the others receive nothing from %v, want %d", c.name, got, bad)
		}
		if o.Answer != p.notes[bad][0].Answer {
			t.Errorf("%s: it holds %s, and was given %s", c.name, o.Answer, p.notes[bad][0].Answer)
		}
		if r := g.Judge(p.notes, honest(4, 0)); r.Stop != 1 {
			t.Errorf("%s: three of four stop: %+v", c.name, r)
		}
	}
}
