package report_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// measured returns a cell in which questions have the given shares of right answers.
func measured(name string, shares []float64) report.Cell {
	var n metrics.Count
	each := map[string]float64{}
	for i, share := range shares {
		id := fmt.Sprint("q", i)
		each[id] = share
		for k := range 20 {
			n.Add(id, float64(k) < 20*share)
		}
	}
	r := &report.Report{Repeat: 20, Questions: 20 * len(shares), Finished: 20 * len(shares),
		Metrics: metrics.Metrics{FAA: n.Rate()}}
	c := report.NewCell(name, nil, r, map[string]report.Figure{"faa": {Value: .6, N: 10}}, nil)
	c.ByQuestion(map[string]map[string]float64{"faa": each})
	return c
}

// ramp is n shares around a mean, which differ as much as the spread says.
func ramp(n int, mean, spread float64) (shares []float64) {
	for i := range n {
		shares = append(shares, mean+spread*(float64(i)/float64(n-1)-.5))
	}
	return shares
}

func compared(is report.Direction, margin float64, control ...report.Sides) report.PaperClaim {
	return report.PaperClaim{Name: "c", Figure: "faa", Against: "faa", Is: is, Times: 1, Margin: margin,
		Comparisons: []report.Sides{{Of: []string{"high"}, Than: []string{"low"}}},
		Control:     report.Control{Name: "k", Comparisons: control}}
}

func judged(c report.PaperClaim, cells ...report.Cell) report.ClaimResult {
	var g report.Grid
	for _, cell := range cells {
		g.Add(cell)
	}
	g.Judge([]report.PaperClaim{c})
	return g.Claims[0]
}

// A claim is reproduced only if it holds and its control does not.
func TestClaimNeedsItsControl(t *testing.T) {
	cells := []report.Cell{measured("high", ramp(30, .7, .5)), measured("low", ramp(30, .5, .5)),
		measured("same", ramp(30, .52, .5))}
	fails := report.Sides{Of: []string{"same"}, Than: []string{"low"}}
	too := report.Sides{Of: []string{"high"}, Than: []string{"same"}}
	for _, c := range []struct {
		what    string
		claim   report.PaperClaim
		verdict string
	}{
		{"it holds and the control fails", compared(report.More, 5, fails), report.Reproduced},
		{"the control holds too", compared(report.More, 5, too), report.ControlToo},
		{"one of two controls fails", compared(report.More, 5, too, fails), report.Reproduced},
		{"the control has no cell", compared(report.More, 5, report.Sides{Of: []string{"none"}}), report.NoControlYet},
		{"the difference is 20 and must be above 25", compared(report.More, 25, fails), report.Fails},
		{"the difference is 20 and must be below", compared(report.AtMost, 5, fails), report.Fails},
		{"no cell", report.PaperClaim{Figure: "faa", Against: "faa", Is: report.More, Times: 1,
			Comparisons: []report.Sides{{Of: []string{"none"}}}}, report.NotRun},
	} {
		if r := judged(c.claim, cells...); r.Verdict != c.verdict {
			t.Errorf("%s: %s, not %s (%+v)", c.what, r.Verdict, c.verdict, *r.Comparisons[0].Difference)
		}
	}
}

// Twenty repeats of three questions are three questions: a difference of 20 points between them is undecided, whatever
// the repeats are.
func TestClaimsAreByQuestion(t *testing.T) {
	r := judged(compared(report.More, 0), measured("high", []float64{.9, .2, 1}),
		measured("low", []float64{.2, .9, .4}))
	if r.Verdict != report.Undecided || r.Comparisons[0].Questions != 3 {
		t.Errorf("%s with %+v", r.Verdict, r.Comparisons[0])
	}
	paired := judged(compared(report.More, 0), measured("high", ramp(30, .6, .8)), measured("low", ramp(30, .5, .8)))
	d := paired.Comparisons[0].Difference
	if paired.State != report.Holds || math.Abs(d.Value-.1) > .01 {
		t.Errorf("every question is right 10 points more often: %s, %+v", paired.State, *d)
	}
}

// Every game is a question of its own, though all games ask the same; a cell whose figures come from another run has
// the questions of that one.
func TestClaimsOfGames(t *testing.T) {
	played := func(name string, valid int) report.Cell {
		return report.NewCell(name, nil, &report.Report{Repeat: 25, Questions: 25, Finished: 25,
			Endings: []metrics.Ending{{Name: "valid", Rate: metrics.Share(valid, 25)}}}, nil, nil)
	}
	c := compared(report.Less, 0)
	c.Figure, c.Against, c.Times = "valid", "valid", .5
	r := judged(c, played("high", 2), played("low", 24))
	if r.State != report.Holds || r.Comparisons[0].Questions != 25 || r.Comparisons[0].Difference.N != 25 {
		t.Errorf("%s, %+v", r.State, r.Comparisons[0])
	}
	high := measured("high", ramp(30, .7, .5))
	faa := map[string]*metrics.Rate{"faa": metrics.Share(300, 600)}
	low := report.NewComputed("low", nil, &report.Figures{Rates: faa}, 600, nil, "from another run", nil)
	low.Derive([]report.Cell{high}, map[string]string{"faa": "faa"})
	if r := judged(compared(report.More, 0), high, low); r.Comparisons[0].Questions != 30 {
		t.Errorf("%d questions", r.Comparisons[0].Questions)
	}
}

