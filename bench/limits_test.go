package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// An error about a budget names the bounds that there are, and no other.
func TestUsedBudgets(t *testing.T) {
	used := Budget{7, 80, 0.25}
	for budget, want := range map[Budget]string{
		{Calls: 5}:                         "7 of 5 calls",
		{Tokens: 60}:                       "80 of 60 tokens",
		{USD: 0.125}:                       "0.2500 of 0.1250 USD",
		{Calls: 5, USD: 0.125}:             "7 of 5 calls, 0.2500 of 0.1250 USD",
		{Calls: 5, Tokens: 6, USD: 0.0625}: "7 of 5 calls, 80 of 6 tokens, 0.2500 of 0.0625 USD",
	} {
		e := &BudgetError{budget, used}
		if got := e.Error(); got != "the budget is used: "+want {
			t.Errorf("%+v: %s", budget, got)
		}
	}
}

// endings records what Ended was given.
type endings struct {
	notes  [][]*synod.Opinion
	honest []bool
}

func (*endings) Endings() []string { return nil }
func (e *endings) Ended(notes [][]*synod.Opinion, honest []bool) (string, int) {
	e.notes, e.honest = notes, honest
	return "draw", 3
}

// The ending of a run depends on the notes of its seats, in order, and not on those of others.
func TestEndingOfARun(t *testing.T) {
	e := &endings{}
	r := &reader{Run: &Run{RunManifest: RunManifest{Seats: []plan.Seat{{ID: "a"}, {ID: "b", Adversary: "silent"}}}}}
	if way, round := r.ended(nil); way != "" || round != 0 {
		t.Errorf("a protocol without endings: %s, %d", way, round)
	}
	r.ending = e
	note := func(seat synod.NodeID, round int) journal.Noted {
		return journal.Noted{Node: seat, Opinion: synod.Opinion{Round: round}}
	}
	way, round := r.ended([]journal.Noted{note(0, 0), note(1, 0), note(-1, 0), note(2, 0), note(0, 1)})
	if way != "draw" || round != 3 || !slices.Equal(e.honest, []bool{true, false}) || len(e.notes) != 2 ||
		len(e.notes[0]) != 2 || len(e.notes[1]) != 1 || e.notes[0][1].Round != 1 {
		t.Errorf("%s, %d, %+v", way, round, e)
	}
}

// A question needs an id, of at most 500 bytes, that no other question has.
func TestIDsOfQuestions(t *testing.T) {
	of := func(ids ...string) (items []task.Keyed) {
		for _, id := range ids {
			items = append(items, task.Keyed{Question: synod.Question{ID: id, Text: "?"}})
		}
		return items
	}
	long := strings.Repeat("x", 500)
	for _, c := range []struct {
		items []task.Keyed
		says  string
	}{
		{of("a", "b"), ""}, {of(long), ""}, {of(long + "y"), "has 501 bytes; at most 500"}, {of("a", "b", "a"),
			`two questions have the id "a"`}, {of("a", ""), "has no id"}, {nil, "no questions"},
	} {
		if err := checkItems(c.items); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(),
			c.says) {
			t.Errorf("%s: %v", c.says, err)
		}
	}
}

