package leader

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/protocol/answer"
)

// [I-LB-1] A lock is given up for a certificate of a later round and for nothing that
// looks like one: a Byzantine leader can show what it likes.
func TestLockIsGivenUpForProofOnly(t *testing.T) {
	keys := sign.DeriveSymbolic(1, 4)
	members := []synod.NodeID{0, 1, 2, 3}
	group := VoteGroup("p/1", members, 1)
	cert := func(round int, a synod.Answer, by ...synod.NodeID) *Certificate {
		c := &Certificate{Phase: Prepare, Round: round, Answer: a}
		for _, id := range by {
			c.Votes = append(c.Votes, Vote{id, string(keys.Signer(id,
				"run").Sign(VoteBytes(group, Prepare, round, a)))})
		}
		return c
	}
	forged := cert(3, "8", 0, 1)
	forged.Votes = append(forged.Votes, Vote{2, forged.Votes[0].Signature})
	pledges := &Certificate{Phase: Commit, Round: 3, Answer: "8"}
	for _, id := range members {
		pledges.Votes = append(pledges.Votes, Vote{id,
			string(keys.Signer(id, "run").Sign(VoteBytes(group, Commit, 3, "8")))})
	}
	for what, c := range map[string]struct {
		shown *Certificate
		want  bool
	}{
		"a later one":                     {cert(3, "8", 0, 1, 2), true},
		"nothing":                         {nil, false},
		"its own vote":                    {cert(3, "8", 3), false},
		"too few votes":                   {cert(3, "8", 0, 1), false},
		"one vote thrice":                 {cert(3, "8", 1, 1, 1), false},
		"a vote of another":               {forged, false},
		"one of the same round":           {cert(2, "8", 0, 1, 2), false},
		"one of an earlier round":         {cert(1, "8", 0, 1, 2), false},
		"one of this round":               {cert(4, "8", 0, 1, 2), false},
		"one of another answer":           {cert(3, "9", 0, 1, 2), false},
		"a certificate of another phase":  {pledges, false},
		"another run's, with its answers": {&Certificate{Prepare, 3, "8", []Vote{{0, "x"}, {1, "y"}, {2, "z"}}}, false},
	} {
		voted := false
		seat := synod.Seat{Self: 0, Peers: members[1:], F: 1, Pace: synod.Pace{Think: 2, Within: 4},
			Question: &synod.Question{Text: "?", Form: synod.Number}, Signer: keys.Signer(0, "run")}
		agent := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
			m := &Member{Member: answer.New(me, answer.Settings{}), votes: group, members: members,
				lock: cert(2, "7", 0, 1, 3)}
			m.rules = Rules{Lock: true, Turns: 1, Enough: func(ids []synod.NodeID) bool { return len(ids) >= 3 }}
			m.own.Answer, m.grades = "5", map[synod.Answer]float64{"5": 1, "8": 100}
			m.proposed = &proposal{answer: "8", lock: c.shown}
			voted = m.accepts(4)
			return synod.None
		})
		agent.Step(0, synod.Begin{})
		if voted != c.want {
			t.Errorf("shown %s, it votes: %v", what, voted)
		}
	}
}
