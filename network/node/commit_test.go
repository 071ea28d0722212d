package node_test

import (
	"fmt"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/network/node/call"
)

// waiting is a council of four honest nodes, whose models are right, and one with an adversary, whose model is wrong.
func waiting(t *testing.T, adversary, commit string, seed byte) *network {
	return convene(t, fmt.Sprintf("protocol: {name: weighted-majority}\nrule: {name: plurality}\nf: 1\n"+pace+
		"models: {d: {provider: simulated, ability: 1}, e: {provider: simulated, ability: 0}}\n"+
		"seats: [{id: a, model: d, count: 4}, {id: bad, model: e, adversary: {name: %s}}]\n"+
		"defences: {commit: %s}\n", adversary, commit), seed)
}

// firstOf returns the first answer of the hostile node that counts as given independently; None: none does.
func firstOf(o *outcome.Outcome) synod.Answer {
	if a := o.Members[4].First; a != nil {
		return *a
	}
	return synod.None
}

// A node that waits for the answers of others, or breaks the rules of commitments in another way, does not get a copy
// counted: it gives the answer of its own model in time, or none. Who commits to two values is named, and nobody else.
// Without commitments the copy counts.
func TestNodesCopyNothing(t *testing.T) {
	const copier = "copier, waits: 400"
	count := func(name, commit string, seed byte, voices int) (*call.Result, outcome.Outcome) {
		net := waiting(t, name, commit, seed)
		net.startAll()
		defer func() {
			for _, stop := range net.stop {
				stop()
			}
		}()
		for try := 0; ; try++ {
			res, o := net.ask(sum)
			if o.Voices == voices || try == 2 { // on a busy machine messages come late
				net.certifies(res, &o)
				return res, o
			}
		}
	}
	if _, o := count(copier, "off", 40, 5); firstOf(&o) != "42" || o.Voices != 5 {
		t.Errorf("the attack is too weak: the copier's first answer is %s, and %d gave 42", firstOf(&o), o.Voices)
	}
	for i, name := range []string{copier, "commitment-breaker, how: late", "commitment-breaker, how: split",
		"commitment-breaker, how: twice", "commitment-breaker, how: other", "commitment-breaker, how: replay",
		"commitment-breaker, how: early", "commitment-breaker, how: withhold"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, o := count(name, "on", byte(41+i), 4)
			if firstOf(&o) == "42" || o.Voices != 4 {
				t.Errorf("the hostile node's first answer is %s, and %d gave 42 independently: %s", firstOf(&o),
					o.Voices, o.Reason)
			}
			if own := name == copier || name == "commitment-breaker, how: early"; own == o.Members[4].Uncommitted {
				t.Errorf("the hostile node is marked as uncommitted: %v", o.Members[4].Uncommitted)
			}
			named := false
			for _, p := range res.Proofs {
				if named = true; p.A.From != 4 {
					t.Errorf("seat %d is named", p.A.From)
				}
			}
			if name == "commitment-breaker, how: twice" && !named {
				t.Error("nobody is named who committed twice")
			}
		})
	}
}

// Two messages go before the first answers, one after the other. What that costs is logged; it must not cost a wait
// for the end of a round.
func TestCommitmentsCostTwoMessages(t *testing.T) {
	took := map[string]time.Duration{}
	for i, commit := range []string{"off", "on"} {
		net := waiting(t, "honest-noise", commit, byte(60+i))
		net.startAll()
		net.ask(sum) // opens the streams of the caller
		const asked = 5
		begun := time.Now()
		for range asked {
			if _, o := net.ask(sum); o.Ticks > 20 {
				t.Logf("commit %s: %d ticks", commit, o.Ticks) // on a busy machine messages come late
			}
		}
		took[commit] = time.Since(begun) / asked
		_, records := net.simulate(sum, "a run")
		t.Logf("commit %s: %v a question, %d ticks in a simulation", commit, took[commit].Round(time.Millisecond),
			records[0].Ticks)
		if want := synod.Tick(2); commit == "on" {
			want = 4
			if records[0].Ticks != want {
				t.Errorf("%d ticks with commitments, want %d", records[0].Ticks, want)
			}
		} else if records[0].Ticks != want {
			t.Errorf("%d ticks without commitments, want %d", records[0].Ticks, want)
		}
	}
}

// certifies fails if there is no certificate of a decision: whoever does not commit must not prevent one.
func (net *network) certifies(res *call.Result, o *outcome.Outcome) {
	net.t.Helper()
	s, err := res.Statement(net.signed.Roster, net.plan, sum, o)
	if err == nil {
		_, err = net.client().Certify(net.t.Context(), &s)
	}
	if err != nil {
		net.t.Error(err)
	}
}
