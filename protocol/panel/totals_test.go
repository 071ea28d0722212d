package panel

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/golden"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/answer"
	"synod.dev/synod/protocol/grade"
)

// markOf is a grade of an answer's own text.
func markOf(of int, text synod.Answer, points float64) Mark {
	g := grade.Uniform(points)
	return Mark{Of: synod.NodeID(of), Text: sumOf(text), Grades: &g}
}

// A grade of one's own answer, of another text or out of range does not count, and neither does a second one. What is
// missing uses up F, and beyond F there is no total.
func TestWhichGradesCount(t *testing.T) {
	given := []synod.Answer{"Zero.", "One.", "Two.", "Three."}
	a, b, last := markOf(0, "Zero.", 10), markOf(0, "Zero.", 12), markOf(0, "Zero.", 14)
	for what, c := range map[string]struct {
		first  []Mark // by seat: what it says of answer 0 at first
		judges int
		total  float64
		why    string
	}{
		"all":             {[]Mark{{}, a, b, last}, 3, 60, ""},
		"its own":         {[]Mark{markOf(0, "Zero.", 20), a, b, last}, 3, 60, ""},
		"another text":    {[]Mark{{}, markOf(0, "Zero!", 10), b, last}, 2, 65, ""},
		"out of range":    {[]Mark{{}, markOf(0, "Zero.", 21), b, last}, 2, 65, ""},
		"two are missing": {[]Mark{{}, {}, {}, last}, 1, 0, "2 of 3 members sent no grades of it; f is 1"},
	} {
		marks := make([][]Mark, len(given))
		for by, m := range c.first {
			if m.Grades != nil {
				marks[by] = []Mark{m, markOf(0, "Zero.", 1)}
			}
		}
		got := New().totals(given, marks, 1)[0]
		if got.Judges != c.judges || got.Total != c.total || got.Why != c.why {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// Between equal totals a hash of all texts decides, so that an author cannot choose its text for it.
func TestTies(t *testing.T) {
	wins := map[synod.NodeID]int{}
	for q := range 400 {
		all := make([]Total, 4)
		for i := range all {
			all[i] = Total{Of: synod.NodeID(i), Answer: synod.Answer(fmt.Sprintf("Text %d of %d.", i, q)), Total: 50}
		}
		all[3].Total, all[2].Why = 49, "no answer"
		top := best(all)
		wins[top.Of]++
		slices.Reverse(all[:2])
		all[0].Answer, all[1].Answer = all[1].Answer, all[0].Answer // the order of the texts is the same
		if again := best(all); again.Answer != top.Answer {
			t.Fatalf("question %d: %q, and %q in another order", q, top.Answer, again.Answer)
		}
	}
	if wins[0] < 150 || wins[1] < 150 || len(wins) != 2 {
		t.Errorf("ties were won %v times", wins)
	}
	if best([]Total{{Why: "none"}}) != nil {
		t.Error("an answer without a total is best")
	}
}

// How many seats and calls the protocol needs.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		n, f int
		want string
	}{{4, 1, ""}, {6, 2, ""}, {2, 0, ""},
		{4, 2, "with 4 seats, of which 3 grade an answer, trimmed-mean tolerates at most f = 1"},
		{4, -1, "f is -1"}, {1, 0, "1 seats are too few"}, {6, 3, "at most f = 2"}} {
		err := New().CheckCast(make([]synod.Role, c.n), c.f)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d seats, f = %d: %v", c.n, c.f, err)
		}
	}
	p := New()
	p.Aggregate = "none"
	if p.CheckCast(make([]synod.Role, 4), 1) == nil {
		t.Error("an unknown aggregate is accepted")
	}
	p = New()
	for i, want := range [][2]int{{25, 1}, {29, 2}, {34, 3}} {
		p.Claims, p.Drop = i > 0, i > 1
		if p.Calls(make([]int, 5)) != want[0] || p.MaxRounds() != want[1] {
			t.Errorf("%+v: %d calls, %d rounds", p, p.Calls(make([]int, 5)), p.MaxRounds())
		}
	}
	for aggregate, want := range map[string]string{"trimmed-mean": "best-of", "median-total": "best-of", "krum": ""} {
		if p.Aggregate = aggregate; true {
			if name, _ := p.Guarantee(1, 0, false); name != want {
				t.Errorf("%s guarantees %q", aggregate, name)
			}
		}
	}
}

// Prompts whose details are equal are the same prompt, and simulated members answer them in a form that can be read.
func TestDetails(t *testing.T) {
	a, b := Checking{Parts: []string{"x"}}, Checking{Parts: []string{"x"}, Before: "old"}
	c := Rewriting{Parts: []string{"x"}}
	for i, same := range []bool{a.Same(a), !a.Same(b), !a.Same(Checking{Parts: []string{"y"}}), !a.Same(c), c.Same(c),
		!c.Same(Rewriting{})} {
		if !same {
			t.Errorf("comparison %d is wrong", i)
		}
	}
	p := &synod.Prompt{Candidate: "One is so. Two is not.  Three is. Four."}
	count := map[Verdict]int{}
	d := Checking{Parts: slices.Repeat([]string{"x"}, 60), Before: "old"}
	m := synod.Simulation{Ability: 0.5, Rand: rand.New(rand.NewPCG(1, 1))}
	for range 50 {
		verdicts, faithful, err := verdictsIn(new(d.Simulate(p, m)), d)
		if err != nil || faithful != Supported || len(verdicts) != 60 {
			t.Fatal(verdicts, faithful, err)
		}
		for _, v := range verdicts {
			count[v]++
		}
	}
	if count[Supported] < 1350 || count[Supported] > 1650 || count[Contradicted] < 650 || count[Contradicted] > 850 {
		t.Errorf("of 3,000 verdicts: %v, want a half, a quarter and a quarter", count)
	}
	if s := (Rewriting{Parts: []string{"Two is not."}}).Simulate(p, m).Text; strings.Contains(s, "Two") {
		t.Error(s)
	}
	if _, _, err := verdictsIn(new(text(`{"sentence_1": "perhaps"}`)), a); err == nil {
		t.Error("an unknown verdict is read")
	}
}

