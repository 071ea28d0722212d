package campaign

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/council/trust"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// trustTrials are about what a council learns of its members.
var trustTrials = []ClaimTrial{{Claim: claimOf("DE-13"), try: trusted}}

// trusted compares what a history says of the members of a council with a slow reference.
func trusted(t *ClaimTried) {
	n, f := 2+t.Rand.IntN(6), t.Rand.IntN(3)
	voice := make([]int, n)
	for i := range voice {
		voice[i] = min(i, t.Rand.IntN(n))
	}
	p := planFor(fmt.Sprintf("protocol: {name: %s}\ngraph: {family: complete}\nf: %d\nrule: {name: plurality}\n",
		comparing(), f) + seatsOf(voice))
	if p == nil {
		return
	}
	names := plan.TrustNames(p)
	kept := remembered(t, observed(t, append(slices.Clone(names), "a stranger")))
	weights, together := plan.Learned(p, kept)
	pairs := 0
	for _, kind := range reliability.Kinds(kept) {
		members := slices.DeleteFunc(slices.Clone(kept), func(o reliability.Observation) bool {
			return o.Kind != kind || !slices.Contains(names, o.Member)
		})
		want, got := reference.Reliability(repliesOf(members), f), reliability.Estimate(members, kind, f)
		t.Check((got == nil) == (want == nil) && (want == nil) == (weights[kind] == nil), "%d replies of kind %s give "+
			"%+v, weights %v, and by the reference %+v", len(members), kind, got, weights, want)
		if got == nil || want == nil {
			continue
		}
		if want.Near {
			return
		}
		reliable(t, got, want)
		for i, w := range want.Weights(names) {
			t.Check(nearly(weights[kind][i], w), "%s has weight %v for %s, and by the reference %v", names[i],
				weights[kind][i], kind, w)
		}
		pairs += erring(t, names, together, want)
	}
	t.Check((pairs > 0) == (len(together) > 0), "%v err together, and by the reference %d pairs", together, pairs)
}

// repliesOf returns observations as the reference has them.
func repliesOf(all []reliability.Observation) (replies []reference.Reply) {
	for _, o := range all {
		replies = append(replies, reference.Reply{Question: o.Question, Member: o.Member, Answer: o.Answer,
			Right: o.Label == reliability.Right, Wrong: o.Label == reliability.Wrong})
	}
	return replies
}

// erring checks that the pairs that err together by the reference are among those of the council, and counts them.
func erring(t *ClaimTried, names []string, together [][2]synod.NodeID, want *reference.Trust) (pairs int) {
	for _, e := range want.Pairs {
		two := [2]synod.NodeID{synod.NodeID(slices.Index(names, e.A)), synod.NodeID(slices.Index(names, e.B))}
		if e.Together {
			pairs++
			t.Check(slices.Contains(together, two), "%v err together, and by the reference %+v do", together, e)
		}
	}
	return pairs
}

// nearly reports whether two numbers are equal but for rounding: weights are rounded to millionths in every step.
func nearly(a, b float64) bool { return math.Abs(a-b) < 1e-4*max(1, math.Abs(b)) }

// reliable compares the estimates of one kind of question.
func reliable(t *ClaimTried, got *reliability.Estimates, want *reference.Trust) {
	t.Check(nearly(got.Collision, want.Collision) && len(got.Members) == len(want.Members) &&
		len(got.Pairs) == len(want.Pairs), "%+v, and by the reference %+v", got, want)
	for i := range min(len(got.Members), len(want.Members)) {
		g, w := got.Members[i], want.Members[i]
		t.Check(g.Name == w.Name && g.Answers == w.Answers && g.Labelled == w.Labelled && g.Changed == w.Changed &&
			nearly(g.Overall, w.Overall) && nearly(g.Latest, w.Latest) && nearly(g.Reliability, w.Lower) &&
			nearly(g.Share, w.Share) && nearly(g.LogOdds, w.Weight), "%+v, and by the reference %+v", g, w)
	}
	for i := range min(len(got.Pairs), len(want.Pairs)) {
		g, w := got.Pairs[i], want.Pairs[i]
		t.Check(g.A == w.A && g.B == w.B && nearly(g.CoError, w.CoError) && nearly(g.Agreement, w.Agreement) &&
			g.Together == w.Together, "%+v, and by the reference %+v", g, w)
	}
}

