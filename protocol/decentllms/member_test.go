package decentllms

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/grade"
)

// Evaluators see an answer as its author wrote it, and grade its canonical form.
func TestSpelling(t *testing.T) {
	for _, judge := range []string{One, All} {
		x := &trial{w: 2, e: 3, f: 1, p: New(), question: &synod.Question{Text: "?", Form: synod.Text},
			grade: func(synod.NodeID, synod.Answer) grade.Grades { return grade.Grades{10} },
			says: func(c sim.Call) string {
				if c.Prompt.Purpose == synod.Answering {
					return []string{"Answer: The Hague", "Answer: paris"}[c.Node]
				}
				return ""
			}}
		x.p.Judge = judge
		o := x.play()
		seen := map[string]bool{}
		for _, c := range o.calls {
			if c.Prompt.Purpose != synod.Answering {
				seen[fmt.Sprint(c.Prompt.Spelling)] = true
			}
		}
		want := map[string]bool{`map["hague":The Hague]`: true}
		if judge == One {
			want["map[]"] = true // "paris" is written as it counts
		}
		if fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("judge %s: evaluators see %v, want %v", judge, seen, want)
		}
		if a := o.held[0].Answers; a[0].Answer != "hague" || a[1].Answer != "paris" || o.held[0].answer == synod.None {
			t.Errorf("judge %s: %s", judge, o.held[0])
		}
	}
}

// With examples, and with exact: paper, grading pages show three marked answers to another question, in both ways of
// judging; by default they show none. The marks are those that the reader accepts.
func TestExamples(t *testing.T) {
	renderer, err := prompt.NewTemplates("decentllms", Prompts())
	if err != nil {
		t.Fatal(err)
	}
	exact := New()
	exact.Paper()
	for name, p := range map[string]*DecentLLMs{"one": {Judge: One}, "all": {Judge: All},
		"examples": {Judge: One, Examples: true}, "exact": {Judge: exact.Judge, Examples: exact.Examples}} {
		x := &trial{w: 2, e: 3, f: 1, p: New(), question: &synod.Question{Text: "?", Form: synod.Text},
			grade: func(synod.NodeID, synod.Answer) grade.Grades { return grade.Grades{10} }}
		x.p.Judge, x.p.Examples = p.Judge, p.Examples
		pages := 0
		for _, c := range x.play().calls {
			if c.Prompt.Purpose == synod.Answering {
				continue
			}
			page, err := renderer.Render(c.Prompt)
			if err != nil {
				t.Fatal(err)
			}
			pages++
			marks := regexp.MustCompile(`\{"factual_contradiction[^}]*\}`).FindAllString(page.User, -1)
			if (len(marks) == 3) != p.Examples || len(marks)%3 != 0 {
				t.Errorf("%s: %d examples in\n%s", name, len(marks), page.User)
			}
			last := 131.0
			for _, m := range marks {
				g, err := grade.Read(&synod.Reply{Status: synod.OK, Text: m})
				if err != nil || g.Sum() >= last-30 {
					t.Errorf("%s: %v %v: not well below the marks before", name, g, err)
				}
				last = g.Sum()
			}
		}
		if pages == 0 {
			t.Errorf("%s: no grading page", name)
		}
	}
}

// The longest answer that fits into a message is graded. A worker with a longer one is silent.
func TestLongestAnswer(t *testing.T) {
	fixed, _ := synod.Response{}.AppendBinary(nil)
	longest := maxAnswer - len(fixed)
	for size, want := range map[int]string{longest: "", longest + 1: "silent"} {
		x := &trial{w: 1, e: 3, f: 1, p: New(), question: &synod.Question{Text: "?", Form: synod.Text},
			grade: func(synod.NodeID, synod.Answer) grade.Grades { return grade.Grades{10} },
			says: func(c sim.Call) string {
				if c.Prompt.Purpose == synod.Answering {
					return "Answer: " + strings.Repeat("x", size)
				}
				return ""
			}}
		x.p.Rationale = 0
		if a := x.play().held[0].Answers[0]; a.Bottom != want || want == "" && len(a.Answer) != size {
			t.Errorf("an answer of %d bytes: %q, %d bytes arrive", size, a.Bottom, len(a.Answer))
		}
	}
}