// Tokens of a rendered prompt are a quarter of the characters of all its parts.
func TestTokensOfTemplates(t *testing.T) {
	spec, err := plan.Parse([]byte("protocol: {name: sac}\nmodels: {d: {provider: simulated}}\n" +
		"seats: [{id: a, model: d, count: 3}]\nf: 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	complete := 0
	for _, name := range plan.Templates().Names() {
		p := &synod.Prompt{Template: name, Purpose: synod.Answering, Candidate: "4",
			Question: &synod.Question{ID: "q", Text: "How much?", Form: synod.Number}}
		chat, err := plan.Templates().Render(p)
		if err != nil {
			continue
		}
		whole := string(chat.Schema) + chat.User + chat.System
		if got := tokens(plan.Templates(), p); got != len(whole)/4 {
			t.Errorf("%s: %d tokens of %d characters", name, got, len(whole))
		}
		if len(chat.System) > 8 && len(chat.User) > 8 && len(chat.Schema) > 8 {
			complete++
		}
	}
	if complete == 0 {
		t.Error("no template has all parts")
	}
}

// Figures of several cells are pooled by observations. Counts, and cells without the figure, are left out.
func TestPooledFigures(t *testing.T) {
	cell := func(r *metrics.Rate) (c report.Cell) {
		c.Metrics = map[string]*metrics.Rate{"x": r}
		return c
	}
	count := &metrics.Rate{Value: 5, N: 10, Count: true}
	for i, c := range []struct {
		cells []report.Cell
		want  *metrics.Rate
	}{
		{[]report.Cell{cell(metrics.Share(1, 3)), cell(metrics.Share(5, 6))}, metrics.Share(6, 9)},
		{[]report.Cell{cell(nil), cell(metrics.Share(5, 6))}, metrics.Share(5, 6)},
		{[]report.Cell{cell(count), cell(metrics.Share(1, 2)), {}}, metrics.Share(1, 2)},
		{[]report.Cell{cell(nil), {}}, nil}, {[]report.Cell{cell(count)}, count}, {[]report.Cell{{}}, nil},
	} {
		if got := pooled(c.cells, "x"); fmt.Sprint(got) != fmt.Sprint(c.want) && (got == nil || c.want == nil ||
			*got != *c.want) {
			t.Errorf("%d: %+v, want %+v", i, got, c.want)
		}
	}
}

// A folder that has the same run says so and names no settings.
func TestOccupiedBySameRun(t *testing.T) {
	for want, e := range map[string]*OccupiedError{
		"d already contains a run": {Dir: "d", Run: true}, "d is not empty and contains no run": {Dir: "d"},
		"d already contains a run with other settings:\n  f": {Dir: "d", Run: true, Changes: []string{"f"}},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Long texts are compared line by line up to four million pairs of lines.
func TestLongestComparedTexts(t *testing.T) {
	long := strings.Repeat("x\n", 1<<11-1)
	if got := lines(long+"a\n", long+"b\n"); !slices.Equal(got, []string{"council, there: a", "council, now:   b"}) {
		t.Errorf("%q", got)
	}
}

// Calls wait for minutes for a model that is out of order, as the help says.
func TestDefaultOutage(t *testing.T) {
	if DefaultOutage.String() != "5m0s" {
		t.Errorf("%v", DefaultOutage)
	}
}

// The graph of a council in short, with the share of edges that fail.
func TestNamesOfGraphs(t *testing.T) {
	for want, graph := range map[string]map[string]any{
		"own edges": nil, "ring": {"family": "ring"}, "star": {"family": "star", "failing": 0},
		"ring, edges fail with 0.25": {"family": "ring", "failing": 0.25},
		"ring, own edges by round":   {"schedule": []any{map[string]any{"family": "ring"}, map[string]any{}}},
	} {
		if got := graphName(graph); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Names that Inspect prints have no control characters.
func TestLegibleNames(t *testing.T) {
	for name, want := range map[string]string{"a\x1b[1mb\n": "a[1mb", "\u2028\x00": "unnamed", "": "unnamed",
		"é b": "é b"} {
		if got := legible(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A run is billed with its own prices, if it has any.
func TestPricesOfARun(t *testing.T) {
	own := llm.Prices{{}}
	if got := (&Run{Prices: own}).prices(); len(got) != 1 {
		t.Errorf("%d of its own prices", len(got))
	}
	if got := (&Run{}).prices(); len(got) != len(llm.Published()) || len(got) < 2 {
		t.Errorf("%d published prices", len(got))
	}
}

// A reading with a bad pattern names itself.
func TestPatternsOfReadings(t *testing.T) {
	g := &Grid{GridManifest: GridManifest{Readings: []Reading{{Cell: Cell{Name: "all"}, Of: "h["}}}}
	if _, err := g.read([]report.Cell{{Cell: "h4"}}); err == nil || !strings.Contains(err.Error(),
		`cell all: the pattern "h["`) {
		t.Errorf("%v", err)
	}
}
