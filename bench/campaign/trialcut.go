package campaign

import (
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
)

// cutTrials are about runs that are not played to their end.
var cutTrials = []ClaimTrial{
	{Claim: claimOf("DE-9"), try: breaks},
	{Claim: claimOf("DE-10"), try: cutOff},
}

// cutOff judges a run of votes that was cut off before some seats had an answer, and compares the decision with those
// of all ways in which it could have gone on.
func cutOff(t *ClaimTried) {
	n := 3 + t.Rand.IntN(5)
	b := &reference.Poll{First: make([]synod.Answer, n), Last: make([]synod.Answer, n), Failed: make([]bool, n),
		F: t.Rand.IntN(2)}
	rule := reference.Rule{Name: []string{plan.Plurality, plan.Majority, plan.Supermajority}[t.Rand.IntN(3)],
		Support: t.Rand.IntN(4)}
	stopped := []string{outcome.PastTime, outcome.OverBudget, outcome.Interrupted, outcome.Unwritten,
		outcome.Preflight}[t.Rand.IntN(5)]
	kinds, models := 1+t.Rand.IntN(3), 1+t.Rand.IntN(n)
	var missing []int
	records := make([]outcome.Record, n)
	for i := range n {
		b.Voice = append(b.Voice, i*models/n)
		records[i] = outcome.Record{Seat: synod.NodeID(i), Stopped: stopped}
		if t.Rand.IntN(4) > 0 {
			b.Last[i] = synod.Answer(fmt.Sprint(t.Rand.IntN(kinds)))
		} else if missing = append(missing, i); t.Rand.IntN(2) == 0 {
			continue // it has noted nothing
		}
		records[i].Opinions = []outcome.Noted{{Opinion: &synod.Opinion{Answer: b.Last[i]}}}
	}
	copy(b.First, b.Last)
	p := planFor(fmt.Sprintf("protocol: {name: %s}\ngraph: {family: complete}\nf: %d\nrule: {name: %s, support: "+
		"%d}\n", comparing(), b.F, rule.Name, rule.Support) + seatsOf(b.Voice))
	if p == nil {
		return // no council may be like that
	}
	want := reference.Judge(rule, b)
	fixed := want.Status == reference.Agreed && (stopped == outcome.PastTime || stopped == outcome.OverBudget)
	completed(b, missing, kinds, func() {
		all := reference.Judge(rule, b)
		fixed = fixed && all.Status == reference.Agreed && all.Answer == want.Answer
	})
	o := outcome.Judge(p, plan.Instance{Question: synod.Question{Text: "How many?", Form: synod.Number}}, records)
	status, answer := outcome.Undecided, synod.None
	switch {
	case stopped == outcome.Preflight:
		status = outcome.Degraded
	case fixed && len(missing) > 0:
		status, answer = outcome.Degraded, want.Answer
	case fixed:
		status, answer = outcome.Agreed, want.Answer
	}
	t.Check(o.Status == status && o.Decision == answer, "%q, cut off by %s, rule %+v: %s %q (%s), and by all ways to "+
		"go on %s %q", b.Last, stopped, rule, o.Status, o.Decision, o.Reason, status, answer)
}

// seatsOf returns the models and seats of a council file in which seats with one number have one model.
func seatsOf(voice []int) string {
	models, seats := "", ""
	for k := range slices.Max(voice) + 1 {
		models += fmt.Sprintf("  m%d: {provider: openai, url: 'http://localhost:1/v1', model: m%d}\n", k, k)
	}
	for i, k := range voice {
		seats += fmt.Sprintf("  - {id: s%d, model: m%d}\n", i, k)
	}
	return "models:\n" + models + "seats:\n" + seats
}

// completed gives the seats that have no answer each answer of so many kinds, a new one and none, in all ways.
func completed(b *reference.Poll, missing []int, kinds int, each func()) {
	if len(missing) == 0 {
		each()
		return
	}
	seat := missing[0]
	for k := range kinds + 2 {
		a := synod.None
		if k <= kinds {
			a = synod.Answer(fmt.Sprint(k))
		}
		b.First[seat], b.Last[seat] = a, a
		completed(b, missing[1:], kinds, each)
	}
}
