package metrics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
)

func near(t *testing.T, name string, got *metrics.Rate, value, low, high float64, n int) {
	t.Helper()
	if got == nil {
		t.Errorf("%s: no rate", name)
		return
	}
	for _, p := range [][2]float64{{got.Value, value}, {got.Low, low}, {got.High, high}} {
		if math.Abs(p[0]-p[1]) > 0.00005 {
			t.Errorf("%s: %+v, want %v [%v, %v]", name, *got, value, low, high)
			break
		}
	}
	if got.N != n {
		t.Errorf("%s: n is %d, want %d", name, got.N, n)
	}
}

// Rates are those of package stats, with N; without data there are none.
func TestRates(t *testing.T) {
	near(t, "share", metrics.Share(81, 263), 81.0/263, 0.2553, 0.3662, 263)
	near(t, "difference", metrics.Difference(metrics.Share(56, 70), metrics.Share(48, 80)), 0.2, 0.0524, 0.3339, 70)
	p := metrics.Pairs{}
	for range 36 {
		p.Add(true, true)
	}
	for range 12 {
		p.Add(false, true)
	}
	for range 2 {
		p.Add(true, false)
	}
	near(t, "pairs", p.Difference(), 0.2, 0.0611, 0.3447, 50)
	if got := p.McNemar(); math.Abs(got-212.0/16384) > 1e-12 {
		t.Errorf("McNemar: %v", got)
	}
	one := metrics.Share(1, 2)
	for i, r := range []*metrics.Rate{
		metrics.Share(0, 0), metrics.Difference(nil, one), metrics.Difference(one, nil),
		(&metrics.Pairs{}).Difference(),
		(&metrics.Paired{}).Difference(), (&metrics.Paired{}).ShareDifference(7), metrics.Published(0.9, 0, false),
		(&metrics.Mean{}).Rate(),
	} {
		if r != nil {
			t.Errorf("%d: no data has a rate: %+v", i, *r)
		}
	}
}

func TestPlurality(t *testing.T) {
	for _, c := range []struct {
		in   []synod.Answer
		want synod.Answer
		tie  bool
	}{
		{nil, "", false}, {[]synod.Answer{"", ""}, "", false}, {[]synod.Answer{"a", "", ""}, "a", false},
		{[]synod.Answer{"a", "b"}, "", true}, {[]synod.Answer{"b", "a", "b", "a", "c"}, "", true},
		{[]synod.Answer{"c", "a", "c", "b"}, "c", false},
	} {
		if got, tie := metrics.Plurality(c.in); got != c.want || tie != c.tie {
			t.Errorf("%v: %q %v, want %q %v", c.in, got, tie, c.want, c.tie)
		}
	}
}