// An evaluator asks a second time for the grades that it did not get. If it gets them then, they count; if not, it
// sends none and records why. Failed calls and unreadable replies are counted apart.
func TestGradesAreAskedForTwice(t *testing.T) {
	const evaluator = 2 // of seats 2, 3 and 4
	for what, c := range map[string]struct {
		judge              string
		bad                int // of its first replies
		first, why         string
		failed, unreadable int
		calls              int
	}{
		"all readable":                   {One, 0, "", "", 0, 0, 2},
		"one unreadable at first":        {One, 1, "", "", 0, 1, 3},
		"both unreadable at first":       {One, 2, "", "", 0, 2, 4},
		"one unreadable twice":           {One, 3, "silent", "JSON", 0, 3, 4},
		"both unreadable twice":          {One, 4, "silent", "JSON", 0, 4, 4},
		"all in one call":                {All, 0, "", "", 0, 0, 1},
		"all in one, unreadable":         {All, 1, "", "", 0, 1, 2},
		"all in one, unreadable twice":   {All, 2, "silent", "JSON", 0, 2, 2},
		"one failed at first":            {One, -1, "", "", 1, 0, 3},
		"all in one, failed twice":       {All, -2, "silent", "timeout", 2, 0, 2},
		"one failed at first and at all": {One, -3, "silent", "timeout", 3, 0, 4},
	} {
		asked := 0
		x := &trial{w: 2, e: 3, f: 1, p: New(), grade: func(synod.NodeID, synod.Answer) grade.Grades {
			return grade.Grades{10}
		}}
		x.p.Judge = c.judge
		x.fails = func(call sim.Call) (status synod.Status) {
			if call.Node != evaluator {
				return synod.OK
			}
			if asked++; asked <= c.bad {
				return synod.Unreadable
			} else if asked <= -c.bad {
				return synod.Timeout
			}
			return synod.OK
		}
		o := x.play()
		h, last := o.held[0], o.last[evaluator]
		if h.Grades[0].Bottom != c.first ||
			!strings.Contains(h.Withheld, c.why) || (h.Withheld == "") != (c.why == "") ||
			last.Failed != c.failed || last.Unreadable != c.unreadable || asked != c.calls {
			t.Errorf("%s: grades %q, withheld %q, %d failed, %d unreadable, %d calls", what, h.Grades[0].Bottom,
				h.Withheld, last.Failed, last.Unreadable, asked)
		}
	}
}

// Every evaluator that grades has a part in the salt: the record has what it committed to.
func TestRecordHasAllCommitments(t *testing.T) {
	x := &trial{w: 1, e: 4, f: 1, p: New(),
		grade: func(synod.NodeID, synod.Answer) grade.Grades { return grade.Grades{} }}
	for _, g := range x.play().held[0].Grades {
		if len(g.Committed) == 0 || len(g.CommitSignature) == 0 {
			t.Errorf("no commitment of evaluator %d", g.By)
		}
	}
}

// Whatever Byzantine members did, the record of an honest evaluator is verified, unless it says that nobody gave
// anything to verify.
func TestVerifyHonestRecords(t *testing.T) {
	reasons := map[string]int{}
	for seed := range uint64(200) {
		x := drawn(seed)
		o := x.play()
		for _, h := range o.held {
			for _, a := range h.Answers {
				reasons[a.Bottom]++
			}
			for _, g := range h.Grades {
				reasons["grades "+g.Bottom]++
			}
			v, err := x.p.Verify(protocol.VerifyInput{Self: h.id, Opinion: &o.last[h.id], N: x.w + x.e, Cast: x.cast(),
				Question: &synod.Question{Text: "?", Form: synod.Number}, F: x.f, Check: o.keys.Signer(0, run),
				Name: func(id synod.NodeID) string { return fmt.Sprint(id) }})
			if err != nil || len(v.Claims) == 0 {
				t.Fatalf("seed %d, hostile %v: evaluator %d: %v", seed, x.hostile, h.id, err)
			}
		}
	}
	for _, why := range []string{"", "silent", "equivocated", "unreadable"} {
		if reasons[why] == 0 || reasons["grades "+why] == 0 {
			t.Errorf("no record with %q was tested: %v", why, reasons)
		}
	}
}

// A cast is refused with an error that says what it tolerates.
func TestCheckCast(t *testing.T) {
	for _, c := range []struct {
		workers, evaluators, f int
		exact                  bool
		want                   string
	}{
		{2, 5, 2, false, ""}, {2, 5, 3, false, "geometric-median tolerates at most f = 2"},
		{2, 5, -1, false, "f is -1"},
		{1, 1, 0, false, ""}, {1, 0, 0, false, "too few"}, {0, 1, 0, false, "too few"},
		{0, 5, 2, false, "0 workers and 5 evaluators are too few for geometric-median"},
		{2, 8, 3, true, ""}, {2, 14, 6, true, ""}, // Fig. 6 to 8
		{2, 5, 3, true, "geometric-median tolerates at most f = 2"},
		{2, 15, 8, true, "geometric-median tolerates at most f = 7"},
		{2, 5, -1, true, "f is -1"}, {2, 3, 0, true, ""},
		{0, 5, 2, true, "0 workers and 5 evaluators are too few for geometric-median"},
		{200, 4, 1, false, ""}, {1000, 4, 1, false, "make the values shorter"},
	} {
		p := New()
		if c.exact {
			p.Paper()
		}
		err := p.CheckCast((&trial{w: c.workers, e: c.evaluators}).cast(), c.f)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The planned calls are those of the cast with the most, and no run without failed calls has more.
func TestPlannedCalls(t *testing.T) {
	for n := 2; n <= 8; n++ {
		for _, judge := range []string{One, All} {
			most := 0
			for w := 1; w < n; w++ {
				x := &trial{w: w, e: n - w, p: New(), grade: func(synod.NodeID, synod.Answer) grade.Grades {
					return grade.Grades{1}
				}}
				x.p.Judge = judge
				most = max(most, len(x.play().calls))
			}
			p := New()
			if p.Judge = judge; p.Calls(make([]int, n)) != most {
				t.Errorf("%d seats, judge %s: %d calls are planned, %d are made", n, judge, p.Calls(make([]int, n)),
					most)
			}
		}
	}
}
