package leader

import (
	"reflect"
	"strconv"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/broadcast"
	"synod.dev/synod/protocol/check"
)

// Campaign returns how campaigns try a leaders' protocol. most is the largest bound for n members, and agree
// checks that
// members decide alike.
func Campaign(share float64, most func(n int) int, params func(c check.Chance, n, f int) string,
	agree func(*check.Trace)) check.Subject {
	return check.Subject{
		Signs: true, Share: share, Relies: []string{"QU-1"},
		Claims: []check.Claim{
			{ID: "I-LB-2", Property: "a leader that proposes twice leaves evidence, which never accuses an honest " +
				"member",
				Model: check.Any, Source: "DecentLLMs §II; own"},
			{ID: "LB-C", Property: "every decision has a certificate that a third party verifies", Model: check.Any,
				Source: "DecentLLMs §II"},
		},
		States: []string{"decided", "undecided", "later than the first view", "evidence"},
		Setup: func(c check.Chance, x *check.Case) {
			x.N = []int{4, 4, 5, 6, 7}[c.IntN(5)]
			x.F = most(x.N)
			x.Params = params(c, x.N, x.F)
		},
		Horizon: func(*check.Case) synod.Tick { return 60 },
		Check:   func(t *check.Trace) { checkDecisions(t); agree(t) }, Watch: check.KeepDiary,
		Within: []reflect.Type{reflect.TypeFor[proposal]()},
	}
}

// Elected adds the claim about the decision to a subject: what members decide is signed by a quorum, which is counted
// again, and all that they send and note is what the reference does. elected says what the rules of an execution are.
func Elected(s check.Subject, id string, elected func(*check.Trace) (reference.Election, Params,
	string)) check.Subject {
	decided := s.Check
	s.Check = func(t *check.Trace) {
		decided(t)
		e, params, name := elected(t)
		for i := range t.Notes {
			o := t.Last(i)
			if o == nil || !t.Plain(synod.NodeID(i)) || RecordOf(o).Certificate == nil {
				continue
			}
			c := RecordOf(o).Certificate
			err := e.Check(&reference.SignedVotes{Protocol: name, Round: c.Round, Leader: c.Leader, Answer: o.Answer,
				Signers: c.Signers, Signatures: c.Signatures}, t.Verifier)
			t.Claim(id, err == nil, "the certificate of n%d proves nothing: %v", i, err)
		}
		for i, notes := range t.Notes {
			if len(notes) > 0 && t.Plain(synod.NodeID(i)) && !t.CutOff && !t.Flooded(i) {
				a := again{t: t, claim: id, id: i, l: &reference.Leaders{Election: &e, Protocol: name,
					Locks: e.TwoThirds,
					Exact: params.Exact, Choice: params.Propose, Self: synod.NodeID(i), Own: notes[0].Answer,
					Verifier: t.Verifier}}
				a.playAgain()
			}
		}
		if t.Case.Sampled(4) {
			tempt(t, id, &e, name)
		}
	}
	return s.Deciding(id, "what members propose, vote for, lock and decide, signed by a quorum", "DecentLLMs §II",
		nil)
}

// checkDecisions checks certificates and evidence.
func checkDecisions(t *check.Trace) {
	for i := range t.Notes {
		id, o := synod.NodeID(i), t.Last(i)
		if !t.Honest(id) || o == nil {
			continue
		}
		r := RecordOf(o)
		if t.Plain(id) && !t.CutOff {
			t.Claim("LB-C", (o.Answer == synod.None) == (r.Certificate == nil),
				"n%d decides %q, certificate %v", id,
				o.Answer, r.Certificate)
			verified(t, "LB-C", id, o)
		}
		for _, n := range t.Notes[i] {
			broadcast.Framed(t, "I-LB-2", id, Accusations(n.Opinion))
			t.Claim("I-LB-2", len(Accusations(n.Opinion)) == len(RecordOf(n.Opinion).Evidence), "of n%d's evidence %d "+
				"proofs are shown", i, len(Accusations(n.Opinion)))
		}
		t.State("decided", o.Answer != synod.None)
		t.State("undecided", o.Answer == synod.None)
		t.State("later than the first view", r.Certificate != nil && r.Certificate.Round > 1)
	}
}

// SameDecisions checks that no two honest members decide differently.
func SameDecisions(t *check.Trace, claim string) {
	t.Applies(claim)
	first, by := synod.None, 0
	for i := range t.Notes {
		o := t.Last(i)
		if !t.Honest(synod.NodeID(i)) || o == nil || RecordOf(o).Certificate == nil {
			continue
		}
		if first == synod.None {
			first, by = o.Answer, i
		}
		t.Claim(claim, o.Answer == first, "n%d decides %q and n%d %q", by, first, i, o.Answer)
	}
}

// verified checks that a third party accepts what honest members recorded.
func verified(t *check.Trace, claim string, id synod.NodeID, o *synod.Opinion) {
	c, ok := t.Protocol.(protocol.Certified)
	if !ok {
		return
	}
	_, err := c.Verify(protocol.VerifyInput{Self: id, Opinion: o, Question: t.Question, N: t.Case.Total(),
		Cast: t.Case.Cast,
		F:    t.Case.F, Check: t.Verifier, Name: func(id synod.NodeID) string { return "n" + strconv.Itoa(int(id)) }})
	t.Claim(claim, err == nil, "a third party rejects the record of honest n%d: %v", id, err)
}
