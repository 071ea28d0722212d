package computed

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
)

var tracesFile = flag.String("traces", "", "recorded replies of which TestStoppingInHindsight prints the bound")

// watched is what a rule that counts votes sees of a question while members are asked, and whether it would be right to
// stop after so many of them.
type watched struct {
	seen  []string // by number of members asked: the counts after each of them
	right []bool   // the answer of more than F of them with the most weight is right
}

// stops returns what the best rule that stops by the counts of equal answers so far gets, if it knows how often each
// course of counts ends well in the very questions that it is measured on, and a call costs it price right decisions.
func stops(all []watched, f int, price float64) (accuracy, calls float64) {
	type course struct{ n, stop, right, calls float64 }
	after := map[string]*course{}
	last := len(all[0].seen) - 1
	for k := last; k >= 0; k-- {
		now := map[string]*course{}
		for i := range all {
			c := now[all[i].seen[k]]
			if c == nil {
				c = &course{}
				now[all[i].seen[k]] = c
			}
			c.n++
			if all[i].right[k] {
				c.stop++
			}
			if k < last {
				next := after[all[i].seen[k+1]]
				c.right, c.calls = c.right+next.right/next.n, c.calls+1+next.calls/next.n
			}
		}
		for _, c := range now {
			if k == last || k > f && c.stop >= c.right-price*c.calls {
				c.right, c.calls = c.stop, 0
			}
		}
		after = now
	}
	for _, c := range after {
		accuracy, calls = accuracy+c.right/float64(len(all)), calls+c.calls/float64(len(all)*last)
	}
	return accuracy, calls
}

// watch follows the members of a council in the order in which cascade asks them.
func (p *division) watch(q int) (w watched) {
	first := p.answers(q, false)
	question := &synod.Question{ID: p.questions[q].id, Form: synod.Text}
	order := p.cascade.Recorded(question, first, p.F).Order
	votes, weight, course := map[synod.Answer]int{}, map[synod.Answer]float64{}, ""
	for k := 0; k <= len(order); k++ {
		if k > 0 {
			a := first[order[k-1]]
			votes[a]++
			weight[a] += p.cascade.Weights[string(synod.Text)][order[k-1]]
		}
		var counts []int
		best := synod.None
		for a, n := range votes {
			if a != synod.None {
				counts = append(counts, n)
			}
			if n > p.F && a != synod.None && weight[a] > weight[best] {
				best = a
			}
		}
		slices.Sort(counts)
		course += fmt.Sprint(counts, votes[synod.None], " ")
		weight[synod.None] = 0
		w.seen, w.right = append(w.seen, course), append(w.right, best != synod.None && best == p.questions[q].gold)
	}
	return w
}

// The bound of docs/research/cascade.md: no rule that stops by counts, with the same order of members, gets more right
// decisions with so few calls, even in hindsight. cascade itself stays below it.
func TestStoppingInHindsight(t *testing.T) {
	path, splits := *tracesFile, 20
	if path == "" {
		path, splits = recording(t, []float64{0.8, 0.7, 0.65, 0.6, 0.5, 0.5, 0.45, 0.4}, 120), 4
	}
	data, err := readTraces(path)
	if err != nil {
		t.Fatal(err)
	}
	for f := 1; f <= 3; f++ {
		c := &recordedCouncil{Members: 7, F: f, Attack: lie, P: 0.95, Splits: splits}
		var all []watched
		for s := range splits {
			p := c.divide(data, rand.New(rand.NewPCG(1, uint64(s))))
			for _, q := range p.test {
				all = append(all, p.watch(q))
			}
		}
		played := c.play(data, splits, 1)["cascade"]
		accuracy, calls := played.accuracy.Rate().Value, played.calls.Rate().Value
		t.Logf("F=%d: cascade %.1f %% with %.1f %% of the calls", f, 100*accuracy, 100*calls)
		for _, price := range []float64{0, 0.001, 0.01, 0.02, 0.05, 0.08, 0.1, 0.15} {
			right, asked := stops(all, f, price)
			t.Logf("F=%d, a call for %.3f: %.1f %% with %.1f %%", f, price, 100*right, 100*asked)
			// cascade has no better balance of the two than the best rule has, beyond what SAC adds to contests.
			if gain := accuracy - price*7*calls - (right - price*7*asked); gain > 0.02 {
				t.Errorf("F=%d: cascade is better by %.3f than the best rule in hindsight", f, gain)
			}
		}
	}
}