// The opinions of a council that discusses a text, and how they are shown, stay as they are: journals keep them.
func TestSameOpinions(t *testing.T) {
	sentences := []string{"The Moon pulls.", "This is planted.", "The Sun pulls."}
	p := New()
	p.Claims, p.Drop = true, true
	x := &trial{p: p, n: 7, f: 2, seed: 4, reply: func(by synod.NodeID, q *synod.Prompt) synod.Reply {
		switch {
		case by == 6 && q.Purpose != synod.Answering && q.Detail == synod.Detail(grade.Detail{}):
			return synod.Reply{Status: synod.Unavailable}
		case by == 5 && q.Purpose == synod.Answering:
			return text("")
		}
		return discussing(by, q, 4, sentences, func(id synod.NodeID) bool { return id < 2 })
	}}
	last := x.play(t)
	var s strings.Builder
	for i := range last {
		o := last[i]
		fmt.Fprintf(&s, "n%d round %d holds %v (%s) silent %v failed %d unreadable %d\n  %v\n", i, o.Round, o.Answer,
			o.Source, o.Silent, o.Failed, o.Unreadable, recordOf(&o))
	}
	a, enough, why := p.Accept(last, nil, 2, nil)
	fmt.Fprintf(&s, "%v %v %s\n", a, enough, why)
	for _, c := range p.ListClaims(last, 2) {
		fmt.Fprintf(&s, "claim %+v\n", c)
	}
	for _, g := range p.Graded(last, 2) {
		fmt.Fprintf(&s, "graded n%d %v\n", g.Of, g.Answer)
	}
	name := func(id synod.NodeID) string { return fmt.Sprint("m", id) }
	shown := p.Present(last, protocol.View{F: 2, Accepted: a, Name: name})
	value, err := json.Marshal(shown.Value)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&s, "%s\n%s\n%s\n", shown.Head, strings.Join(shown.Lines, "\n"), value)
	silent := slices.Clone(last)
	for i := range 3 {
		silent[i].Record = nil
	}
	a, enough, why = p.Accept(silent, nil, 2, nil)
	fmt.Fprintf(&s, "three without grades: %v %v %s\n", a, enough, why)
	golden.Compare(t, "testdata/opinions.golden", s.String())
	if !p.Replied(0, &last[0], nil) || p.Replied(0, &synod.Opinion{}, nil) {
		t.Error("who holds an answer has replied")
	}
}

// A new text stands if nothing in it is disputed, more than F others find nothing new in it, and at most F contradict
// that. A sentence is disputed by more than F critics, whoever they are.
func TestWhatStands(t *testing.T) {
	votes := func(faithful, against, critics int) []*Check {
		all := []*Check{{Of: 0, Faithful: Supported, Marks: []Verdict{Supported}}, nil} // the author has no vote
		for k := range 6 {
			c := &Check{Faithful: CannotTell, Marks: []Verdict{CannotTell}}
			if k < critics {
				c.Marks[0] = Contradicted
			}
			if k < faithful {
				c.Faithful = Supported
			} else if k < faithful+against {
				c.Faithful = Contradicted
			}
			all = append(all, c)
		}
		return all
	}
	const sentence = "It is so."
	for _, c := range []struct {
		faithful, against, critics int
		want                       bool
	}{{3, 0, 0, true}, {2, 0, 0, false}, {3, 2, 0, true}, {3, 3, 0, false}, {3, 2, 2, true}, {3, 0, 3, false}} {
		if got := stands(sentence, 0, votes(c.faithful, c.against, c.critics), 2); got != c.want {
			t.Errorf("%+v: stands is %v", c, got)
		}
		if disputed := disputedIn(sentence, votes(0, 0, c.critics)[1:], 2); (len(disputed) > 0) != (c.critics > 2) {
			t.Errorf("%d critics: %v", c.critics, disputed)
		}
	}
	for what, text := range map[string]synod.Answer{"no sentences": "…", "an unchecked sentence": synod.Answer(
		"It is so. " + strings.Repeat("long ", maxPart))} {
		if stands(text, 0, votes(6, 0, 0), 2) {
			t.Errorf("a text with %s stands", what)
		}
	}
	m := &member{Member: new(answer.Member)}
	m.count(&synod.Reply{Status: synod.OK})
	m.count(&synod.Reply{Status: synod.Unavailable})
	m.count(&synod.Reply{Status: synod.Unavailable})
	if m.Unreadable != 1 || m.Failed != 2 || (Checking{}).Key(0) != "sentence_1" {
		t.Errorf("%d unreadable, %d failed; the first sentence is %s", m.Unreadable, m.Failed, Checking{}.Key(0))
	}
}
