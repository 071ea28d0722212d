package game_test

import (
	"fmt"
	"io/fs"
	"strconv"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/game"
)

// proposing returns replies of players that propose the given numbers and vote to go on; -1: the player abstains.
func proposing(values ...int) func(sim.Call) synod.Reply {
	return func(c sim.Call) synod.Reply {
		switch v := values[c.Node]; {
		case c.Prompt.Purpose == game.Voting:
			return says(`{"decision": "continue"}`)
		case v < 0:
			return says(`{"value": "abstain"}`)
		default:
			return says(fmt.Sprintf(`{"value": %d}`, v))
		}
	}
}

// GM-9: what a rule in code makes of the numbers of one round. The smallest and the largest number of the game count
// like any other. Without any number a player keeps its own.
func TestRulesOfCode(t *testing.T) {
	const kept = -1 // what each player was given
	for _, c := range []struct {
		rule   game.Rule
		f      int
		values []int
		want   int
	}{
		{game.Mode, 0, []int{7, 7, 3, 9}, 7}, {game.Mode, 0, []int{9, 3, 9, 3}, 3},
		{game.Mode, 0, []int{3, 2, 1, 3, 2, 3}, 3},
		{game.Mode, 0, []int{-1, 5, -1, -1}, 5},
		{game.Median, 0, []int{4, 1, 3, 2}, 2}, {game.Median, 0, []int{9, 1, 5}, 5},
		{game.Median, 0, []int{8, -1, 6}, 6},
		{game.Median, 0, []int{-1, -1}, kept}, {game.Mode, 0, []int{-1, -1}, kept},
		{game.FinalVote, 0, []int{7, 7, 3, 9}, 7}, {game.FinalVote, 0, []int{-1, -1, -1}, kept},
		{game.FinalVote, 1, []int{0, 0, 0, 5}, 0}, {game.FinalVote, 1, []int{50, 50, 50, 5}, 50},
		{game.FinalVote, 1, []int{-1, -1, -1, -1}, kept}, {game.FinalVote, 1, []int{-1, 4, -1, -1}, 4},
	} {
		g := game.New()
		g.Rounds, g.Rule = 1, c.rule
		p := play(table(g, len(c.values), c.f, 1), proposing(c.values...))
		for i, of := range p.notes {
			want := synod.Answer(strconv.Itoa(c.want))
			if c.want == kept {
				want = of[0].Answer
			}
			if last := of[len(of)-1]; last.Answer != want {
				t.Errorf("%s of %v, f = %d: player %d holds %s, want %s", c.rule, c.values, c.f, i, last.Answer, want)
			}
		}
	}
}

// GM-1: players are given numbers from the smallest to the largest of the game, each of them to some.
func TestNumbersGiven(t *testing.T) {
	for _, c := range [][2]int{{10, 12}, {-3, -1}, {5, 5}} {
		g := game.New()
		g.Rounds, g.Low, g.High = 1, c[0], c[1]
		given := map[synod.Answer]int{}
		for seed := range uint64(10) {
			for _, of := range play(table(g, 4, 0, seed), proposing(-1, -1, -1, -1)).notes {
				given[of[0].Answer]++
			}
		}
		for v := c[0]; v <= c[1]; v++ {
			if a := synod.Answer(strconv.Itoa(v)); given[a] == 0 {
				t.Errorf("from %d to %d: nobody is given %s", c[0], c[1], a)
			}
		}
		if len(given) != c[1]-c[0]+1 {
			t.Errorf("from %d to %d: given %v", c[0], c[1], given)
		}
	}
}

// There is a template for each of the two prompts.
func TestPrompts(t *testing.T) {
	for _, purpose := range []synod.Purpose{game.Proposing, game.Voting} {
		if b, err := fs.ReadFile(game.Prompts(), string(purpose)+".tmpl"); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", purpose, len(b), err)
		}
	}
}
