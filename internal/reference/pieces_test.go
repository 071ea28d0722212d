package reference_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/reference"
)

// Complete graphs have robustness ⌈n/2⌉, a ring 1, and a graph in two parts 0 (LeBlanc et al. 2013).
func TestDigraph(t *testing.T) {
	for n := 2; n <= 6; n++ {
		complete, ring := make(reference.Digraph, n), make(reference.Digraph, n)
		for v := range n {
			complete[v] = (1<<n - 1) &^ (1 << v)
			ring[v] = 1 << ((v + 1) % n)
		}
		if r := complete.Robust(); r != (n+1)/2 || complete.RobustS(r) < 1 || complete.RobustS(n) > 0 ||
			complete.Connectivity() != n-1 {
			t.Errorf("complete, %d nodes: r = %d, connectivity %d", n, r, complete.Connectivity())
		}
		if ring.Robust() != 1 || ring.Connectivity() != 1 || !ring.Rooted() {
			t.Errorf("ring, %d nodes: r = %d", n, ring.Robust())
		}
	}
	parts := reference.Digraph{2, 1, 8, 4}
	if parts.Robust() != 0 || parts.Rooted() || parts.Connectivity() != 0 {
		t.Error("two parts are connected")
	}
}

// The roots and proofs of RFC 6962 §2.1.3, with the roots that the libraries of Certificate Transparency test.
func TestTree(t *testing.T) {
	var tree reference.Tree
	for _, leaf := range []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657",
		"606162636465666768696a6b6c6d6e6f"} {
		b, _ := hex.DecodeString(leaf)
		tree = append(tree, b)
	}
	for n, want := range map[int]string{
		1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	} {
		if got := fmt.Sprintf("%x", tree[:n].Root()); got != want {
			t.Errorf("the root of %d leaves is %s", n, got)
		}
	}
	if in, from := tree.Inclusion(5), tree.Consistency(6); len(in) != 3 || len(from) != 3 ||
		!slices.Equal(in[0], tree[4:5].Root()) || !slices.Equal(from[0], tree[4:6].Root()) {
		t.Errorf("proofs: %x %x", in, from)
	}
}

// Any two quorums share an honest replica; an entry waits for enough replicas.
func TestReplicas(t *testing.T) {
	for n, want := range map[int]int{1: 1, 3: 2, 4: 3, 5: 4, 7: 5} {
		if q := reference.Quorum(n); q != want {
			t.Errorf("a quorum of %d is %d", n, q)
		}
	}
	came := []reference.Held{{"x", "a"}, {"x", "a"}, {"y", "b"}, {"x", "b"}, {"x", "c"}}
	if got := reference.Enter(came, 2); !slices.Equal(got, []int{0, 3, 4}) {
		t.Errorf("entered are %v", got)
	}
}

// One voice with several seats supports once, and answers are joined only if each two are linked by more than F seats.
func TestJudge(t *testing.T) {
	b := &reference.Poll{First: answers("aabc"), Last: answers("aabc"), Voice: []int{0, 0, 1, 2}}
	v := reference.Judge(reference.Rule{Name: "plurality", Support: 1}, b)
	if v.Answer != "a" || v.Voices != 1 || v.Votes[0].Independent != 1 {
		t.Errorf("%+v", v)
	}
	if v = reference.Judge(reference.Rule{Name: "plurality", Support: 2}, b); v.Status != reference.Undecided {
		t.Errorf("two voices: %+v", v)
	}
	pair := [][2]synod.Answer{{"b", "c"}}
	b.Same = [][][2]synod.Answer{pair, pair, nil, pair}
	if v = reference.Judge(reference.Rule{Name: "majority"}, b); v.Status != reference.Undecided || len(v.Votes) != 2 {
		t.Errorf("joined by two: %+v", v)
	}
	b.F = 2
	if v = reference.Judge(reference.Rule{Name: "plurality"}, b); v.Answer != "a" || len(v.Votes) != 3 {
		t.Errorf("joined by F: %+v", v)
	}
	b.Last, b.Failed, b.Same = answers("a..."), []bool{false, true, true, false}, nil
	if v = reference.Judge(reference.Rule{Name: "majority"}, b); v.Status != reference.Undecided {
		t.Errorf("two refused: %+v", v)
	}
	if b.InVoices(1) != 0 || b.InVoices(3) != 2 {
		t.Error("voices of three seats")
	}
	reads := func(s string) bool { return s != "A" }
	for _, c := range []struct {
		written []string
		f       int
		want    string
	}{{[]string{"x", "y", "y"}, 1, "y"}, {[]string{"x", "y", "y"}, 2, "a"}, {[]string{"A", "A"}, 0, "a"},
		{[]string{"x", "y"}, 0, "x"}, {[]string{"", ""}, 0, "a"}} {
		if got := reference.Spelling("a", c.written, c.f, reads); got != c.want {
			t.Errorf("%q with F = %d is printed as %q", c.written, c.f, got)
		}
	}
}

