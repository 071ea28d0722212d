package metrics_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/metrics"
	"synod.dev/synod/task"
)

func near(t *testing.T, what string, got *metrics.Rate, value, low, high float64, n int) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: there is none", what)
		return
	}
	for _, p := range [][2]float64{{got.Value, value}, {got.Low, low}, {got.High, high}} {
		if math.Abs(p[0]-p[1]) > 0.00005 {
			t.Errorf("%s: %+v, want %v [%v, %v]", what, *got, value, low, high)
			break
		}
	}
	if got.N != n {
		t.Errorf("%s: n is %d, want %d", what, got.N, n)
	}
}

// Newcombe, Statistics in Medicine 17 (1998), Table I: Wilson's score limits.
func TestWilson(t *testing.T) {
	near(t, "81/263", metrics.Wilson(81, 263), 81.0/263, 0.2553, 0.3662, 263)
	near(t, "15/148", metrics.Wilson(15, 148), 15.0/148, 0.0624, 0.1605, 148)
	near(t, "0/20", metrics.Wilson(0, 20), 0, 0, 0.1611, 20)
	near(t, "1/29", metrics.Wilson(1, 29), 1.0/29, 0.0061, 0.1718, 29)
	if metrics.Wilson(0, 0) != nil {
		t.Error("no data has a rate")
	}
}

// The limits are where the score test just rejects: the definition, by bisection.
func TestWilsonTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 500).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		p := float64(k) / float64(n)
		outside := func(q float64) bool { return math.Abs(p-q) > 1.959963984540054*math.Sqrt(q*(1-q)/float64(n)) }
		edge := func(in, out float64) float64 {
			for range 80 {
				if mid := (in + out) / 2; outside(mid) {
					out = mid
				} else {
					in = mid
				}
			}
			return in
		}
		r := metrics.Wilson(k, n)
		if low, high := edge(p, 0), edge(p, 1); math.Abs(r.Low-low) > 1e-9 || math.Abs(r.High-high) > 1e-9 {
			t.Fatalf("%d/%d: [%v, %v], want [%v, %v]", k, n, r.Low, r.High, low, high)
		}
	})
}

// Newcombe, Statistics in Medicine 17 (1998), on paired data, Table II, method 10.
func TestDifference(t *testing.T) {
	p := metrics.Pairs{{0, 12}, {2, 36}} // 36 right twice, 12 only after, 2 only before
	near(t, "36,12,2,0", p.Difference(), 0.2, 0.0569, 0.3404, 50)
	p = metrics.Pairs{{54, 0}, {0, 0}}
	near(t, "nothing ever right", p.Difference(), 0, -0.0664, 0.0664, 54)
	if (&metrics.Pairs{}).Difference() != nil {
		t.Error("no pairs have a difference")
	}
}

func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		b, c int
		want float64
	}{{0, 0, 1}, {5, 5, 1}, {0, 5, 0.0625}, {1, 9, 22.0 / 1024}, {12, 2, 212.0 / 16384}} {
		p := metrics.Pairs{{3, c.b}, {c.c, 7}}
		if got := p.McNemar(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%d against %d: %v, want %v", c.b, c.c, got, c.want)
		}
	}
}

// Against exact rationals.
func TestMcNemarTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, c := rapid.IntRange(0, 150).Draw(t, "b"), rapid.IntRange(0, 150).Draw(t, "c")
		n, sum := int64(b+c), new(big.Int)
		for k := range int64(min(b, c)) + 1 {
			sum.Add(sum, new(big.Int).Binomial(n, k))
		}
		want := new(big.Rat).SetFrac(sum.Lsh(sum, 1), new(big.Int).Lsh(big.NewInt(1), uint(n)))
		w, _ := want.Float64()
		p := metrics.Pairs{{0, b}, {c, 0}}
		if got := p.McNemar(); math.Abs(got-min(w, 1)) > 1e-9 {
			t.Fatalf("%d against %d: %v, want %v", b, c, got, min(w, 1))
		}
	})
}

func TestBootstrap(t *testing.T) {
	var d []float64
	for i := range 200 {
		d = append(d, float64(i%4)/4) // mean 3/8, variance 5/64
	}
	a, b := metrics.Bootstrap(d, 7), metrics.Bootstrap(d, 7)
	if *a != *b {
		t.Errorf("one seed gave %+v and %+v", *a, *b)
	}
	half := 1.96 * math.Sqrt(5.0/64/200) // the normal interval, which is close
	if a.Value != 0.375 || math.Abs(a.Low-(0.375-half)) > 0.004 || math.Abs(a.High-(0.375+half)) > 0.004 {
		t.Errorf("%+v, want about 0.375 ± %v", *a, half)
	}
	if metrics.Bootstrap(nil, 7) != nil {
		t.Error("no data has a mean")
	}
}

func TestPlurality(t *testing.T) {
	for _, c := range []struct {
		in   []synod.Answer
		want synod.Answer
		tie  bool
	}{
		{nil, "", false}, {[]synod.Answer{"", ""}, "", false}, {[]synod.Answer{"a", "", ""}, "a", false},
		{[]synod.Answer{"a", "b"}, "", true}, {[]synod.Answer{"b", "a", "b", "a", "c"}, "", true}, {[]synod.Answer{"c", "a", "c", "b"}, "c", false},
	} {
		if got, tie := metrics.Plurality(c.in); got != c.want || tie != c.tie {
			t.Errorf("%v: %q %v, want %q %v", c.in, got, tie, c.want, c.tie)
		}
	}
}

