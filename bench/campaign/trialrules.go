package campaign

import (
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/network/roster"
)

// quorumTrials are about the quorums of certificates and leaders.
var quorumTrials = []ClaimTrial{
	{Claim: claimOf("QU-1"), Cases: 100, try: quorums},
}

// aggregateTrials are about package robust.
var aggregateTrials = []ClaimTrial{
	{Claim: claimOf("AG-1"), try: medians},
	{Claim: claimOf("AG-2"), try: orderless},
	{Claim: claimOf("WI-1"), try: withstands},
}

// quorums tries every f for one number of members.
func quorums(t *ClaimTried) {
	n := int(t.Number) + 1
	for f := 0; 3*f+1 <= n; f++ {
		q := int(roster.Quorum(uint64(n), uint64(f)))
		shared := 2*q - n
		t.Spare(float64(shared - f - 1))
		t.Check(shared > f && q <= n-f, "n=%d f=%d: quorums of %d share %d members", n, f, q, shared)
	}
}

// vectors draws evaluations: most of them near a centre, and some anywhere.
func (t *ClaimTried) vectors(n, wild int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, 5)
		for k := range all[i] {
			all[i][k] = float64(t.Rand.IntN(5) + 10)
			if i < wild {
				all[i][k] = float64(t.Rand.IntN(2) * 20)
			}
		}
	}
	return all
}

func total(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

func medians(t *ClaimTried) {
	a, err := robust.Catalogue.Find("median-total")
	if !t.Need(err) {
		return
	}
	n := 1 + t.Rand.IntN(15)
	f := t.Rand.IntN((n + 1) / 2)
	all := t.vectors(n, f)
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range all[f:] {
		low, high = min(low, total(v)), max(high, total(v))
	}
	var w robust.Workspace
	r, err := a.Of(&w, all, f)
	if t.Need(err) {
		t.Spare(min(r.Total-low, high-r.Total))
		t.Check(r.Total >= low && r.Total <= high, "%v with %d Byzantine first: %v is outside of %v to %v", all, f,
			r.Total,
			low, high)
	}
}

// orderless compares the results for one set of evaluations in two orders.
func orderless(t *ClaimTried) {
	n := 7 + t.Rand.IntN(9)
	all := t.vectors(n, n/4)
	if t.Rand.IntN(2) == 0 { // equal numbers with different bits
		for _, v := range all {
			for k := range v {
				v[k] = []float64{0, math.Copysign(0, -1), 1}[t.Rand.IntN(3)]
			}
		}
	}
	other := slices.Clone(all)
	t.Rand.Shuffle(n, func(i, j int) { other[i], other[j] = other[j], other[i] })
	for _, name := range robust.Catalogue.Names() {
		a, err := robust.Catalogue.Find(name)
		f := 0
		if err == nil {
			f = max(0, min(a.Bound(n), n/4))
		}
		var v, w robust.Workspace
		r, err1 := a.Of(&v, all, f)
		s, err2 := a.Of(&w, other, f)
		if !t.Need(err) || !t.Need(err1) || !t.Need(err2) {
			return
		}
		same := math.Float64bits(r.Total) == math.Float64bits(s.Total) && slices.EqualFunc(r.Vector, s.Vector,
			func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
		t.Check(same, "%s of %v is %v, and in another order %v", name, all, r, s)
	}
}

// withstands changes as many votes as the winner is said to withstand, in every way.
func withstands(t *ClaimTried) {
	answers := []synod.Answer{"a", "b", "c", synod.None}
	voices := make([]robust.Voice, 3+t.Rand.IntN(4))
	for i := range voices {
		voices[i] = robust.Voice{Answer: answers[t.Rand.IntN(len(answers))], Weight: int64(1 + t.Rand.IntN(3))}
		if t.Rand.IntN(2) == 0 {
			voices[i].Answer = "a"
		}
	}
	t.resists(voices)
	t.spares()
	w, wins := robust.Withstands(robust.VoteRule{Name: "plurality"}, voices, "a")
	t.Check(wins == leads(voices), "%v: the answer a wins is %v", voices, wins)
	if !wins {
		return
	}
	t.Spare(float64(w.Changed))
	var change func(from, left int)
	change = func(from, left int) {
		t.Check(leads(voices), "%v, after at most %d changes: the answer a does not lead", voices, w.Changed)
		for i := from; left > 0 && i < len(voices); i++ {
			was := voices[i].Answer
			for _, a := range answers[1:] {
				voices[i].Answer = a
				change(i+1, left-1)
			}
			voices[i].Answer = was
		}
	}
	change(0, w.Changed)
}

// leads reports whether the answer a has more weight than every other.
func leads(voices []robust.Voice) bool {
	weights := map[synod.Answer]int64{}
	for _, v := range voices {
		weights[v.Answer] += v.Weight
	}
	delete(weights, synod.None)
	for a, w := range weights {
		if a != "a" && w >= weights["a"] {
			return false
		}
	}
	return weights["a"] > 0
}