// A certificate is valid with enough signers and what follows from its votes.
func TestCertified(t *testing.T) {
	whole := reference.Digraph{6, 5, 3}
	voter := reference.Shown{Voter: true, First: "a", Final: "a", Signed: true, Genuine: true}
	valid := func(change func(c *reference.Certified)) bool {
		c := &reference.Certified{Answer: "a", Rule: reference.Rule{Name: "majority"}, F: 1, Claim: "c", Right: "c",
			Shown: []reference.Shown{voter, voter, voter}, Signers: []int{0, 2}, Graph: whole, R: 2, Exact: true}
		change(c)
		return c.Valid()
	}
	for what, c := range map[string]struct {
		change func(c *reference.Certified)
		want   bool
	}{
		"true":            {func(*reference.Certified) {}, true},
		"F signers":       {func(c *reference.Certified) { c.Signers = []int{0} }, false},
		"twice":           {func(c *reference.Certified) { c.Signers = []int{0, 0} }, false},
		"agreement":       {func(c *reference.Certified) { c.Agrees = true }, false},
		"all agree":       {func(c *reference.Certified) { c.Agrees, c.Signers = true, []int{0, 1, 2} }, true},
		"r too high":      {func(c *reference.Certified) { c.R = 3 }, false},
		"a lower bound":   {func(c *reference.Certified) { c.R, c.Exact = 1, false }, true},
		"another claim":   {func(c *reference.Certified) { c.Claim = "more" }, false},
		"no claim":        {func(c *reference.Certified) { c.Claim = "none" }, true},
		"support":         {func(c *reference.Certified) { c.Rule.Support = 4 }, false},
		"unsigned answer": {func(c *reference.Certified) { c.Shown[1].Signed = false }, false},
		"a lifted vote":   {func(c *reference.Certified) { c.Shown[1].Genuine = false }, false},
		"no majority":     {func(c *reference.Certified) { c.Shown[1].Final, c.Shown[2].Final = "b", "b" }, false},
	} {
		if valid(c.change) != c.want {
			t.Errorf("%s: valid is %v", what, !c.want)
		}
	}
}

// A slow agent hears the first message of a neighbour, asks failed calls again, and ends a round early.
func TestAgent(t *testing.T) {
	slot := synod.Slot{Name: "say"}
	a := reference.Agent{Seat: synod.Seat{Peers: []synod.NodeID{1, 2}}, Remember: true, Acts: []reference.Act{
		{Ask: []string{"x"}}, {Slot: slot, At: 9, Early: true}, {Ask: []string{"x", "y", "y"}}}}
	a.Go(0)
	a.Replied(0, 0, "one", true)
	a.Replied(0, 0, "two", true)
	for _, m := range []synod.Message{{From: 1, Slot: slot, Body: []byte("a")}, {From: 1, Slot: slot},
		{From: 3, Slot: slot}, {From: 2, Slot: slot}, {From: 2, Slot: slot, Body: []byte("late")}} {
		a.Heard(1, m)
	}
	if len(a.Results) != 2 || a.Results[0].Replies[0] != "one" || len(a.Results[1].Heard) != 2 ||
		string(a.Results[1].Heard[0].Body) != "a" || len(a.Late) != 1 || a.Calls() != 2 {
		t.Errorf("%+v, late %v, %d calls", a.Results, a.Late, a.Calls())
	}
	a.Replied(2, 1, "why", false)
	if len(a.Results) != 3 || !slices.Equal(a.Results[2].Replies, []string{"one", "why", "why"}) {
		t.Errorf("%+v", a.Results)
	}
}