// respondent is how a member answers.
type respondent struct {
	ability float64 // how often it is right
	changes bool    // it is right, then wrong, and then right again, for as many questions each
	copies  int     // the member whose answers it gives; mostly itself
}

// respondents draws how members answer.
func respondents(t *ClaimTried, n int) []respondent {
	all := make([]respondent, n)
	for i := range all {
		all[i] = respondent{ability: .3 + t.Rand.Float64()*.7, copies: i}
		if t.Rand.IntN(2) == 0 {
			all[i].changes = true
		} else if t.Rand.IntN(3) == 0 {
			all[i].copies = t.Rand.IntN(n)
		}
	}
	return all
}

// saidIn draws what members answer to a question that is in a period.
func saidIn(t *ClaimTried, all []respondent, period int) []string {
	answers := make([]string, len(all))
	for i, r := range all {
		right := r.ability
		if r.changes {
			right = []float64{1, .1}[period%2]
		}
		if answers[i] = "right"; t.Rand.Float64() >= right {
			answers[i] = fmt.Sprint("wrong", t.Rand.IntN(3))
		}
		if t.Rand.IntN(20) == 0 {
			answers[i] = ""
		}
	}
	return answers
}

// observed draws what members answered: some change again and again, some say what another says, and keys of some
// questions are known.
func observed(t *ClaimTried, names []string) (all []reliability.Observation) {
	questions, period, members := 5+t.Rand.IntN(250), 20+t.Rand.IntN(60), respondents(t, len(names))
	labels := t.Rand.Float64() * float64(t.Rand.IntN(2))
	for q := range questions {
		kind, graded := []string{"number", "choice"}[t.Rand.IntN(10)/9], t.Rand.Float64() < labels
		answers := saidIn(t, members, q/period)
		for i, name := range names {
			o := reliability.Observation{Question: fmt.Sprint(q), Kind: kind, Member: name,
				Answer: answers[members[i].copies]}
			if graded && o.Answer != "" && t.Rand.IntN(3) > 0 {
				if o.Label = reliability.Wrong; o.Answer == "right" {
					o.Label = reliability.Right
				}
			}
			if o.Answer != "" && t.Rand.IntN(3) == 0 {
				o.Sure = t.Rand.Float64()
			}
			if t.Rand.IntN(20) > 0 {
				all = append(all, o)
			}
		}
	}
	for range t.Rand.IntN(8) { // questions that are asked again
		if len(all) > 0 {
			again := all[t.Rand.IntN(len(all))]
			again.Answer, again.Label, again.Sure = "right", reliability.Unknown, 0
			all = append(all, again)
		}
	}
	return all
}

// remembered puts observations into a history, forgets some, and returns what it has. It compares that with a list.
func remembered(t *ClaimTried, all []reliability.Observation) []reliability.Observation {
	h := &trust.History{Version: trust.Version}
	var want []reliability.Observation
	place, first := map[[3]string]int{}, map[[2]string]int{}
	for _, o := range all {
		h.Add([]reliability.Observation{o})
		question := [2]string{o.Kind, o.Question}
		if _, known := first[question]; !known {
			first[question] = len(first)
		}
		at, known := place[[3]string{o.Kind, o.Question, o.Member}]
		if !known {
			place[[3]string{o.Kind, o.Question, o.Member}] = len(want)
			want = append(want, o)
			continue
		}
		if was := want[at]; was.Answer == o.Answer {
			o.Label, o.Sure = cmp.Or(o.Label, was.Label), cmp.Or(o.Sure, was.Sure)
		}
		want[at] = o
	}
	slices.SortStableFunc(want, func(a, b reliability.Observation) int {
		return cmp.Compare(first[[2]string{a.Kind, a.Question}], first[[2]string{b.Kind, b.Question}])
	})
	if len(all) > 0 && t.Rand.IntN(4) == 0 {
		member, kind := all[0].Member, check.Among(&t.Tried, "", "number", "choice")
		gone := func(o reliability.Observation) bool { return o.Member == member && (kind == "" || o.Kind == kind) }
		before := len(want)
		want = slices.DeleteFunc(want, gone)
		got := h.Forget(member, kind)
		t.Check(got == before-len(want), "%d answers of %s to %q are forgotten, want %d", got, member, kind,
			before-len(want))
	}
	got := h.Observations()
	t.Check(slices.Equal(got, want), "a history has %v, and was told %v", got, want)
	return got
}
