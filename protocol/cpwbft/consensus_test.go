package cpwbft

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"synod.dev/synod"
)

// thousandth is a vote with its confidence as a whole number, so that the reference below can work
// in integers. One outside 0 to 1000 stands for a missing vote.
type thousandth struct {
	answer synod.Answer
	k      int
}

// naive is Eq. 4 computed directly: every answer is compared with every other.
func naive(votes []thousandth, half bool) synod.Answer {
	sure := false
	for _, v := range votes {
		sure = sure || v.answer != "" && v.k >= 500 && v.k <= 1000
	}
	sum, n := map[synod.Answer]int{}, map[synod.Answer]int{}
	for _, v := range votes {
		if v.answer == "" || v.k < 0 || v.k > 1000 || half && sure && v.k < 500 {
			continue
		}
		sum[v.answer] += v.k
		n[v.answer]++
	}
	for a := range n {
		wins := true
		for b := range n {
			left, right := sum[a]*n[b], sum[b]*n[a] // sum/n against sum/n
			if a != b && (left < right || left == right && (n[a] < n[b] || n[a] == n[b] && a > b)) {
				wins = false
			}
		}
		if wins {
			return a
		}
	}
	return synod.None
}

func drawVotes(r *rand.Rand) []thousandth {
	votes := make([]thousandth, r.IntN(9))
	grid := []int{1, 100, 250, 500}[r.IntN(4)] // coarse grids give many ties
	for i := range votes {
		votes[i] = thousandth{synod.Answer([]string{"a", "b", "c", "d", ""}[r.IntN(5)]), grid * r.IntN(1000/grid+1)}
		if r.IntN(20) == 0 {
			votes[i].k = []int{-1, 1001, 5000}[r.IntN(3)]
		}
	}
	return votes
}

func stated(votes []thousandth) []Stated {
	out := make([]Stated, len(votes))
	for i, v := range votes {
		out[i] = Stated{v.answer, float64(v.k) / 1000}
		if v.k > 1001 {
			out[i].Confidence = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[i%3]
		}
	}
	return out
}

// I-CP-1, I-CP-3, [CP-4]: Eq. 4 with its ties gives the same as the naive reference on a million
// random inputs, and the order of the voters changes neither the outcome nor its mean.
func TestConsensusAgainstTwin(t *testing.T) {
	runs := 1_000_000
	if testing.Short() {
		runs /= 20
	}
	const seed = 4
	r := rand.New(rand.NewPCG(seed, 0))
	ties := 0
	for range runs {
		votes := drawVotes(r)
		in := stated(votes)
		for _, w := range []Weigh{Everyone, Half} {
			got := Consensus(in, w)
			if want := naive(votes, w == Half); got.Answer != want {
				t.Fatalf("seed %d: %s of %v: %q, want %q", seed, w, votes, got.Answer, want)
			}
			r.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
			if again := Consensus(in, w); again != got {
				t.Fatalf("seed %d: the order of %v makes %v of %v", seed, in, again, got)
			}
		}
		camps := campsOf(in, false)
		for i := range camps {
			for j := range i {
				if camps[i].sum*camps[j].n == camps[j].sum*camps[i].n {
					ties++
				}
			}
		}
	}
	t.Logf("%d inputs, %d equal means", runs, ties)
	if ties < runs/100 {
		t.Errorf("only %d equal means: ties are not tried", ties)
	}
}

// I-CP-3: doubling every voter changes nothing.
func TestConsensusOfDoubles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for range 20_000 {
		in := stated(drawVotes(r))
		for _, w := range []Weigh{Everyone, Half} {
			if one, two := Consensus(in, w), Consensus(slices.Concat(in, in), w); one != two {
				t.Fatalf("%v: %v once, %v twice", in, one, two)
			}
		}
	}
}