// A decision withstands what all ways of leaving seats out or having them say something else leave of it.
func TestPollWithstands(t *testing.T) {
	for _, c := range []struct {
		rule             reference.Rule
		last             string
		voice            []int
		ignored, changed int
	}{
		{reference.Rule{Name: "plurality"}, "aaab", []int{0, 1, 2, 3}, 1, 0},
		{reference.Rule{Name: "plurality"}, "aaa..", []int{0, 1, 2, 3, 4}, 0, 0}, // one more that is silent is too many
		{reference.Rule{Name: "majority"}, "aaaab", []int{0, 1, 2, 3, 4}, 2, 1},
		{reference.Rule{Name: "plurality", Support: 4}, "aaaaaaa", []int{0, 0, 1, 1, 2, 2, 3}, 0, 0},
		{reference.Rule{Name: "plurality", Support: 3}, "aaaaaaa", []int{0, 0, 1, 1, 2, 2, 3}, 2, 2},
	} {
		b := &reference.Poll{First: answers(c.last), Last: answers(c.last), Voice: c.voice}
		decides := func(b *reference.Poll) synod.Answer { return reference.Judge(c.rule, b).Answer }
		ignored, changed := b.Withstands("a", decides)
		if ignored != c.ignored || changed != c.changed {
			t.Errorf("%s by %+v: %d and %d, want %d and %d", c.last, c.rule, ignored, changed, c.ignored, c.changed)
		}
		if !b.VoicesStay("a", b.InVoices(ignored), b.InVoices(changed), decides) {
			t.Errorf("%s by %+v: voices change it", c.last, c.rule)
		}
	}
	b := &reference.Poll{First: answers("aab"), Last: answers("aab"), Voice: []int{0, 1, 2},
		Sure: []float64{.5, .4, .6}}
	if b.Heaviest() != "a" || b.ByMean() != "b" {
		t.Errorf("the heaviest is %q, and the highest mean has %q", b.Heaviest(), b.ByMean())
	}
	b.Sure[2] = .9
	if b.Heaviest() != synod.None {
		t.Error("a tie of weights is a win")
	}
}

// The probability of an answer is that of a logit, here computed by hand, and the F votes that carry it do not count.
func TestOdds(t *testing.T) {
	o := &reference.Odds{Labels: 98, LogOdds: []float64{1, 1, 2}, Own: []float64{0, 0, 0}, Ability: 1,
		Same: [][]float64{{0, .5, 0}, {.5, 0, 0}, {0, 0, 0}}, Together: 2}
	e := math.Exp(1.0) // of two votes with log-odds 1 that are half the time wrong alike, as of one
	for f, want := range []float64{e / (1 + e + math.Exp(2)), e / (1 + e)} {
		if p := o.Trimmed(answers("aab"), "a", f); math.Abs(p-want) > 1e-12 {
			t.Errorf("F = %d: %v, want %v", f, p, want)
		}
	}
	if p := o.Trimmed(answers("aab"), "b", 1); p != 0 {
		t.Errorf("without its only vote an answer has the probability %v", p)
	}
	if p := o.Stated(1); p != .99 {
		t.Errorf("after 98 questions 1 is stated as %v", p)
	}
}

// A value is merged as docs/use/forms.md says.
func TestMerger(t *testing.T) {
	text, number := &reference.Part{How: "vote"}, &reference.Part{How: "median"}
	top := &reference.Part{How: "object", Slots: []reference.Slot{{Name: "n", Required: true, Part: number},
		{Name: "t", Part: text}}}
	value := func(n int64, t string) map[string]any {
		v := map[string]any{"n": big.NewRat(n, 1)}
		if t != "" {
			v["t"] = t
		}
		return v
	}
	for _, c := range []struct {
		f     int
		never bool
		in    []map[string]any
		want  string
	}{
		{0, false, []map[string]any{value(1, "x"), value(1, "x"), value(2, "y")}, `{"n":1,"t":"x"}`}, // whole
		{0, false, []map[string]any{value(1, "x"), value(2, "x"), value(3, "y")}, `{"n":2,"t":"x"}`},
		{0, false, []map[string]any{value(1, "x"), value(2, "y"), value(3, "z")}, `{"n":2}`}, // t is optional
		{0, false, []map[string]any{value(1, ""), value(2, ""), value(3, "y")}, `{"n":2}`},
		{1, false, []map[string]any{value(9, "x"), value(2, "x"), value(1, "x")}, `{"n":2,"t":"x"}`},
		{2, false, []map[string]any{value(9, "x"), value(2, "x"), value(1, "x")}, "null"}, // too few numbers
		{0, true, []map[string]any{value(1, "x"), value(2, "y"), value(3, "x")}, "null"},  // nobody gave 2 and x
	} {
		m := &reference.Merger{Rule: reference.Rule{Name: "majority"}, F: c.f, Seats: len(c.in), Top: top,
			Never: c.never}
		var in []reference.Gave
		for i, v := range c.in {
			in = append(in, reference.Gave{Seat: i, Value: v, Weight: 1e9})
		}
		if _, got := m.Decide(in, len(in)); reference.Text(got) != c.want {
			t.Errorf("F=%d of %v: %s, want %s", c.f, c.in, reference.Text(got), c.want)
		}
	}
}
