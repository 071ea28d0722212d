package bench

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"

	"synod.dev/synod"
)

// The lines in which two texts differ, with those that only the first has before those that only the second has.
func TestDifferingLines(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"a b c", "a b c", ""}, {"a b c", "a c", "-b"}, {"a c", "a b c", "+b"}, {"a b c", "a x c", "-b +x"},
		{"a", "b", "-a +b"}, {"a b", "b a", "-a +a"}, {"a b c d", "b c d", "-a"}, {"a b c", "a b c d", "+d"},
		{"a b c d e", "a x c y e", "-b +x -d +y"}, {"x a b", "a b y", "-x +y"}, {"a a b", "a b", "-a"},
		{"a b c a b b a", "c b a b a c", "-a -b +b -b +c"}, {"q", "q q", "+q"}, {"a b", "x a b", "+x"}, {"a b c",
			"a b", "-c"},
	} {
		text := func(words string) string { return strings.ReplaceAll(words, " ", "\n") + "\n" }
		var got []string
		for _, line := range lines(text(c.a), text(c.b)) {
			sign, rest := "-", strings.TrimPrefix(line, "council, there: ")
			if rest == line {
				sign, rest = "+", strings.TrimPrefix(line, "council, now:   ")
			}
			got = append(got, sign+rest)
		}
		if c.a == "a b c a b b a" { // several answers are as short
			if len(got) != 5 {
				t.Errorf("%s and %s: %v; the longest common subsequence has four lines", c.a, c.b, got)
			}
			continue
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s and %s: %v, want %s", c.a, c.b, got, c.want)
		}
	}
	long := strings.Repeat("x\n", 1<<11)
	if got := lines(long, long+"y\n"); !slices.Equal(got, []string{"the council"}) {
		t.Errorf("two long texts: %v", got)
	}
	if got := lines(long+"y\n", long+"y\n"); got != nil {
		t.Errorf("a long text and itself: %v", got)
	}
}

