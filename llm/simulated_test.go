package llm

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

func newMember(t testing.TB, truth Truth, set func(*SimulatedConfig)) *simulated {
	t.Helper()
	c := NewSimulatedConfig()
	if set != nil {
		set(&c)
	}
	d, err := newSimulated(c, truth)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func draw(t testing.TB, m Model, p synod.Prompt, seat string) synod.Reply {
	t.Helper()
	r, err := m.Complete(context.Background(), Request{Prompt: &p, Seat: seat})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Typed || r.Status != synod.OK {
		t.Fatalf("reply %+v", r)
	}
	return r
}

func numberQuestion(i int) *synod.Question {
	return &synod.Question{ID: fmt.Sprint("q", i), Text: "How many?", Form: synod.Number}
}

// within allows five standard errors of a rate.
func within(t *testing.T, what string, hits, n int, want float64) {
	t.Helper()
	got, slack := float64(hits)/float64(n), 5*math.Sqrt(want*(1-want)/float64(n))+1e-9
	if math.Abs(got-want) > slack {
		t.Errorf("%s: %.4f of %d; want %.4f ± %.4f", what, got, n, want, slack)
	}
}

// Ability is the share of questions answered right, whatever the spread of
// difficulty and the correlation.
func TestSimulatedAbility(t *testing.T) {
	truth := func(*synod.Question) synod.Answer { return "42" }
	for _, ability := range []float64{0, 0.25, 0.84, 1} {
		for _, spread := range []float64{0, 1, 3} {
			for _, correlation := range []float64{0, 0.5, 1} {
				d := newMember(t, truth, func(c *SimulatedConfig) {
					c.Ability, c.Spread, c.Correlation = ability,
						spread, correlation
				})
				right, n := 0, 1500
				for i := range n {
					if draw(t, d, synod.Prompt{Purpose: synod.Answering, Question: numberQuestion(i), Seed: uint64(i)},
						"a").Answer == "42" {
						right++
					}
				}
				within(t, fmt.Sprintf("ability %v spread %v correlation %v", ability, spread, correlation), right, n,
					ability)
			}
		}
	}
}

// Members with shared luck give the same answer, right or wrong; members with their
// own luck err independently.
func TestSimulatedCorrelation(t *testing.T) {
	same := func(correlation float64) (all, wrong int) {
		set := func(seed uint64) func(*SimulatedConfig) {
			return func(c *SimulatedConfig) {
				c.Ability, c.Spread, c.Correlation, c.Wrong, c.Seed = 0.5, 0, correlation, 10, seed
			}
		}
		a, b := newMember(t, nil, set(1)), newMember(t, nil, set(2))
		for i := range 2000 {
			p := synod.Prompt{Purpose: synod.Answering, Question: numberQuestion(i)}
			x, y := draw(t, a, p, "a").Answer, draw(t, b, p, "b").Answer
			if x == y {
				all++
				if x != a.item(p.Question).truth {
					wrong++
				}
			}
		}
		return all, wrong
	}
	if all, wrong := same(1); all != 2000 || wrong < 900 {
		t.Errorf("of 2000, %d alike, %d of them wrong; want all alike, half wrong", all, wrong)
	}
	if all, wrong := same(0); all > 700 || wrong > 100 {
		t.Errorf("of 2000, %d alike, %d of them wrong; want about 550 and 50", all, wrong)
	}
}

func TestSimulatedJudge(t *testing.T) {
	q := numberQuestion(1)
	gap := 0.6
	d := newMember(t, func(*synod.Question) synod.Answer { return "42" },
		func(c *SimulatedConfig) { c.Skill, c.Noise = &gap, 0.05 })
	for seed := range uint64(500) {
		for candidate, mean := range map[synod.Answer]float64{"42": 0.8, "41": 0.2, "": 0.2} {
			v := draw(t, d, synod.Prompt{Purpose: synod.Scoring, Question: q, Candidate: candidate, Seed: seed},
				"a").Value
			if math.Abs(v-mean) > 0.05*3.5 {
				t.Fatalf("%q scores %v; want about %v", candidate, v, mean)
			}
			w := draw(t, d, synod.Prompt{Purpose: synod.Weighing, Question: q, Candidate: candidate, Seed: seed},
				"a").Value
			if w > 0 || math.Abs(math.Exp(w)-v) > 1e-9 {
				t.Fatalf("%q weighs %v and scores %v", candidate, w, v)
			}
		}
	}
}

func TestSimulatedRefine(t *testing.T) {
	peers := []synod.Rated{{Answer: "42", Score: 0.9}, {Answer: "7", Score: 0.1}, {Answer: "8", Score: synod.Untrusted}}
	count := func(set func(*SimulatedConfig)) map[synod.Answer]int {
		d := newMember(t, func(*synod.Question) synod.Answer { return "42" }, func(c *SimulatedConfig) {
			c.Primacy = 0
			set(c)
		})
		seen := map[synod.Answer]int{}
		for seed := range uint64(4000) {
			seen[draw(t, d, synod.Prompt{Purpose: synod.Refining, Question: numberQuestion(1), Own: "5", Peers: peers,
				Seed: seed}, "a").Answer]++
		}
		return seen
	}
	one, none := 1.0, 0.0
	if got := count(func(c *SimulatedConfig) { c.Stubbornness = 1 }); got["5"] != 4000 {
		t.Errorf("a stubborn member moved: %v", got)
	}
	got := count(func(c *SimulatedConfig) { c.Stubbornness, c.Skill, c.Noise, c.Sharpness = 0.3, &one, 0, 1 })
	within(t, "stubborn", got["5"], 4000, 0.3) // its own answer scores 0
	within(t, "best peer", got["42"], 4000, 0.7*0.9)
	if got["8"] != 0 || len(got) != 3 {
		t.Errorf("changed to an answer that is neither trusted nor shown: %v", got)
	}
	got = count(func(c *SimulatedConfig) { c.Stubbornness, c.Skill, c.Noise, c.Sharpness = 0, &none, 0, 20 })
	if got["42"] < 3990 {
		t.Errorf("a sharp member took the best score only %d times of 4000: %v", got["42"], got)
	}
	d := newMember(t, nil, func(c *SimulatedConfig) { c.Skill, c.Noise, c.Stubbornness, c.Primacy = &one, 0, 0, 0 })
	if a := draw(t, d, synod.Prompt{Purpose: synod.Refining, Question: numberQuestion(1), Own: "5",
		Peers: []synod.Rated{{Answer: "6"}}}, "a").Answer; a != "5" {
		t.Errorf("without any weight it went to %q", a)
	}
}

// Each reply is a function of what it may depend on, and of nothing else.
func TestSimulatedIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewSimulatedConfig()
		c.Seed = rapid.Uint64().Draw(t, "member")
		a, _ := newSimulated(c, nil)
		b, _ := newSimulated(c, nil)
		q := &synod.Question{Text: rapid.String().Draw(t, "text"),
			Form: rapid.SampledFrom([]synod.Form{synod.Number, synod.Bool, synod.Text}).Draw(t, "form")}
		p := synod.Prompt{
			Purpose: rapid.SampledFrom([]synod.Purpose{synod.Answering, synod.Scoring, synod.Refining,
				synod.Weighing}).Draw(t, "purpose"),
			Question: q, Own: "1", Candidate: "1", Peers: []synod.Rated{{Answer: "2", Score: 0.5}},
			Seed: rapid.Uint64().Draw(t, "seed"),
		}
		r := Request{Prompt: &p, Seat: rapid.String().Draw(t, "seat"), Sample: rapid.IntRange(0, 3).Draw(t, "sample")}
		x, _ := a.Complete(context.Background(), r)
		for i := range 70 { // push the question out of a's memory
			a.item(&synod.Question{Text: fmt.Sprint(q.Text, i), Form: q.Form})
		}
		y, _ := a.Complete(context.Background(), r)
		z, _ := b.Complete(context.Background(), r)
		if !reflect.DeepEqual(x, y) || !reflect.DeepEqual(x, z) {
			t.Fatalf("%+v, %+v, %+v", x, y, z)
		}
	})
}

