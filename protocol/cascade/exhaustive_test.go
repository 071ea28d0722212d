package cascade

import (
	"fmt"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/reliability"
)

// ballots calls f with every assignment of up to four answers and silence to n seats, up to the names of answers.
func ballots(n int, f func([]synod.Answer)) {
	votes := make([]synod.Answer, n)
	var fill func(seat, used int)
	fill = func(seat, used int) {
		if seat == n {
			f(votes)
			return
		}
		votes[seat] = synod.None
		fill(seat+1, used)
		for k := range min(used+1, 4) {
			votes[seat] = synod.Answer("abcd"[k : k+1])
			fill(seat+1, max(used, k+1))
		}
	}
	fill(0, 0)
}

// grids calls f with weights from a grid for n seats, up to their order: all seats get every answer in ballots.
func grids(n int, grid []float64, f func([]float64)) {
	w := make([]float64, n)
	var fill func(seat, from int)
	fill = func(seat, from int) {
		if seat == n {
			f(w)
			return
		}
		for k := from; k < len(grid); k++ {
			w[seat] = grid[k]
			fill(seat+1, k)
		}
	}
	fill(0, 0)
}

// run plays the stages on a full ballot and returns where it ended.
func run(c *council, votes []synod.Answer) (t *tally, end ending) {
	t = &tally{council: c, answers: make([]synod.Answer, len(votes))}
	for stage := 0; ; stage++ {
		for _, id := range c.stage(stage) {
			t.asked, t.answers[id] = append(t.asked, id), votes[id]
		}
		if end = t.next(t.table(), c.stage(stage+1) == nil); end != goOn {
			return t, end
		}
	}
}

// all counts a full ballot at once.
func all(c *council, votes []synod.Answer) (t *tally, end ending) {
	t = &tally{council: c, answers: votes, asked: c.order}
	return t, t.next(t.table(), true)
}

// sum is the weight of the seats outside a set with an answer.
func sum(c *council, votes []synod.Answer, a synod.Answer, without int) (w int64) {
	for i, v := range votes {
		if v == a && without>>i&1 == 0 {
			w += c.weights[i]
		}
	}
	return w
}

// sets calls f with every set of at most k of n seats, as bits.
func sets(n, k int, f func(set int)) {
	for set := range 1 << n {
		if size := popcount(set); size <= k {
			f(set)
		}
	}
}

func popcount(x int) (n int) {
	for ; x > 0; x &= x - 1 {
		n++
	}
	return n
}

var grid = []float64{0.05, 1, 3}

// docs/research/cascade.md, theorems 1 to 3, for every ballot of up to seven seats on up to four answers and silence,
// every F, and weights on a grid: a decision without a contest has more than F supporters, whoever the F are; with
// stop: certain it is what asking all gives, and the plurality of the weight of any seats without at most F of them;
// with stop: probable it is right with probability P by the weights, or no missing vote changes which candidate leads.
func TestGuaranteeExhaustively(t *testing.T) {
	stops := map[ending]int{}
	early := 0
	most := 7
	if testing.Short() {
		most = 5
	}
	for n := 1; n <= most; n++ {
		for f := 0; 2*f+1 <= n; f++ {
			q := 0
			grids(n, grid, func(w []float64) {
				certain, probable := New(), New()
				certain.Stop = Certain
				if q%6 != 0 { // one in six also stops where the missing votes may matter, which takes longer to find
					probable.Doubt = 0
				}
				certain.Weights = map[string][]float64{"text": w}
				probable.Weights = certain.Weights
				q++
				question := &synod.Question{ID: fmt.Sprint(q), Form: synod.Text}
				c, p := certain.convene(question, n, f), probable.convene(question, n, f)
				ballots(n, func(votes []synod.Answer) {
					checkCertain(t, c, votes, &early)
					stops[checkProbable(t, p, votes)]++
				})
			})
		}
	}
	if early == 0 || stops[decided] == 0 || stops[contested] == 0 || stops[hopeless] == 0 {
		t.Errorf("not every way to end occurred: %v, %d early", stops, early)
	}
}

func checkCertain(t *testing.T, c *council, votes []synod.Answer, early *int) {
	t.Helper()
	got, end := run(c, votes)
	full, fullEnd := all(c, votes)
	if end != fullEnd {
		t.Fatalf("F=%d %v %v: it ends with %d, and with %d when all are asked", c.f, c.weights, votes, end, fullEnd)
	}
	if end == contested && !slices.Equal(answers(got.candidates(got.table())), answers(full.candidates(full.table()))) {
		t.Fatalf("F=%d %v %v: other answers are contested when all are asked", c.f, c.weights, votes)
	}
	if end != decided {
		return
	}
	if len(got.asked) < len(votes) {
		*early++
	}
	lead := got.leader(got.table()).answer
	if a := full.leader(full.table()).answer; lead != a {
		t.Fatalf("F=%d %v %v: it decides %s, and %s when all are asked", c.f, c.weights, votes, lead, a)
	}
	supported(t, c, got, lead)
	if !got.certain(got.table()) {
		return // the only candidate, after all were asked
	}
	sets(len(votes), c.f, func(set int) {
		for _, a := range []synod.Answer{"a", "b", "c", "d"} {
			if a != lead && sum(c, votes, a, set) >= sum(c, votes, lead, set) {
				t.Fatalf("F=%d %v %v: without %b, %s is not behind %s", c.f, c.weights, votes, set, a, lead)
			}
		}
	})
}

// supported checks that more than F of those asked gave the decision, so that one is left whoever F are.
func supported(t *testing.T, c *council, got *tally, lead synod.Answer) {
	t.Helper()
	sets(len(c.weights), c.f, func(set int) {
		for _, id := range got.asked {
			if set>>id&1 == 0 && got.answers[id] == lead {
				return
			}
		}
		t.Fatalf("F=%d %v: only %b gave %s", c.f, got.answers, set, lead)
	})
}

func checkProbable(t *testing.T, c *council, votes []synod.Answer) ending {
	t.Helper()
	got, end := run(c, votes)
	table := got.table()
	switch end {
	case decided:
		lead := got.leader(table)
		supported(t, c, got, lead.answer)
		if got.certain(table) || got.probable(table) || got.foreseen(table) || len(got.asked) == len(votes) {
			break
		}
		full, _ := all(c, votes) // settled: the leader among the candidates is that of all first answers
		if a := full.leader(full.table()).answer; a != lead.answer {
			t.Fatalf("F=%d %v %v: settled on %s, and all give %s", c.f, c.weights, votes, lead.answer, a)
		}
	case hopeless:
		if full, _ := all(c, votes); len(full.candidates(full.table())) > 0 {
			t.Fatalf("F=%d %v: given up, and all give a candidate", c.f, votes)
		}
	case contested:
		for _, one := range got.candidates(table) {
			supported(t, c, got, one.answer)
		}
	}
	return end
}

// docs/research/cascade.md, lemma 1: whatever the weights, no F seats outweigh the others, and a larger limit would
// let them.
func TestCapExhaustively(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for f := 0; 2*f+1 <= n; f++ {
			grids(n, []float64{0, 0.05, 0.3, 1, 3, 900}, func(w []float64) {
				capped := reliability.CapWhole(w, f)
				total := int64(0)
				for _, x := range capped {
					total += x
				}
				sets(n, f, func(set int) {
					own := int64(0)
					for i, x := range capped {
						if set>>i&1 == 1 {
							own += x
						}
					}
					if own >= total-own {
						t.Fatalf("F=%d %v: %b has %d of %d", f, w, set, own, total)
					}
				})
			})
		}
	}
}
