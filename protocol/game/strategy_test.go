package game_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/game"
)

// naive is a group of simulated players that follow the numbers they receive.
func naive(t testing.TB) func(sim.Call) synod.Reply {
	t.Helper()
	c := llm.NewSimulatedConfig()
	c.Stubbornness, c.Sharpness, c.Noise = 0.2, 2, 0.1
	d, err := llm.NewSimulated(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(call sim.Call) synod.Reply {
		r, err := d.Complete(context.Background(), llm.Request{Prompt: call.Prompt, Seat: fmt.Sprint(call.Node)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// valid returns the share of valid games among games of n players with b adversaries.
func valid(t testing.TB, g *game.Game, n, b int, name string, games int) *metrics.Rate {
	t.Helper()
	ask, won := naive(t), 0
	for seed := range uint64(games) {
		machines := table(g, n, b, seed+1)
		for i := n - b; i < n; i++ {
			e, err := adversary.Catalogue.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			a, err := e.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			machines[i] = a.Corrupt(seat(i, n, b, seed+1), machines[i])
		}
		p := play(machines, ask)
		if g.Judge(p.notes, honest(n, b)).Outcome == game.Valid {
			won++
		}
	}
	return metrics.Share(won, games)
}

// GM-6: with each strategy fewer games of naive players are valid, beyond chance.
func TestStrategiesHaveAnEffect(t *testing.T) {
	const games = 100
	g := game.New()
	g.Rounds = 6
	alone := valid(t, g, 6, 0, "", games)
	t.Logf("six honest players: %.2f valid", alone.Value)
	for _, name := range []string{"midpoint", "mimic", "oscillator", "extremist", "silent", "saboteur"} {
		with := valid(t, g, 8, 2, name, games)
		t.Logf("and two of %s: %.2f", name, with.Value)
		if d := metrics.Difference(with, alone); d.High >= 0 {
			t.Errorf("%s has no effect: %.2f valid with it, %.2f without", name, with.Value, alone.Value)
		}
	}
}

// GM-9: if code chooses the numbers, or ends the game, more games of the same players with the same
// adversaries are valid. This does not hold for every adversary, and w-msr averages, so its numbers
// may be none of the initial ones.
func TestRulesHelp(t *testing.T) {
	const games = 100
	for name, helps := range map[string][]game.Rule{"mimic": {game.Mode, game.Median}, "silent": {game.FinalVote}} {
		rate := func(rule game.Rule) *metrics.Rate {
			g := game.New()
			g.Rounds, g.Rule = 6, rule
			r := valid(t, g, 8, 2, name, games)
			t.Logf("two of %s, rule %s: %.2f valid", name, rule, r.Value)
			return r
		}
		without := rate(game.Model)
		for _, rule := range helps {
			if with := rate(rule); metrics.Difference(with, without).Low <= 0 {
				t.Errorf("%s does not help against %s: %.2f, and %.2f without", rule, name, with.Value, without.Value)
			}
		}
	}
}

// Two games with the same seed have equal notes.
func TestOneSeedOneGame(t *testing.T) {
	once := func() string {
		g := game.New()
		g.Rounds = 6
		p := play(table(g, 5, 1, 11), naive(t))
		var s strings.Builder
		for _, of := range p.notes {
			for _, o := range of {
				fmt.Fprintln(&s, o)
			}
		}
		return s.String()
	}
	first := once()
	for range 50 {
		if again := once(); again != first {
			t.Fatalf("two games with one seed differ:\n%s\n%s", first, again)
		}
	}
}

func BenchmarkGame(b *testing.B) {
	g := game.New()
	g.Rounds = 50
	ask := naive(b)
	for i := 0; b.Loop(); i++ {
		machines := table(g, 8, 2, uint64(i)+1)
		for k := 6; k < 8; k++ {
			e, _ := adversary.Catalogue.Find("extremist")
			a, _ := e.New(nil)
			machines[k] = a.Corrupt(seat(k, 8, 2, 1), machines[k])
		}
		play(machines, ask)
	}
}
