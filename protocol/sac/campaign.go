package sac

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// campaign is how campaigns try the protocol.
var campaign = check.Subject{
	Place: 1, Exchanges: true, Share: 20,
	Claims: []check.Claim{
		{ID: "I-SAC-1", Property: "a reliable member retains no answer that it scores below the lowest-scored " +
			"reliable one",
			Model: check.Local, Source: "SAC Property 4.2 (finding F1)", Margin: "score above the lowest reliable one"},
		{ID: "I-SAC-1s", Property: "with strict-trim this holds at every honest member with at most F Byzantine " +
			"neighbours",
			Model: check.Local, Source: "finding F1", Margin: "score above the lowest reliable one"},
		{ID: "I-SAC-2", Property: "a reliable member with an answer retains some neighbour, because silence uses up " +
			"the budget F",
			Model: check.Local, Source: "finding F3", Margin: "retained neighbours beyond the first"},
		{ID: "I-SAC-3", Property: "with r >= F+1 the retained links have a rooted out-branching", Model: check.Local,
			Source: "SAC Property 4.3"},
		{ID: "I-SAC-4", Property: "with r >= 2F+1 the retained links between reliable members alone have one",
			Model: check.Local, Source: "finding F2"},
		{ID: "I-SAC-5", Property: "messages that arrive twice at honest members change nothing", Model: check.Any,
			Source: "SAC Algorithm 1"},
		{ID: "I-SAC-6", Property: "what a sender says of its own confidence changes no score", Model: check.Any,
			Source: "SAC Eq. 2"},
		{ID: "I-SAC-7", Property: "at most F neighbours are dropped, and none that scores at least as high as one's " +
			"own answer",
			Model: check.Any, Source: "SAC Eq. 4"},
	},
	States: []string{"answer own", "answer kept", "answer adopted", "answer new", "answer absent", "dropped one",
		"dropped F", "silent neighbour", "unreadable score", "r below 2F+1", "r at least 2F+1", "strict trim"},
	Setup: func(c check.Chance, x *check.Case) {
		x.N = 4 + c.IntN(4)
		d := c.Few(16)
		x.Params = fmt.Sprintf("{rounds: %d, strict-trim: %v, score: %s, asynchronous: %v, rationale: %d}", d.IntN(8)%3,
			d.IntN(4) == 0, []ScoreBy{Stated, Stated, Stated, Likelihood}[d.IntN(4)], c.IntN(8) == 0, d.IntN(2)*100)
		if c.IntN(6) == 0 {
			x.Form = synod.Prose
		}
		c.DrawGraph(x)
	},
	Horizon: func(x *check.Case) synod.Tick { return 30 },
	Check:   func(t *check.Trace) { checkFilter(t); checkRounds(t) }, Watch: check.KeepDiary,
	Changes: []check.Change{{Claim: "I-SAC-5", Double: true}, {Claim: "I-SAC-6", Message: otherConfidence}},
	Relies:  []string{"TX-1"}, Council: "{name: sac, rounds: 2}", Trials: smallCases,
}.Deciding("I-SAC-D", "whom members drop by Eq. 3 and 4, and the answer that enough of them end on", "SAC Algorithm 1",
	nil).Saying("I-SAC-T", "SAC §4.2, §5; finding F2", tryTerms)

// checkFilter checks the claims about the filter, in each round at each honest member.
func checkFilter(t *check.Trace) {
	p := t.Protocol.(*SAC)
	t.State("strict trim", p.StrictTrim)
	t.State("r below 2F+1", t.Case.R < 2*t.Case.F+1)
	t.State("r at least 2F+1", t.Case.R >= 2*t.Case.F+1)
	for i := range t.Notes {
		id := synod.NodeID(i)
		if !t.Honest(id) {
			continue
		}
		for _, n := range t.Notes[i] {
			if n.Round > 0 && len(n.Scores) > 0 {
				filtered(t, id, n.Opinion, p.StrictTrim)
			}
		}
	}
	if !t.Above && !p.Asynchronous {
		for round := 1; round <= p.Rounds; round++ {
			branching(t, round)
		}
	}
}

