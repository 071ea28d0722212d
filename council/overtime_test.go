package council_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// matchings is a schedule of three rounds for six seats. In each, {0,1,2} and {3,4,5} hear one
// another, and every seat hears one of the other three. Every round is 1-robust; the union of two
// is 2-robust, and that of three is complete and 3-robust.
func matchings() string {
	var parts []string
	for shift := range 3 {
		edges := "[0,1],[0,2],[1,2],[3,4],[3,5],[4,5]"
		for i := range 3 {
			edges += fmt.Sprintf(",[%d,%d]", i, 3+(i+shift)%3)
		}
		parts = append(parts, "{edges: ["+edges+"]}")
	}
	return "{schedule: [" + strings.Join(parts, ", ") + "]}"
}

func simulated(n int, lines ...string) string {
	return "models: {dice: {provider: simulated, ability: 0.6}}\n" +
		fmt.Sprintf("seats: [{id: a, model: dice, count: %d}]\n", n) + strings.Join(lines, "\n")
}

func planOf(t *testing.T, text string, sets ...string) (*plan.Plan, error) {
	t.Helper()
	set, err := plan.Set("test", sets)
	if err != nil {
		t.Fatal(err)
	}
	spec, _, err := plan.Merge(plan.Layer{Name: "file", Text: []byte(text)}, set)
	if err != nil {
		return nil, err
	}
	return plan.New(spec)
}

// The claim is that of the weakest round. A union of rounds earns one only with a protocol that
// has a theorem for unions.
func TestBoundOverTime(t *testing.T) {
	for _, c := range []struct {
		protocol, more string
		r              int
		want, says     string
	}{
		{"sac, rounds: 6", "", 1, plan.None, "the union of several rounds earns no claim"},
		{"sac, rounds: 6", "f=0", 1, "4.3-strong", "r is the least of its rounds"},
		{"w-msr, rounds: 6", "", 1, "validity", "the graphs of single rounds have r 1:"},
		{"w-msr, rounds: 6, window: 2", "", 1, "validity", "unions of 2 rounds in a row have r 2"},
		{"w-msr, rounds: 6, window: 3", "", 1, "convergence", "unions of 3 rounds in a row"},
		{"debate, rounds: 6", "", 1, plan.None, "promises nothing on any graph"},
		{"cp-wbft, rounds: 6", "", 1, plan.None, "captures all"},
		{"sac, rounds: 6", "graph={schedule: [{family: complete}, {family: merg}]}", 3, "4.3-strong", "that of round"},
		{"sac, rounds: 1", "graph={schedule: [{family: complete}, {family: ring}]}", 3, "4.3-strong",
			"round 1"}, // the ring is not played
		{"sac, rounds: 2", "graph={schedule: [{family: complete}, {family: ring}]}", 1, plan.None,
			"that of round 2"},
		{"w-msr, rounds: 9", "graph={schedule: [{family: ring}, {family: complete}]}", 1, "convergence",
			"once in every period"},
		{"sac, rounds: 6", "f=0,faults.loss=0.1", 1, plan.None, "messages may be lost"},
		{"sac, rounds: 6, asynchronous: true", "graph={schedule: [{family: complete}, {family: merg}]}", 3, "4.3",
			"asynchronous round"},
	} {
		sets := []string{"protocol={name: " + c.protocol + "}"}
		if strings.HasPrefix(c.more, "f=") {
			sets = append(sets, strings.Split(c.more, ",")...)
		} else if c.more != "" {
			sets = append(sets, c.more)
		}
		p, err := planOf(t, simulated(6, "graph: "+matchings()), sets...)
		if err != nil {
			t.Errorf("%v: %v", sets, err)
			continue
		}
		b := p.Bound()
		if b.R != c.r || !b.Exact || b.Guarantee != c.want || !strings.Contains(b.Note, c.says) || b.OverTime == nil {
			t.Errorf("%v: r=%d, %s: %s", sets, b.R, b.Guarantee, b.Note)
		}
	}
	p, err := planOf(t, simulated(6, "graph: "+matchings()))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(*p.Bound().OverTime); got != "{true [{9 1 true} {9 1 true} {9 1 true}] "+
		"[{1 1 true} {2 2 true} {3 3 true}]}" {
		t.Errorf("over time: %s", got)
	}
	if static, _ := planOf(t, simulated(6, "graph: {family: ring, failing: 0}")); static.Bound().OverTime != nil {
		t.Error("a graph that does not change has an over_time")
	}
}