// Every answer is canonical, and no mistake is the truth.
func TestSimulatedAnswers(t *testing.T) {
	options := []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}, {Label: "C", Text: "z"}}
	for _, c := range []struct {
		q     synod.Question
		truth synod.Answer
		wrong int
	}{
		{synod.Question{Form: synod.Number}, "", 4},
		{synod.Question{Form: synod.Number}, "0.5", 4},
		{synod.Question{Form: synod.Number}, "11/18", 4},
		{synod.Question{Form: synod.Math}, `3\sqrt{3}`, 4},
		{synod.Question{Form: synod.Math}, "", 4},
		{synod.Question{Form: synod.Choice, Options: options}, "", 2},
		{synod.Question{Form: synod.Choice, Options: options}, "B", 2},
		{synod.Question{Form: synod.Bool}, "", 1},
		{synod.Question{Form: synod.Text}, "", 4},
		{synod.Question{Form: synod.Text}, "paris", 4},
		{synod.Question{Form: synod.Text}, "simulated answer 2", 4},
	} {
		d := newMember(t, func(*synod.Question) synod.Answer { return c.truth }, nil)
		for i := range 200 {
			c.q.ID = fmt.Sprint(i)
			it := d.item(&c.q)
			if c.truth != "" && it.truth != c.truth {
				t.Errorf("%s: the truth is %q, the member has %q", c.q.Form, c.truth, it.truth)
			}
			if len(it.wrong) != c.wrong || slices.Contains(it.wrong, it.truth) {
				t.Errorf("%s: truth %q, mistakes %q; want %d of them", c.q.Form, it.truth, it.wrong, c.wrong)
			}
			for _, a := range append([]synod.Answer{it.truth}, it.wrong...) {
				if again, ok := read.Canonical(&c.q, string(a)); !ok || again != a {
					t.Errorf("%s: %q is not canonical", c.q.Form, a)
				}
			}
		}
	}
}