// filtered checks one verdict.
func filtered(t *check.Trace, id synod.NodeID, o *synod.Opinion, strict bool) {
	f := t.Case.F
	self, reliable := synod.Untrusted, synod.Score(2)
	scores := map[synod.NodeID]synod.Score{}
	for _, s := range o.Scores {
		scores[s.Of] = s.Score
		if s.Of == id {
			self = s.Score
		}
		if t.Honest(s.Of) {
			reliable = min(reliable, s.Score)
		}
		t.State("unreadable score", s.Score == synod.Untrusted)
	}
	t.State("dropped one", len(o.Dropped) > 0)
	t.State("dropped F", len(o.Dropped) == f)
	t.State("silent neighbour", len(o.Silent) > 0)
	again := reference.SACRound{F: f, Strict: strict, Silent: len(o.Silent), Self: self}
	late := t.Protocol.(*SAC).Asynchronous
	if late {
		again.Silent = 0 // who was not waited for may be honest
	}
	filteredAsReference(t, "I-SAC-D", id, o, again)
	ok := len(o.Dropped) <= f
	for _, d := range o.Dropped {
		ok = ok && (strict || self == synod.Untrusted || scores[d] < self)
	}
	t.Claim("I-SAC-7", ok, "n%d drops %v with F=%d; its scores are %v", id, o.Dropped, f, o.Scores)
	if late || against(t, id, o) > f {
		return
	}
	t.Claim("I-SAC-2", len(o.Retained) > 0, "n%d retains nobody: scores %v, dropped %v, silent %v, F=%d", id, o.Scores,
		o.Dropped, o.Silent, f)
	t.Margin("I-SAC-2", float64(len(o.Retained)-1))
	claim := "I-SAC-1"
	if strict {
		claim = "I-SAC-1s"
		t.Applies("I-SAC-1")
	}
	for _, k := range o.Retained {
		t.Claim(claim, scores[k] >= reliable, "n%d retains n%d with score %v; the lowest reliable one is %v: scores "+
			"%v, dropped %v, silent %v, F=%d", id, k, scores[k], reliable, o.Scores, o.Dropped, o.Silent, f)
		t.Margin(claim, float64(scores[k]-reliable))
	}
}

// filteredAsReference compares a verdict with the reference, which gets the scores of the others here.
func filteredAsReference(t *check.Trace, claim string, id synod.NodeID, o *synod.Opinion, again reference.SACRound) {
	for _, s := range o.Scores {
		if s.Of != id {
			again.Scores = append(again.Scores, s)
		}
	}
	retained, dropped := again.Filter()
	t.Claim(claim, slices.Equal(retained, o.Retained) && slices.Equal(dropped, o.Dropped),
		"n%d retains %v and drops %v; the reference %v and %v: %+v", id, o.Retained, o.Dropped, retained, dropped,
		again)
}

// against returns how many neighbours are Byzantine or silent: the claims are for at most F.
func against(t *check.Trace, id synod.NodeID, o *synod.Opinion) (n int) {
	for _, j := range t.Peers[id] {
		if !t.Honest(j) || slices.Contains(o.Silent, j) {
			n++
		}
	}
	return n
}

// branching checks Property 4.3 in one round, and its strong form, if at most F neighbours of each honest member are
// Byzantine or silent. What Byzantine members retain is not known: at most F of their links are taken away by their own
// filter, and none is assumed to be.
func branching(t *check.Trace, round int) {
	n := t.Case.Total()
	kept, reliable := make([]int, n), 0
	for i := range n {
		id := synod.NodeID(i)
		if !t.Honest(id) {
			for _, j := range t.Peers[i] {
				kept[i] |= 1 << j
			}
			continue
		}
		reliable |= 1 << i
		at := slices.IndexFunc(t.Notes[i], func(o check.Noted) bool { return o.Round == round })
		if at < 0 {
			return
		}
		o := t.Notes[i][at]
		if len(o.Scores) == 0 || against(t, id, o.Opinion) > t.Case.F {
			return // it had no answer to compare with, or too many neighbours failed
		}
		for _, j := range o.Retained {
			kept[i] |= 1 << j
		}
	}
	if t.Case.R >= t.Case.F+1 {
		t.Claim("I-SAC-3", rooted(kept, 1<<n-1), "round %d: the retained links %b have no root", round, kept)
	}
	if t.Case.R >= 2*t.Case.F+1 {
		t.Claim("I-SAC-4", rooted(kept, reliable), "round %d: the retained links %b have no root among %b", round, kept,
			reliable)
	}
}

// rooted reports whether some node of a set reaches all others of it along links inside of it. kept has, for each node,
// the nodes that it hears.
func rooted(kept []int, set int) bool {
	for root := range kept {
		if set>>root&1 == 0 {
			continue
		}
		reached := 1 << root
		for grew := true; grew; {
			grew = false
			for i, from := range kept {
				if set>>i&1 == 1 && reached>>i&1 == 0 && from&reached != 0 {
					reached |= 1 << i
					grew = true
				}
			}
		}
		if reached&set == set {
			return true
		}
	}
	return set == 0
}

// otherConfidence changes what a message to an honest member says of the sender's confidence.
func otherConfidence(t *check.Trace, to synod.NodeID, m *synod.Message) *synod.Message {
	var r synod.Response
	if !t.Honest(to) || r.UnmarshalBinary(m.Body) != nil {
		return m
	}
	r.Confidence = float64(check.Mix(t.Case.Seed^uint64(m.From))%11) / 10
	changed := *m
	changed.Body, _ = r.AppendBinary(nil)
	return &changed
}