// A claim about a figure that the experiment was built to have is assumed, whatever the figure is.
func TestAssumedClaims(t *testing.T) {
	high, low := measured("high", ramp(30, .9, .1)), measured("low", ramp(30, .1, .1))
	low.Assumed = report.Assume("it was fitted", "faa")
	if r := judged(compared(report.More, 5), high, low); r.Verdict != report.Assumed || r.Why != "it was fitted" {
		t.Errorf("%s: %s", r.Verdict, r.Why)
	}
	var n report.ClaimCounts
	r := judged(compared(report.More, 5), high, low)
	if n.Add(&r); n.CouldFail != 0 || n.Assumed != 1 {
		t.Errorf("%+v", n)
	}
}

// At least halves is d = a − 0.5 b < 0.
func TestClaimOfRatio(t *testing.T) {
	c := compared(report.Less, 0)
	c.Times = .5
	if r := judged(c, measured("high", ramp(30, .2, .1)), measured("low", ramp(30, .8, .1))); r.State != report.Holds {
		t.Errorf("20 %% is less than half of 80 %%: %s", r.State)
	}
	if r := judged(c, measured("high", ramp(30, .6, .1)), measured("low", ramp(30, .8, .1))); r.State != report.Fails {
		t.Errorf("60 %% is more than half of 80 %%: %s", r.State)
	}
}

// The power is that of the paper's difference: with none it is 2.5 %, and it grows with the questions.
func TestClaimPower(t *testing.T) {
	power := func(n int, expect float64) float64 {
		c := compared(report.More, 0)
		high, low := measured("high", ramp(n, .7, .5)), measured("low", ramp(n, .5, .9))
		delete(high.Paper, "faa")
		c.Expect = &expect
		return *judged(c, high, low).Power
	}
	if p := power(30, 0); math.Abs(p-.025) > .001 {
		t.Errorf("without a difference the power is %.3f", p)
	}
	if few, many := power(5, 20), power(60, 20); few >= many || many < .5 {
		t.Errorf("the power is %.2f with 5 and %.2f with 60 questions", few, many)
	}
	// The paper's own figures are equal, so a claim of a difference has no power.
	r := judged(compared(report.More, 5), measured("high", ramp(30, .7, .5)), measured("low", ramp(30, .5, .5)))
	if *r.Power > .02 {
		t.Errorf("the paper has no difference, and the power is %.3f", *r.Power)
	}
}

// The claims of several experiments are one table, with one sentence for all.
func TestClaimsOfExperiments(t *testing.T) {
	var all report.Claims
	for _, name := range []string{"one", "two"} {
		g := wide()
		g.Preset = name
		all.Add(g)
	}
	for format, wants := range map[string][]string{
		"text": {"one · a paper", "two · a paper", "the text of e",
			"10 claims; 8 of them could have failed here", "In 4 of 6 controls",
			"holds, control too: the protocol is not what makes the difference"},
		"md":    {"| one | the text of a | § 1 |", "10 claims; 8 of them"},
		"latex": {"two & the text of e"},
		"json":  {`"could_fail": 8`, `"experiment": "two"`, `"verdict": "assumed"`},
	} {
		var b strings.Builder
		if err := all.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
				t.Errorf("%s lacks %q:\n%s", format, want, b.String())
			}
		}
	}
}

// The claims of several experiments fit into 100 columns where no width is known.
func TestClaimsFit(t *testing.T) {
	g := &report.Grid{Preset: "sac-table1", Source: "arXiv 2605.09076, Table 1", Claims: []report.ClaimResult{{
		Text: "SAC's H-Majority exceeds CP-WBFT's on every graph", Cite: "§5.3, §6, Table 1",
		Verdict: report.ControlToo, State: report.Holds,
		Comparisons: []report.Contrast{{At: "merg", State: report.Holds,
			Difference: &metrics.Rate{Value: -0.276, Low: -0.364, High: -0.181, N: 30}, Paper: new(-0.104)}},
		Control: report.ControlResult{Name: "random-confidence", State: report.Undecided}, Power: new(0.52),
	}}, Report: report.Report{MembersKind: []string{"simulated"}}}
	var all report.Claims
	all.Add(g)
	var b strings.Builder
	if err := all.Write(&b, "text"); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"sac-table1 · arXiv", "claim ", "holds, control", "1 claims"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