func TestSimulatedArithmetic(t *testing.T) {
	for text, want := range map[string]synod.Answer{
		"What is 17 + 25?": "42", "17+25": "42", "What is 12 - 30": "-18", "Compute 6 × 7.": "42", "-3*4": "-12",
		"999999999 * 999999999": "999999998000000001",
	} {
		d := newMember(t, nil, func(c *SimulatedConfig) { c.Ability = 1 })
		if got := draw(t, d, synod.Prompt{Purpose: synod.Answering,
			Question: &synod.Question{Text: text, Form: synod.Number}}, "a").Answer; got != want {
			t.Errorf("%s is %q; want %q", text, got, want)
		}
	}
	for _, text := range []string{"What is 1 + 2 + 3?", "What is 4/2?", "2^10", "no numbers", "How many of 7 days?"} {
		if v, ok := arithmetic(text); ok {
			t.Errorf("%q computed as %d", text, v)
		}
	}
}

func TestSimulatedValidate(t *testing.T) {
	two := 2.0
	for name, break_ := range map[string]func(*SimulatedConfig){
		"ability": func(c *SimulatedConfig) { c.Ability = 1.1 },
		"nan":     func(c *SimulatedConfig) { c.Ability = math.NaN() },
		"spread":  func(c *SimulatedConfig) { c.Spread = -1 }, "noise": func(c *SimulatedConfig) { c.Noise = 2 },
		"stubbornness": func(c *SimulatedConfig) { c.Stubbornness = -0.1 },
		"correlation":  func(c *SimulatedConfig) { c.Correlation = 7 },
		"skill":        func(c *SimulatedConfig) { c.Skill = &two },
		"sharpness":    func(c *SimulatedConfig) { c.Sharpness = 21 },
		"wrong":        func(c *SimulatedConfig) { c.Wrong = 0 },
		"shared":       func(c *SimulatedConfig) { c.Shared = 1.5 },
	} {
		c := NewSimulatedConfig()
		break_(&c)
		if _, err := newSimulated(c, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if d := newMember(t, nil, nil); d.Info().Kind != Simulated || !d.CanWeigh() {
		t.Errorf("%+v is not labelled", d.Info())
	}
}

func BenchmarkSimulated(b *testing.B) {
	q := &synod.Question{ID: "q1", Text: "A question of some length, as they come in benchmarks: how many eggs are " +
		"left in the end?", Form: synod.Number}
	peers := []synod.Rated{{Answer: "17", Score: 0.9}, {Answer: "18", Score: 0.8}, {Answer: "18", Score: 0.7},
		{Answer: "19", Score: 0.3}, {Answer: "20", Score: 0.2}, {Answer: "21", Score: 0.1}}
	for _, p := range []synod.Prompt{
		{Purpose: synod.Answering, Question: q, Seed: 1}, {Purpose: synod.Scoring, Question: q, Candidate: "17",
			Seed: 2},
		{Purpose: synod.Refining, Question: q, Own: "17", Peers: peers, Seed: 3},
	} {
		b.Run(string(p.Purpose), func(b *testing.B) {
			d := newMember(b, nil, nil)
			var m Model = d
			r := Request{Prompt: &p, Seat: "a1"}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				p.Seed++
				if _, err := m.Complete(ctx, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// toGame answers with the traits of a simulated member in a game.
type toGame struct{}

func (toGame) Same(synod.Detail) bool { return false }
func (toGame) String() string         { return "" }
func (toGame) Simulate(_ *synod.Prompt, m synod.Simulation) synod.Reply {
	return synod.Reply{Status: synod.OK, Typed: true, Answer: synod.Answer(fmt.Sprint(m.Holds, m.Stalls, m.Wary))}
}

// In games the study shares whether its members stall, in each run anew; whether one holds its number is its own
// luck. Neither changes within a game.
func TestSimulatedTraitsOfGames(t *testing.T) {
	m := newMember(t, nil, func(c *SimulatedConfig) { c.Holdout, c.Stall, c.Wary = 0.2, 0.5, 0.3 })
	const games = 2000
	ask := func(seat string, game int, seed uint64) string {
		r, err := m.Complete(context.Background(), Request{Seat: seat, Run: uint64(game),
			Prompt: &synod.Prompt{Question: numberQuestion(1), Purpose: "vote", Detail: toGame{}, Seed: seed}})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Answer)
	}
	holds, stalls, wary, both := 0, 0, 0, 0
	for game := range games {
		var a, b [3]bool
		fmt.Sscan(ask("a", game, 1), &a[0], &a[1], &a[2])
		fmt.Sscan(ask("b", game, 1), &b[0], &b[1], &b[2])
		if again := ask("a", game, 2); again != fmt.Sprint(a[0], a[1], a[2]) || a[1] != b[1] || a[2] != b[2] {
			t.Fatalf("game %d: %v, then %s; another member: %v", game, a, again, b)
		}
		for of, hit := range map[*int]bool{&holds: a[0], &stalls: a[1], &wary: a[2], &both: a[0] && b[0]} {
			if hit {
				*of++
			}
		}
	}
	within(t, "holds", holds, games, 0.2)
	within(t, "stalls", stalls, games, 0.5)
	within(t, "wary", wary, games, 0.3)
	within(t, "both hold", both, games, 0.04)
	if c := newMember(t, nil, nil).Info().Identity; strings.Contains(c, "Holdout") {
		t.Errorf("identity %q: members without these traits must keep their identity", c)
	}
}

// A simulated model without a budget or a trace replies at once, as Complete does.
func TestInstantRepliesAsComplete(t *testing.T) {
	open := func(env Env) Model {
		m, err := new(Pool).Open("simulated", func(any) error { return nil }, Options{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := open(Env{})
	instant := InstantOf(m)
	for i := range 100 {
		p := synod.Prompt{Purpose: []synod.Purpose{synod.Answering, synod.Scoring, synod.Weighing, synod.Refining,
			"unknown"}[i%5], Question: numberQuestion(i), Own: "3", Candidate: synod.Answer(fmt.Sprint(i)),
			Peers: []synod.Rated{{Answer: "7", Score: 0.5}}, ConfidenceMode: synod.StatedConfidence, Seed: uint64(i)}
		r := Request{Prompt: &p, Seat: "a", Sample: i % 2}
		want, failed := m.Complete(context.Background(), r)
		got := synod.Reply{Text: "of an earlier call", Late: true}
		err := instant.Reply(&r, &got)
		if !reflect.DeepEqual(got, want) || (err == nil) != (failed == nil) || (err != nil) != (i%5 == 4) {
			t.Fatalf("%+v: %+v, %v; Complete returns %+v, %v", p, got, err, want, failed)
		}
	}
	if InstantOf(stack(m, func(m Model) Model { return &recording{layered: layered{m}} })) != nil {
		t.Error("a layer would not see the calls")
	}
}