func TestAnswersByRound(t *testing.T) {
	note := func(node synod.NodeID, round int, a synod.Answer) journal.Noted {
		return journal.Noted{Node: node, Opinion: synod.Opinion{Round: round, Answer: a}}
	}
	got := metrics.AnswersByRound([]journal.Noted{note(0, 0, "a"), note(1, 0, "b"), note(0, 1, "c"), note(0, 2, "d"),
		note(2, 2, "e"), note(9, 0, "x")}, 3)
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
	tally := metrics.NewTally([]metrics.SeatFacts{{Group: "strong"}, {Group: "strong"}, {Group: "weak"},
		{Adversary: true}})
	tally.Add(metrics.GradedQuestion{ // ends right after round 1
		Rounds: [][]synod.Answer{{"R", "W", "W", "V"}, {"R", "R", "R", "V"}}, Verdicts: verdicts, Agreed: true,
		Decision: "R", Live: true})
	tally.Add(metrics.GradedQuestion{ // captured after round 2; the weak member never answers
		Rounds: [][]synod.Answer{{"R", "W", "", "V"}, {"R", "V", "", "V"}, {"V", "V", "", "V"}}, Verdicts: verdicts,
		Agreed: true, Decision: "V", Live: true})
	tally.Add(metrics.GradedQuestion{ // a tie of all; the honest are right; no decision
		Rounds: [][]synod.Answer{{"R", "R", "W", "W"}}, Verdicts: verdicts, Live: true})
	tally.Add(metrics.GradedQuestion{ // unreadable; a wrong decision that no adversary held
		Rounds: [][]synod.Answer{{"?", "W", "W", "V"}}, Verdicts: verdicts, Agreed: true, Decision: "W"})
	tally.Fail("failed")
	got := tally.Numbers()
	m := got.Metrics
	w := func(name string, r *metrics.Rate, k, n int) {
		t.Helper()
		want := metrics.Share(k, n)
		near(t, name, r, want.Value, want.Low, want.High, n)
	}
	members := func(name string, r *metrics.Rate, k, n int) { // the interval is by question: see TestCoverage
		t.Helper()
		near(t, name, r, float64(k)/float64(n), r.Low, r.High, n)
		if r.Low >= r.Value || r.High <= r.Value {
			t.Errorf("%s: %+v", name, *r)
		}
	}
	members("iaa", m.IAA, 4, 16) // R; R; R R; one absent and one unreadable answer are not right
	members("faa", m.FAA, 5, 16)
	members("iaa present", m.IAAPresent, 4, 14)
	members("faa present", m.FAAPresent, 5, 14)
	w("ra", m.RA, 1, 4)
	w("h_majority", m.HMajority, 2, 4)
	w("decision", m.Decision, 1, 3)
	w("agreed", m.Agreed, 3, 4)
	w("capture", m.Capture, 1, 4)
	w("liveness", m.Liveness, 3, 5)
	w("weak before", got.Groups.Weak.Before, 0, 4)
	w("weak after", got.Groups.Weak.After, 1, 4)
	members("strong before", got.Groups.Strong.Before, 4, 8)
	members("strong after", got.Groups.Strong.After, 4, 8)
	if m.BFTI.Value != m.FAA.Value-m.IAA.Value || m.BFTI.N != 16 || m.BFTIPresent.N != 14 ||
		m.BFTI.Low >= m.BFTI.Value || m.BFTI.High <= m.BFTI.Value {
		t.Errorf("bfti %+v", *m.BFTI)
	}
	for round, k := range []int{4, 6, 5} {
		members("round", got.Rounds[round].Accuracy, k, 16)
		w("weak in round", got.Rounds[round].Weak, []int{0, 1, 1}[round], 4)
		members("strong in round", got.Rounds[round].Strong, []int{4, 5, 4}[round], 8)
	}
	w("majority of first answers", got.Baselines.Majority, 0, 4)
	members("one strong member", got.Baselines.Strong, 4, 8)
	w("one weak member", got.Baselines.Weak, 0, 4)
	if got.Ties != (metrics.Ties{RA: 1, First: 2}) || got.Unscored != 2 || len(got.Rounds) != 3 {
		t.Errorf("ties %+v, unscored %d, rounds %d", got.Ties, got.Unscored, len(got.Rounds))
	}
}

// Seats that are never asked for an answer are in no rate over members, adversaries included.
func TestUnaskedSeats(t *testing.T) {
	tally := metrics.NewTally([]metrics.SeatFacts{{}, {Unasked: true}, {Unasked: true, Adversary: true}})
	tally.Add(metrics.GradedQuestion{Rounds: [][]synod.Answer{{"R", "", ""}}, Verdicts: verdicts, Agreed: true,
		Decision: "R", Live: true})
	got := tally.Numbers().Metrics
	near(t, "iaa", got.IAA, 1, metrics.Share(1, 1).Low, 1, 1)
	near(t, "faa", got.FAA, 1, metrics.Share(1, 1).Low, 1, 1)
}