func TestHeld(t *testing.T) {
	note := func(node synod.NodeID, round int, a synod.Answer) journal.Noted {
		return journal.Noted{Node: node, Opinion: synod.Opinion{Round: round, Answer: a}}
	}
	got := metrics.Held([]journal.Noted{note(0, 0, "a"), note(1, 0, "b"), note(0, 1, "c"), note(0, 2, "d"), note(2, 2, "e"), note(9, 0, "x")}, 3)
	want := [][]synod.Answer{{"a", "b", ""}, {"c", "b", ""}, {"d", "b", "e"}}
	for t1 := range want {
		for i := range want[t1] {
			if len(got) != len(want) || got[t1][i] != want[t1][i] {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
}

var verdicts = map[synod.Answer]task.Verdict{"R": task.Right, "W": task.Wrong, "V": task.Wrong, "?": task.Unreadable}

// Two strong, one weak, one adversary; four questions counted by hand.
func TestTally(t *testing.T) {
	tally := metrics.NewTally([]metrics.Seat{{Group: "strong"}, {Group: "strong"}, {Group: "weak"}, {Adversary: true}})
	tally.Add(metrics.Case{ // ends right after round 1
		Rounds: [][]synod.Answer{{"R", "W", "W", "V"}, {"R", "R", "R", "V"}}, Verdicts: verdicts, Agreed: true, Decision: "R", Live: true})
	tally.Add(metrics.Case{ // captured after round 2; the weak one never answers
		Rounds: [][]synod.Answer{{"R", "W", "", "V"}, {"R", "V", "", "V"}, {"V", "V", "", "V"}}, Verdicts: verdicts, Agreed: true, Decision: "V", Live: true})
	tally.Add(metrics.Case{ // a tie of all; the honest are right; no decision
		Rounds: [][]synod.Answer{{"R", "R", "W", "W"}}, Verdicts: verdicts, Live: true})
	tally.Add(metrics.Case{ // unreadable; a wrong decision that no adversary pushed
		Rounds: [][]synod.Answer{{"?", "W", "W", "V"}}, Verdicts: verdicts, Agreed: true, Decision: "W"})
	tally.Fail()
	got := tally.Numbers()
	m := got.Metrics
	w := func(what string, r *metrics.Rate, k, n int) {
		t.Helper()
		want := metrics.Wilson(k, n)
		near(t, what, r, want.Value, want.Low, want.High, n)
	}
	w("iaa", m.IAA, 4, 14) // R; R; R R; 16 answers less one silent, one unreadable
	w("faa", m.FAA, 5, 14)
	w("ra", m.RA, 1, 4)
	w("h_majority", m.HMajority, 2, 4)
	w("decision", m.Decision, 1, 3)
	w("agreed", m.Agreed, 3, 4)
	w("capture", m.Capture, 1, 4)
	w("liveness", m.Liveness, 3, 5)
	w("weak before", got.Groups.Weak.Before, 0, 3)
	w("weak after", got.Groups.Weak.After, 1, 3)
	w("strong before", got.Groups.Strong.Before, 4, 7)
	w("strong after", got.Groups.Strong.After, 4, 7)
	if m.BFTI.Value != m.FAA.Value-m.IAA.Value || m.BFTI.N != 14 || m.BFTI.Low >= m.BFTI.Value || m.BFTI.High <= m.BFTI.Value {
		t.Errorf("bfti %+v", *m.BFTI)
	}
	for round, k := range []int{4, 6, 5} {
		w("round", got.Rounds[round].Accuracy, k, 14)
		w("weak in round", got.Rounds[round].Weak, []int{0, 1, 1}[round], 3)
		w("strong in round", got.Rounds[round].Strong, []int{4, 5, 4}[round], 7)
	}
	w("majority of first answers", got.Baselines.Majority, 0, 4)
	w("one strong member", got.Baselines.Strong, 4, 7)
	w("one weak member", got.Baselines.Weak, 0, 3)
	if got.Ties != (metrics.Ties{RA: 1, First: 2}) || got.Unscored != 2 || len(got.Rounds) != 3 {
		t.Errorf("ties %+v, unscored %d, rounds %d", got.Ties, got.Unscored, len(got.Rounds))
	}
}

// Where one seat answers for all, the others are in no figure, liars or not.
func TestSeatsWithoutPart(t *testing.T) {
	tally := metrics.NewTally([]metrics.Seat{{}, {Mute: true}, {Mute: true, Adversary: true}})
	tally.Add(metrics.Case{Rounds: [][]synod.Answer{{"R", "", ""}}, Verdicts: verdicts, Agreed: true, Decision: "R", Live: true})
	got := tally.Numbers().Metrics
	near(t, "iaa", got.IAA, 1, metrics.Wilson(1, 1).Low, 1, 1)
	near(t, "faa", got.FAA, 1, metrics.Wilson(1, 1).Low, 1, 1)
}

// No data is not zero.
func TestNothing(t *testing.T) {
	tally := metrics.NewTally([]metrics.Seat{{}})
	if got := tally.Numbers(); got.Metrics != (metrics.Metrics{}) || got.Groups != (metrics.Groups{}) || len(got.Rounds) != 0 {
		t.Errorf("numbers out of nothing: %+v", got)
	}
	tally.Add(metrics.Case{Rounds: [][]synod.Answer{{""}}})
	m := tally.Numbers().Metrics
	if m.IAA != nil || m.FAA != nil || m.BFTI != nil || m.RA != nil || m.Decision != nil || m.Capture != nil {
		t.Errorf("silence was scored: %+v", m)
	}
}
