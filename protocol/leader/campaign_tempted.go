package leader

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/check"
)

// offered is a member in a state that few executions reach, with a proposal. All other members may be Byzantine, so the
// certificates are any that their keys can make.
type offered struct {
	*rand.Rand
	keys  *sign.Derived
	e     *reference.Election
	name  string
	votes [32]byte
	round int
}

// temptations is how many proposals are drawn in an execution.
const temptations = 8

// tempt compares whether a member votes for proposals that are drawn with the reference: for any lock of its own, and
// any that the leader shows.
func tempt(t *check.Trace, claim string, e *reference.Election, name string) {
	o := &offered{Rand: rand.New(rand.NewPCG(t.Case.Seed, 0x7e3)), e: e, name: name,
		keys: sign.DeriveSymbolic(t.Case.Seed, e.N), votes: VoteGroup(name, e.Members(), e.F)}
	for range temptations {
		o.round = 2 + o.IntN(4)
		l := &reference.Leaders{Election: e, Protocol: name, Locks: e.TwoThirds, Exact: o.IntN(2) == 0,
			Self: synod.NodeID(o.IntN(e.N)), Own: o.answer(), Verifier: o.keys.Signer(0, "run")}
		if o.IntN(8) == 0 {
			l.Own = synod.None
		}
		var lock *Certificate
		if o.IntN(3) > 0 {
			lock = o.certificate(Prepare, 1+o.IntN(o.round-1), e.N)
		}
		p := &proposal{answer: o.answer(), lock: o.shown()}
		l.Lock, l.Seen = certificateOf(lock), &reference.Offer{Readable: true, Answer: p.answer,
			Lock: certificateOf(p.lock)}
		grades := map[synod.Answer]float64{l.Own: float64(o.IntN(3))}
		if p.answer != l.Own {
			grades[p.answer] = float64(o.IntN(3))
		}
		compares, want := l.Compares(o.round)
		if compares {
			want = l.Better(grades[p.answer], grades[l.Own])
		}
		got := o.vote(l, lock, p, grades)
		t.Claim(claim, got == want, "n%d with the answer %q and the lock %+v votes in round %d for %+v: %v; by the "+
			"reference: %v", l.Self, l.Own, lock, o.round, p, got, want)
	}
}

func (o *offered) answer() synod.Answer { return synod.Answer(fmt.Sprint(5 + o.IntN(3))) }

// shown draws the lock that a leader shows: most often one that proves something.
func (o *offered) shown() *Certificate {
	phase, most := Prepare, o.e.N
	switch o.IntN(8) {
	case 0:
		return nil
	case 1:
		phase = Commit
	case 2:
		most = o.IntN(o.e.N)
	}
	c := o.certificate(phase, o.IntN(o.round+2), most)
	if o.IntN(8) == 0 && len(c.Votes) > 1 {
		c.Votes[0] = c.Votes[1]
	}
	return c
}

// certificate makes one for a drawn answer, signed by so many members at most.
func (o *offered) certificate(phase, round, most int) *Certificate {
	c := &Certificate{Phase: phase, Round: round, Answer: o.answer()}
	by := o.Perm(o.e.N)[:most]
	slices.Sort(by)
	for _, id := range by {
		sig := o.keys.Signer(synod.NodeID(id), "run").Sign(VoteBytes(o.votes, phase, round, c.Answer))
		c.Votes = append(c.Votes, Vote{synod.NodeID(id), string(sig)})
	}
	return c
}

// vote reports whether a member votes that has graded already.
func (o *offered) vote(l *reference.Leaders, lock *Certificate, p *proposal,
	grades map[synod.Answer]float64) (yes bool) {
	seat := synod.Seat{Self: l.Self, F: o.e.F, Pace: check.Pace, Signer: o.keys.Signer(l.Self, "run"),
		Peers:    slices.DeleteFunc(o.e.Members(), func(id synod.NodeID) bool { return id == l.Self }),
		Question: &synod.Question{Text: "?", Form: synod.Number}}
	settings := answer.Settings{Exact: l.Exact}
	agent := script.New(seat, script.Options{}, func(me *script.Agent) synod.Answer {
		m := &Member{Member: answer.New(me, settings), votes: o.votes, members: o.e.Members(), lock: lock, proposed: p,
			grades: grades, rules: Rules{Settings: settings, Lock: l.Locks, Turns: o.e.Turns, Enough: o.e.Enough}}
		m.own.Answer = l.Own
		yes = m.accepts(o.round)
		return synod.None
	})
	agent.Step(0, synod.Begin{})
	agent.Step(0, synod.Halt{})
	return yes
}