// Without data the figures are nil, not zero.
func TestNoData(t *testing.T) {
	tally := metrics.NewTally([]metrics.SeatFacts{{}})
	if got := tally.Numbers(); got.Metrics != (metrics.Metrics{}) || got.Groups != (metrics.Groups{}) ||
		len(got.Rounds) != 0 {
		t.Errorf("figures without data: %+v", got)
	}
	tally.Add(metrics.GradedQuestion{Rounds: [][]synod.Answer{{""}}})
	tally.Add(metrics.GradedQuestion{}) // finished, and nobody noted anything
	m := tally.Numbers().Metrics
	if m.IAAPresent != nil || m.FAAPresent != nil || m.BFTIPresent != nil || m.RAPresent != nil ||
		m.HMajorityPresent != nil || m.Decision != nil || m.Capture != nil {
		t.Errorf("an absent answer was scored: %+v", m)
	}
	for name, r := range map[string]*metrics.Rate{"iaa": m.IAA, "faa": m.FAA, "ra": m.RA,
		"h_majority": m.HMajority} {
		near(t, name, r, 0, metrics.Share(0, 2).Low, metrics.Share(0, 2).High, 2)
	}
}

// The definitions of the SAC paper (§5.1) by hand: five honest members answer four questions,
// 20 answers. Before the rounds 5 are right and 8 absent, so IAA is 5/20 = 25 %, not 5/12.
// After them 13 are right: FAA is 65 % and BFTI +40 points. The honest majority is right in
// two questions, in one it is a tie, and in one it holds an answer that nobody can read: 2/4.
func TestDefinitionsOfThePapers(t *testing.T) {
	tally := metrics.NewTally(make([]metrics.SeatFacts, 5))
	for _, held := range [][2][]synod.Answer{
		{{"R", "R", "R", "W", ""}, {"R", "R", "R", "R", "R"}},
		{{"R", "R", "W", "", ""}, {"R", "R", "R", "R", "R"}},
		{{"W", "W", "W", "", ""}, {"R", "R", "W", "W", "V"}},
		{{"W", "W", "", "", ""}, {"R", "?", "?", "", ""}},
	} {
		tally.Add(metrics.GradedQuestion{Rounds: held[:], Verdicts: verdicts})
	}
	numbers := tally.Numbers()
	m := numbers.Metrics
	for name, f := range map[string]struct {
		got  *metrics.Rate
		k, n int
	}{
		"iaa": {m.IAA, 5, 20}, "iaa_present": {m.IAAPresent, 5, 12}, "faa": {m.FAA, 13, 20},
		"faa_present": {m.FAAPresent, 13, 16}, "h_majority": {m.HMajority, 2, 4},
		"h_majority_present": {m.HMajorityPresent, 2, 3}, "ra": {m.RA, 2, 4}, "ra_present": {m.RAPresent, 2, 3},
	} {
		near(t, name, f.got, float64(f.k)/float64(f.n), f.got.Low, f.got.High, f.n)
	}
	if math.Abs(m.BFTI.Value-0.40) > 1e-12 || m.BFTI.N != 20 {
		t.Errorf("BFTI is %+v, want +40 points over 20 answers", *m.BFTI)
	}
	if first, last := numbers.Rounds[0].Accuracy, numbers.Rounds[1].Accuracy; *first != *m.IAA || *last != *m.FAA {
		t.Errorf("rounds %+v and %+v, want IAA and FAA", *first, *last)
	}
	// Graded before and after: 4, 3, 3 and 1 members; of these 1, 1, 2 and 1 gain.
	if math.Abs(m.BFTIPresent.Value-5.0/11) > 1e-12 || m.BFTIPresent.N != 11 {
		t.Errorf("bfti_present %+v", *m.BFTIPresent)
	}
}