func TestMistakesOverTime(t *testing.T) {
	for _, c := range []struct{ graph, set, says string }{
		{"{family: ring, failing: 0.2}", "protocol={name: game}", "protocol game needs the same neighbours in every " +
			"round, and this graph changes (schedule, failing); the protocols for such graphs are cp-wbft, debate,"},
		{"{family: complete, failing: 0.2}", "protocol={name: self-consistency}", "needs the same neighbours"},
		{"{family: ring, failing: 1}", "protocol={name: sac}", "the graph is not connected in any of the 6 rounds"},
		{"{schedule: [{edges: [[0, 1]]}, {edges: [[2, 3]]}]}", "f=1", "not connected in any of the 6 rounds"},
		{"{schedule: [{file: none.graphml}]}", "f=1", "graph: schedule, graph 1: open "},
		{"{schedule: [ring]}", "f=1", "schedule: graph 1 is ring; it must be a graph section such as"},
		{"{schedule: [{family: ring}], hold: 0}", "f=1", "graph.hold is 0; it must be"},
		{"{family: ring, failing: 2}", "f=1", "graph.failing is 2; it must be"},
		{"{file: g.edges, hold: 2}", "f=1", "hold stands beside file"},
	} {
		_, err := planOf(t, simulated(4, "graph: "+c.graph), c.set)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: %v; want %q", c.graph, c.set, err, c.says)
		}
	}
}

// Two camps hold 0 and 900, and never hear more than one member of the other camp in a round, which
// the filter drops. Without a window they stay where they are, as no theorem says otherwise; with a
// window over the rounds whose union is robust enough they meet.
func TestWindowMovesCamps(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	text := seven(s.URL, "s0", "s0", "s0", "s900", "s900", "s900")
	for _, c := range []struct {
		window  int
		claim   string
		meeting bool
	}{{1, "validity", false}, {3, "convergence", true}} {
		o := decide(t, convene(t, text, "graph="+matchings(), "f=1", "rule={name: plurality}",
			fmt.Sprintf("protocol={name: w-msr, rounds: 120, decimals: 0, window: %d}", c.window)), council.Ask{})
		final := map[synod.Answer]bool{}
		for _, m := range o.Members {
			final[*m.Final] = true
		}
		if o.Bound.Guarantee != c.claim || c.meeting != (len(final) == 1) ||
			!c.meeting && !(final["0"] && final["900"]) {
			t.Errorf("window %d: claim %s, final numbers %v", c.window, o.Bound.Guarantee, final)
		}
	}
}

// What members retain, drop and miss in a round are the neighbours of the round, no more and no
// fewer, whatever adversaries at random seats send. At reliable members, whose Byzantine neighbours of
// the round are at most F, no retained answer has a lower score than the lowest of reliable ones
// (Property 4.2, in each round by itself).
func TestFilterOverTime(t *testing.T) {
	adversaries := []string{"replay", "weak-answer", "overconfident", "silent", "equivocator"}
	checked, withByzantine := 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 8))
		n, graph := 5+rng.IntN(3), fmt.Sprintf("family: complete, failing: %.2f", 0.5*rng.Float64())
		if rng.IntN(2) == 0 {
			graph = "schedule: [{family: merg}, {family: ring}, {family: star}], failing: 0.1"
		}
		text := simulated(n, fmt.Sprintf("graph: {%s, failing_seed: %d}", graph, seed), "f: 1",
			"protocol: {name: sac, rounds: 4}", "rule: {name: plurality}",
			fmt.Sprintf("adversaries: {adversary: {name: %s}, members: %d, seats: random, seed: %d}",
				adversaries[rng.IntN(5)], 1+rng.IntN(2), seed))
		c := convene(t, text)
		o := decide(t, c, council.Ask{Seed: seed + 1})
		checkRounds(t, c, o, &checked, &withByzantine)
	}
	if checked < 300 || withByzantine < 100 {
		t.Errorf("%d rounds of members were checked, %d with a Byzantine neighbour", checked, withByzantine)
	}
}