// [CP-4] By hand.
func TestConsensus(t *testing.T) {
	for _, c := range []struct {
		votes []Stated
		w     Weigh
		want  Stated
	}{
		{nil, Everyone, Stated{}},
		{[]Stated{{"", 1}, {"a", math.NaN()}, {"b", 1.5}, {"c", -.5}}, Everyone, Stated{}},
		{[]Stated{{"a", .9}, {"a", .9}, {"b", 1}}, Everyone, Stated{"b", 1}},              // finding F8
		{[]Stated{{"a", .8}, {"a", 1}, {"b", .9}}, Everyone, Stated{"a", .9}},             // equal means: supporters
		{[]Stated{{"b", .1}, {"b", .1}, {"b", .1}, {"a", .1}}, Everyone, Stated{"b", .1}}, // exactly equal
		{[]Stated{{"b", .5}, {"a", .5}}, Everyone, Stated{"a", .5}},                       // then bytes
		{[]Stated{{"a", 0}}, Everyone, Stated{"a", 0}},
		// a missing confidence is a vote
		{[]Stated{{"a", .9}, {"a", .2}, {"b", .6}}, Everyone, Stated{"b", .6}}, // a has a low mean
		{[]Stated{{"a", .9}, {"a", .2}, {"b", .6}}, Half, Stated{"a", .9}},     // … without the low one
		{[]Stated{{"a", .4}, {"a", .2}, {"b", .35}}, Half, Stated{"b", .35}},   // all are below one half: all count
		{[]Stated{{"a", .3}, {"b", .5}}, Half, Stated{"b", .5}},
	} {
		if got := Consensus(c.votes, c.w); got.Answer != c.want.Answer ||
			math.Abs(got.Confidence-c.want.Confidence) > 1e-9 {
			t.Errorf("%s of %v: %v, want %v", c.w, c.votes, got, c.want)
		}
	}
}

// [CP-3] Stage 1 by hand.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule  Adopt
		own   Stated
		heard []Stated
		want  Stated
	}{
		{Surest, Stated{"a", .5}, nil, Stated{"a", .5}},
		{Surest, Stated{"a", .5}, []Stated{{"b", .4}, {"c", .6}, {"d", .55}}, Stated{"c", .6}},
		{Surest, Stated{"a", .5}, []Stated{{"b", .5}, {"c", .5}}, Stated{"a", .5}}, // not above its own
		{Surest, Stated{"a", .5}, []Stated{{"c", .6}, {"b", .6}}, Stated{"b", .6}}, // equal: the first by its bytes
		{Surest, Stated{"a", .5}, []Stated{{"a", .9}}, Stated{"a", .9}},            // the same answer, surer
		{Surest, Stated{}, []Stated{{"b", 0}}, Stated{"b", 0}},                     // better than no answer
		{Surest, Stated{"b", 1}, []Stated{{"a", 1}}, Stated{"b", 1}},
		{Pooled, Stated{"a", .5}, []Stated{{"b", .9}, {"b", .2}, {"c", .54}}, Stated{"b", .55}},
		{Pooled, Stated{"a", .6}, []Stated{{"a", .9}, {"b", .7}}, Stated{"a", .6}}, // its own mean is highest
		{Pooled, Stated{}, []Stated{{"a", .1}}, Stated{"a", .1}},
		{ByNumber, Stated{"a", .9}, []Stated{{"b", 0}, {"b", 0}, {"c", 0}}, Stated{"b", 0}},
		{ByNumber, Stated{"a", .9}, []Stated{{"b", 0}}, Stated{"a", .9}}, // a tie keeps
		{ByNumber, Stated{"a", .9}, []Stated{{"b", 0}, {"b", 0}, {"c", 0}, {"c", 0}}, Stated{"a", .9}},
		{ByNumber, Stated{}, []Stated{{"b", 0}}, Stated{"b", 0}},
		{Nothing, Stated{"a", 0}, []Stated{{"b", 1}, {"b", 1}}, Stated{"a", 0}},
	} {
		if got := rules[c.rule](c.own, c.heard); got.Answer != c.want.Answer ||
			math.Abs(got.Confidence-c.want.Confidence) > 1e-9 {
			t.Errorf("%s: own %v, heard %v: %v, want %v", c.rule, c.own, c.heard, got, c.want)
		}
	}
}

// I-CP-3: the order of the neighbours changes nothing.
func TestRulesIgnoreOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	for range 50_000 {
		in := slices.DeleteFunc(stated(drawVotes(r)), func(v Stated) bool { return !v.counts() })
		own := Stated{"b", float64(r.IntN(5)) / 4}
		for name, rule := range rules {
			first := rule(own, in)
			r.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
			if again := rule(own, in); again != first {
				t.Fatalf("%s of %v and %v: %v, then %v", name, own, in, first, again)
			}
		}
	}
}