// A published share has Wilson's interval. The interval of a published difference
// covers the difference of two such samples with at least the stated probability.
func TestPublished(t *testing.T) {
	want := metrics.Share(27, 30)
	near(t, "share", metrics.Published(0.9, 30, false), want.Value, want.Low, want.High, 30)
	chance := rand.New(rand.NewPCG(1, 1))
	const n, trials = 30, 4000
	covered := 0
	for range trials {
		k := 0
		for range n {
			k += bit(chance.Float64() < 0.6) - bit(chance.Float64() < 0.5)
		}
		r := metrics.Published(float64(k)/n, n, true)
		covered += bit(r.Low <= 0.1 && 0.1 <= r.High)
	}
	if share := float64(covered) / trials; share < 0.93 {
		t.Errorf("the interval covers the true value in %.3f of trials", share)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestMean(t *testing.T) {
	var m metrics.Mean
	m.Add(4)
	if r := m.Rate(); r.Value != 4 || r.N != 1 || r.Low != 0 || r.High != 8 {
		t.Errorf("of one value: %+v", r)
	}
	m.Add(6)
	// variance 2, over two values 1: the half width is Student's quantile of one degree of freedom, 12.706.
	if r := m.Rate(); r.Value != 5 || r.N != 2 || math.Abs(r.High-17.706) > 0.001 || math.Abs(r.Low+7.706) > 0.001 ||
		!r.Count {
		t.Errorf("of two values: %+v", r)
	}
	var same metrics.Mean
	for range 5 {
		same.Add(0.1)
	}
	if r := same.Rate(); math.Abs(r.High-r.Low) > 1e-6 {
		t.Errorf("of equal values: %+v", r)
	}
}

// Both readings count the same replies; without replies there is no figure.
func TestExtraction(t *testing.T) {
	tally := metrics.NewTally([]metrics.SeatFacts{{}})
	held := [][]synod.Answer{{"R"}}
	tally.Add(metrics.GradedQuestion{Rounds: held, Verdicts: verdicts})
	if e := tally.Numbers().Extraction; e != nil {
		t.Errorf("no member wrote text: %+v", e)
	}
	tally.Add(metrics.GradedQuestion{Rounds: held, Verdicts: verdicts, Replies: []task.Grade{
		{Strict: task.Right, Flexible: task.Right}, {Strict: task.Unreadable, Flexible: task.Right},
		{Strict: task.Unreadable, Flexible: task.Unreadable}, {Strict: task.Wrong, Flexible: task.Wrong},
	}})
	e := tally.Numbers().Extraction
	near(t, "strict", e.Strict, 0.25, e.Strict.Low, e.Strict.High, 4)
	near(t, "flexible", e.Flexible, 0.5, e.Flexible.Low, e.Flexible.High, 4)
	if e.Unreadable != 2 || e.Differ != 1 {
		t.Errorf("%+v", e)
	}
}

// A seat that was not asked in a question is in no rate of it: it is not wrong, whoever controls it.
func TestSeatsAskedByQuestion(t *testing.T) {
	seats := []metrics.SeatFacts{{Group: "strong"}, {Group: "strong"}, {Adversary: true}}
	tally, models := metrics.NewTally(seats), metrics.NewModels([]string{"a", "b", "c"}, seats)
	for i, asked := range [][]bool{{true, false, false}, {true, true, false}, {true, false, false}} {
		c := metrics.GradedQuestion{Question: fmt.Sprint(i), Asked: asked, Rounds: [][]synod.Answer{{"R", "", ""}},
			Verdicts: verdicts, Agreed: true, Decision: "R", Live: true}
		if asked[1] {
			c.Rounds[0][1] = "W"
		}
		tally.Add(c)
		models.Add(&c)
	}
	got := tally.Numbers()
	if m := got.Metrics; m.IAA.N != 4 || m.IAA.Value != 0.75 || m.FAA.N != 4 || got.Groups.Strong.Before.N != 4 {
		t.Errorf("iaa %+v, faa %+v", *m.IAA, *m.FAA)
	}
	if got.Baselines.Majority != nil {
		t.Errorf("the plurality of those asked counts as that of all: %+v", *got.Baselines.Majority)
	}
	b := models.Of("b")
	if b.Right.First.N != 1 || b.Right.First.Value != 0 || b.Agreement.N != 1 || b.Asked.N != 3 ||
		math.Abs(b.Asked.Value-1./3) > 1e-12 {
		t.Errorf("%+v", b)
	}
	if a := models.Of("a"); a.Right.First.N != 3 || a.Right.First.Value != 1 {
		t.Errorf("%+v", a)
	}
}