func checkRounds(t *testing.T, c *council.Council, o outcome.Outcome, checked, withByzantine *int) {
	t.Helper()
	g, at := c.Plan().Graph(), map[string]int{}
	for i, m := range o.Members {
		at[m.ID] = i
	}
	bad := func(id string) bool { return o.Members[at[id]].Adversary != nil }
	for _, round := range o.Rounds.All()[1:] {
		for _, m := range round.Members {
			if bad(m.ID) {
				continue
			}
			var want []string
			byzantine := 0
			for _, j := range g.At(round.T - 1).In(at[m.ID]) {
				want = append(want, o.Members[j].ID)
				if bad(o.Members[j].ID) {
					byzantine++
				}
			}
			got := slices.Concat(m.Retained, m.Dropped, m.Silent)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d: %s heard or missed %v; its neighbours are %v", round.T, m.ID, got, want)
			}
			if *checked++; byzantine > 0 {
				*withByzantine++
			}
			if byzantine <= c.Plan().Spec().F {
				property42(t, round.T, m, bad)
			}
		}
	}
}

func property42(t *testing.T, round int, m outcome.RoundSeat, bad func(string) bool) {
	t.Helper()
	low, any := synod.Score(0), false
	for _, s := range m.Scores {
		if !bad(s.ID) && (!any || s.Score < low) {
			low, any = s.Score, true
		}
	}
	for _, s := range m.Scores {
		if any && slices.Contains(m.Retained, s.ID) && s.Score < low {
			t.Fatalf("round %d: %s retains %s with the score %v; the lowest reliable one is %v", round, m.ID, s.ID,
				s.Score, low)
		}
	}
}

// A run on a graph that changes does not end early after a round without changes: another round has
// other neighbours.
func TestNoEarlyEndOverTime(t *testing.T) {
	s := llmtest.Start(t, stubborn)
	text := seven(s.URL, "s42", "s42", "s42", "s42")
	five := "protocol={name: sac, rounds: 5}"
	static := decide(t, convene(t, text, "graph={family: ring}", five), council.Ask{})
	moving := decide(t, convene(t, text, "graph={schedule: [{family: ring}, {family: star}]}", five), council.Ask{})
	if static.Stopped != "early" || moving.Stopped != "rounds" || moving.Rounds.Len() != 6 {
		t.Errorf("static: %s; changing: %s after %d rounds", static.Stopped, moving.Stopped, moving.Rounds.Len())
	}
}

// The plan of a spec from Go code reads files in a schedule, and leaves the spec alone.
func TestScheduleFromCode(t *testing.T) {
	spec := plan.Default()
	spec.Models = map[string]plan.Params{"dice": {"provider": "simulated"}}
	spec.Seats = []plan.SeatSpec{{ID: "a", Model: "dice", Count: 4}}
	part := map[string]any{"file": "testdata/none.edges"}
	spec.Graph = plan.Params{"schedule": []any{part, map[string]any{"family": "ring"}}}
	if _, err := plan.New(spec); err == nil || !strings.Contains(err.Error(), "none.edges") {
		t.Errorf("%v", err)
	}
	if part["file"] != "testdata/none.edges" {
		t.Errorf("the spec was changed: %v", part)
	}
	spec.Graph = plan.Params{"schedule": []map[string]any{{"family": "ring"}, {"family": "star"}}}
	p, err := plan.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	g := p.Graph()
	if len(g.Rounds) != 2 || g.At(1).EdgeCount() != 3 {
		t.Errorf("%+v", g.Rounds)
	}
	c, err := council.Convene(spec, llm.Env{})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