// What differs between a run and another one is said, each difference once.
func TestChangesOfRuns(t *testing.T) {
	base := func() *Run {
		return &Run{RunManifest: RunManifest{Task: "sums", N: 3, Repeat: 2, Seed: 1, Council: "f: 1", Protocol: "sac",
			Items:   "i",
			Seats:   []plan.Seat{{ID: "a", Model: "m", Identity: "x"}, {ID: "b", Model: "m", Identity: "x"}},
			Prompts: map[string]string{"score": "1"}}}
	}
	for _, c := range []struct {
		change func(*Run)
		want   string
	}{
		{func(*Run) {}, ""},
		{func(r *Run) { r.Task = "products" }, "task: sums there, products now"},
		{func(r *Run) { r.Form = "text" }, "form: (the form of the task) there, text now"},
		{func(r *Run) { r.N, r.Repeat, r.Seed = 4, 5, 6 },
			"questions: 3 there, 4 now; repeat: 2 there, 5 now; seed: 1 there, 6 now"},
		{func(r *Run) { r.Council = "f: 2" }, "council, there: f: 1; council, now:   f: 2"},
		{func(r *Run) { r.Seats[0].Identity, r.Seats[1].Identity = "y", "y" }, "model m: x there, y now"},
		{func(r *Run) { r.Seats = r.Seats[:1] }, ""},
		{func(r *Run) { r.Prompts = map[string]string{"score": "2"} },
			"prompt score: its text was changed (1 before, 2 now)"},
		{func(r *Run) { r.Prompts, r.Protocol = nil, "debate" }, ""},
		{func(r *Run) { r.Items, r.RunManifest.Items = nil, "j" }, "the questions"},
		{func(r *Run) { r.RunManifest.Items, r.Seed = "j", 9 }, "seed: 1 there, 9 now"},
	} {
		other := base()
		c.change(other)
		if got := strings.Join(base().Changes(&other.RunManifest), "; "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A run has at least one question, seat and repeat, and no more jobs than fit.
func TestBoundsOfRuns(t *testing.T) {
	seats := []plan.Seat{{ID: "a"}}
	for _, c := range []struct {
		m  RunManifest
		ok bool
	}{
		{RunManifest{N: 1, Repeat: 1, Seats: seats}, true}, {RunManifest{N: 0, Repeat: 1, Seats: seats}, false},
		{RunManifest{N: 1, Repeat: 0, Seats: seats}, false}, {RunManifest{N: 1, Repeat: 1}, false},
		{RunManifest{N: 1, Repeat: MaxRepeat, Seats: seats}, true},
		{RunManifest{N: 1, Repeat: MaxRepeat + 1, Seats: seats}, false},
		{RunManifest{N: maxJobs, Repeat: 1, Seats: seats}, true}, {RunManifest{N: maxJobs + 1, Repeat: 1, Seats: seats},
			false},
		{RunManifest{N: maxJobs / 10, Repeat: 10, Seats: seats}, true},
		{RunManifest{N: maxJobs/10 + 1, Repeat: 10, Seats: seats}, false},
	} {
		if err := c.m.check(); (err == nil) != c.ok {
			t.Errorf("%d questions %d times, %d seats: %v", c.m.N, c.m.Repeat, len(c.m.Seats), err)
		}
	}
}

// Right and gradable answers by rank.
func TestRanks(t *testing.T) {
	var k ranks
	k.add("q1", []task.Verdict{task.Right, task.Wrong})
	k.add("q2", []task.Verdict{task.Wrong, task.Right, "unscored"})
	k.add("q3", nil)
	r := k.rates()
	if len(r) != 3 || *r[0] != *metrics.Share(1, 2) || *r[1] != *metrics.Share(1, 2) || r[2] != nil {
		t.Errorf("%v", r)
	}
}

// Twenty repeats of three questions say no more about ranks than three questions.
func TestRanksAreByQuestion(t *testing.T) {
	var k ranks
	for _, id := range []string{"q1", "q2", "q3"} {
		for range 20 {
			k.add(id, []task.Verdict{task.Right})
		}
	}
	if got, want := k.rates()[0], metrics.Share(3, 3); got.Low > want.Low || got.N != 60 {
		t.Errorf("%+v, and three questions asked once have %+v", got, want)
	}
}

// How often a seat dropped the answer of another: of all pairs with a count, and not its own.
func TestDropsByPair(t *testing.T) {
	d := newDrops(3)
	d.add([]journal.Noted{
		{Node: 0, Opinion: synod.Opinion{Dropped: []synod.NodeID{1, 3, -1}, Retained: []synod.NodeID{0, 2}}},
		{Node: 0, Opinion: synod.Opinion{Dropped: []synod.NodeID{1}}}, {Node: 0,
			Opinion: synod.Opinion{Retained: []synod.NodeID{1}}},
		{Node: 2, Opinion: synod.Opinion{Dropped: []synod.NodeID{0, 2}}}, {Node: 3,
			Opinion: synod.Opinion{Dropped: []synod.NodeID{0}}},
		{Node: -1, Opinion: synod.Opinion{Dropped: []synod.NodeID{0}}},
	})
	list := d.list([]report.Member{{ID: "a"}, {ID: "b"}, {ID: "c"}})
	want := []report.Drop{{By: "a", Of: "b", Dropped: 2, Share: metrics.Share(2, 3)}, {By: "a", Of: "c", Dropped: 0,
		Share: metrics.Share(0, 1)}, {By: "c", Of: "a", Dropped: 1, Share: metrics.Share(1, 1)}}
	if !slices.EqualFunc(list, want, func(a, b report.Drop) bool {
		return a.By == b.By && a.Of == b.Of && a.Dropped == b.Dropped && *a.Share == *b.Share
	}) {
		t.Errorf("%+v", list)
	}
}

// Whether an outcome is the fault of the infrastructure. In a game one failed call is enough.
func TestFailedOutcomes(t *testing.T) {
	answer := synod.Answer("4")
	count := func(s synod.Status) (c outcome.StatusCount) {
		c[slices.Index(synod.Statuses(), s)]++
		return c
	}
	lost := outcome.Member{ID: "a", Calls: count(synod.Timeout), Trouble: "late"}
	for _, c := range []struct {
		name   string
		o      outcome.Outcome
		ends   bool
		failed bool
		why    string
	}{
		{"a decision", outcome.Outcome{Decision: answer, Members: []outcome.Member{lost}}, false, false, ""},
		{"a decision of a game with a lost call", outcome.Outcome{Decision: answer, Reason: "r",
			Members: []outcome.Member{lost}},
			true, true, "r; a: late"},
		{"an interruption", outcome.Outcome{Stopped: outcome.Interrupted, Members: []outcome.Member{lost}}, true,
			false, ""},
		{"the deadline", outcome.Outcome{Stopped: outcome.PastTime, Reason: "r"}, false, true, "r"},
		{"a limit", outcome.Outcome{Stopped: outcome.OverBudget, Reason: "r"}, false, true, "r"},
		{"a decision at the deadline", outcome.Outcome{Stopped: outcome.PastTime, Decision: answer}, false, false, ""},
		{"a breaker", outcome.Outcome{Stopped: outcome.Tripped, Status: outcome.Undecided}, false, false, ""},
		{"a breaker in a game", outcome.Outcome{Stopped: outcome.Tripped, Reason: "r"}, true, true, "r"},
		{"undecided", outcome.Outcome{Status: outcome.Undecided, Members: []outcome.Member{lost}}, false, false, ""},
		{"degraded, a member was lost", outcome.Outcome{Status: outcome.Degraded, Reason: "r",
			Members: []outcome.Member{lost}},
			false, true, "r; a: late"},
		{"degraded, all called answered", outcome.Outcome{Status: outcome.Degraded,
			Members: []outcome.Member{{ID: "a", Calls: count(synod.OK)}, {ID: "b", Calls: count(synod.Refused)}}},
			false, false, ""},
		{"degraded, the lost one has an answer", outcome.Outcome{Status: outcome.Degraded,
			Members: []outcome.Member{{ID: "a", Calls: count(synod.Timeout), Final: &answer}}}, false, false, ""},
	} {
		if failed, why := failed(&c.o, c.ends); failed != c.failed || why != c.why {
			t.Errorf("%s: %v, %q", c.name, failed, why)
		}
	}
}

// Of equal names of runs the settings that differ tell them apart, and else the folders.
func TestNamesOfComparedRuns(t *testing.T) {
	run := func(name, folder string, f int) report.Compare {
		return report.Compare{Name: name, Folder: "/runs/" + folder, Setting: report.Setting{Protocol: "sac", F: f}}
	}
	runs := []report.Compare{run("x", "one", 1), run("y", "two", 1), run("x", "three", 2), run("z", "four", 1),
		run("z", "five", 1)}
	distinguish(runs)
	var got []string
	for _, r := range runs {
		got = append(got, r.Name)
	}
	if got[1] != "y" || !strings.HasPrefix(got[0], "x · ") || !strings.Contains(got[0], "1") ||
		strings.Contains(got[0], "one") ||
		!strings.Contains(got[2], "2") || got[3] != "z · four" || got[4] != "z · five" {
		t.Errorf("%q", got)
	}
}
