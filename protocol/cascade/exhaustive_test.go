package cascade

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/reliability"
	"synod.dev/synod/internal/nightly"
)

// ballots calls f with every assignment of up to four answers and silence to n seats, up to the names of answers.
func ballots(n int, f func([]synod.Answer)) { ballotsOn(n, 4, f) }

func ballotsOn(n, answers int, f func([]synod.Answer)) {
	votes := make([]synod.Answer, n)
	var fill func(seat, used int)
	fill = func(seat, used int) {
		if seat == n {
			f(votes)
			return
		}
		votes[seat] = synod.None
		fill(seat+1, used)
		for k := range min(used+1, answers) {
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

// docs/research/cascade.md, theorems 1 to 3, for every ballot of up to six seats (seven in "make nightly") on up to
// four answers and silence, every F, and weights on a grid: a decision without a contest has more than F supporters,
// whoever the F are; with stop: certain it is what asking all gives, and the plurality of the weight of any seats
// without at most F of them; with stop: probable it is right with probability P by the weights, or no missing vote
// changes which candidate leads.
func TestGuaranteeExhaustively(t *testing.T) {
	stops := map[ending]int{}
	early := 0
	most := nightly.Size(6, 7)
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

// notAgainst checks that a decision is not against its own evidence: no answer has more weight, and with F ≥ 1 it is
// right rather than wrong by the weights, which are log-odds.
func notAgainst(t *testing.T, got *tally, lead candidate) {
	t.Helper()
	if got.f == 0 {
		return
	}
	odds, sum := 0.0, max(0.1, 1+1/reliability.Collision)
	for _, c := range got.table() {
		x := math.Exp(float64(c.weight) / reliability.Unit)
		if sum += x - 1; c.answer == lead.answer {
			odds = x
		}
		if c.weight > lead.weight {
			t.Fatalf("F=%d %v %v: %s is decided and outweighed", got.f, got.weights, got.answers, lead.answer)
		}
	}
	if odds < 0.5*sum*0.999 {
		t.Fatalf("F=%d %v %v: %s is decided with odds %v of %v", got.f, got.weights, got.answers, lead.answer, odds,
			sum)
	}
}

func checkProbable(t *testing.T, c *council, votes []synod.Answer) ending {
	t.Helper()
	got, end := run(c, votes)
	table := got.table()
	switch end {
	case decided:
		lead := got.leader(table)
		supported(t, c, got, lead.answer)
		notAgainst(t, got, lead)
		if got.certain(table) || got.probable(table) || got.foreseen(table) || len(got.asked) == len(votes) {
			break
		}
		full, _ := all(c, votes) // settled: the leader among the candidates is that of all first answers
		if a := full.leader(full.table()).answer; a != lead.answer {
			t.Fatalf("F=%d %v %v: settled on %s, and all give %s", c.f, c.weights, votes, lead.answer, a)
		}
	case hopeless:
		full, _ := all(c, votes)
		table := full.table()
		if some := full.candidates(table); len(some) > 0 && len(got.asked) < len(votes) {
			t.Fatalf("F=%d %v: given up, and all give a candidate", c.f, votes)
		} else if len(some) > 0 && some[0].answer == table[0].answer && full.credible(table) {
			t.Fatalf("F=%d %v: given up, and no evidence is against %s", c.f, votes, some[0].answer)
		}
	case contested:
		for _, one := range got.candidates(table) {
			supported(t, c, got, one.answer)
		}
	}
	return end
}

// partitions calls f with every way to put n seats into groups of which at most three have more than one seat, as pairs
// that link the seats of each group in a chain.
func partitions(n int, f func([][2]synod.NodeID)) {
	group := make([]int, n)
	var fill func(seat, used int)
	fill = func(seat, used int) {
		if seat < n {
			for g := range used + 1 {
				group[seat] = g
				fill(seat+1, max(used, g+1))
			}
			return
		}
		var pairs [][2]synod.NodeID
		last, larger := map[int]int{}, map[int]bool{}
		for i, g := range group {
			if before, ok := last[g]; ok {
				pairs, larger[g] = append(pairs, [2]synod.NodeID{synod.NodeID(before), synod.NodeID(i)}), true
			}
			last[g] = i
		}
		if len(larger) <= 3 {
			f(pairs)
		}
	}
	fill(0, 0)
}

// docs/research/cascade.md, theorem 2 with groups: for every grouping of up to six seats (seven in "make nightly") with
// at most three groups, every ballot on up to three answers (two of seven seats) and silence, and every F, certain
// decides what asking all decides. Lemma 2: one more supporter never lowers the number of voices, also where pairs form
// a star.
func TestGroupsExhaustively(t *testing.T) {
	most, early := nightly.Size(6, 7), 0
	if testing.Short() {
		most = 5
	}
	for n := 1; n <= most; n++ {
		answers := 3
		if n == 7 { // 870 groupings
			answers = 2
		}
		partitions(n, func(pairs [][2]synod.NodeID) { checkVoices(t, n, pairs) })
		for f := 0; 2*f+1 <= n; f++ {
			partitions(n, func(pairs [][2]synod.NodeID) {
				p := New()
				p.Stop, p.Together = Certain, pairs
				c := p.convene(&synod.Question{ID: fmt.Sprint(n, f), Form: synod.Text}, n, f)
				ballotsOn(n, answers, func(votes []synod.Answer) { checkCertain(t, c, votes, &early) })
			})
		}
	}
	checkVoices(t, 5, [][2]synod.NodeID{{0, 1}, {1, 2}, {1, 3}})
	if early == 0 {
		t.Error("certain never stopped early")
	}
}

func checkVoices(t *testing.T, n int, pairs [][2]synod.NodeID) {
	t.Helper()
	p := New()
	p.Together = pairs
	c := p.convene(&synod.Question{Form: synod.Text}, n, 0)
	voices := func(set int) int {
		var seats []synod.NodeID
		for i := range n {
			if set>>i&1 == 1 {
				seats = append(seats, synod.NodeID(i))
			}
		}
		return c.voices(seats)
	}
	for set := range 1 << n {
		for i := range n {
			if before, after := voices(set), voices(set|1<<i); after < before || after > before+1 {
				t.Fatalf("%v: %b has %d voices, and with seat %d %d", pairs, set, before, i, after)
			}
		}
	}
}

// Five members agree, and one of them errs with each of three others. With the groups of the supporters alone,
// certain decided after four that no missing vote could change anything, and the fifth vote changed it.
func TestStarOfPairs(t *testing.T) {
	p := New()
	p.Stop, p.Together = Certain, [][2]synod.NodeID{{0, 1}, {1, 2}, {1, 3}}
	votes := slices.Repeat([]synod.Answer{"a"}, 5)
	for q := range 40 {
		c := p.convene(&synod.Question{ID: fmt.Sprint(q), Form: synod.Text}, 5, 2)
		_, early := run(c, votes)
		if _, full := all(c, votes); early != full {
			t.Errorf("question %d, order %v: it ends with %d, and with %d when all are asked", q, c.order, early, full)
		}
	}
}

// A sole candidate that is outweighed, or wrong rather than right by the weights, is no decision of probable.
func TestOutweighedSoleCandidate(t *testing.T) {
	for name, c := range map[string]struct {
		weights []float64
		votes   []synod.Answer
	}{
		"outweighed":           {[]float64{0.5, 0.5, 2, 2, 1, 1, 1}, []synod.Answer{"a", "a", "b", "c", "d", "e", "f"}},
		"wrong by the weights": {[]float64{1, 1, 1, 1, 1, 1, 1}, []synod.Answer{"a", "a", "b", "c", "d", "e", "f"}},
	} {
		p := New()
		p.Weights = map[string][]float64{"text": c.weights}
		d := p.Recorded(&synod.Question{ID: "q", Form: synod.Text}, c.votes, 1)
		if d.Answer != synod.None || d.Asked != 7 || !strings.Contains(d.Why, "weigh too much against it") {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// An answer that is more probable than not, but leads by less than what one liar among its supporters may weigh, is no
// decision, also after a contest that it would win.
func TestMargin(t *testing.T) {
	p := New()
	p.Doubt, p.Weights = 0, map[string][]float64{"text": {3, 3, 2, 1.9, 3}}
	votes := []synod.Answer{"a", "a", "b", "b", ""}
	for q := range 20 {
		of := &synod.Question{ID: fmt.Sprint(q), Form: synod.Text}
		got, _ := all(p.convene(of, 5, 1), votes)
		table := got.table()
		if posterior := got.posterior(table, 0); table[0].answer != "a" || posterior < 0.5 {
			t.Fatalf("%s leads with probability %v: this case shows nothing", table[0].answer, posterior)
		}
		d := p.Recorded(of, votes, 1)
		if d.Answer != synod.None || !strings.Contains(d.Why, "weigh too much against it") {
			t.Errorf("question %d: %+v", q, d)
		}
	}
}

// What is said about a decision has counts, and no probability that nobody has calibrated.
func TestAgreementAsCounts(t *testing.T) {
	for _, votes := range [][]synod.Answer{{"a", "a", "a", "a", "a"}, {"a", "a", "a", "b", "a"},
		{"a", "b", "c", "", ""}} {
		p := New()
		p.Weights = map[string][]float64{"text": {5, 5, 5, 5, 5}}
		d := p.Recorded(&synod.Question{ID: "q", Form: synod.Text}, votes, 1)
		if strings.Contains(d.Why, "probab") || strings.Contains(d.Why, "0.") {
			t.Errorf("%v: %s", votes, d.Why)
		}
	}
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
