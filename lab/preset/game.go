package preset

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

// Game says which consensus game is to be played.
type Game struct {
	Honest   int
	Liars    int
	Strategy string         // of the Byzantine players: a name of the adversary catalogue
	Params   council.Params // of protocol game, over its defaults
	Model    council.Params // of every player
}

// Spec is the council that plays the game: honest players p1, p2, … and Byzantine
// ones b1, b2, …, all of one model.
func (g Game) Spec() council.Spec {
	spec := council.Default()
	spec.Council = fmt.Sprintf("game-%d-%d", g.Honest, g.Liars)
	spec.Protocol = council.Params{"name": "game"}
	for key, v := range g.Params {
		spec.Protocol[key] = v
	}
	spec.F, spec.Limits = g.Liars, council.Limits{}
	spec.Models = map[string]council.Params{"player": g.Model}
	spec.Seats = []council.SeatSpec{{ID: "p", Model: "player", Count: g.Honest}}
	if g.Liars > 0 {
		spec.Seats = append(spec.Seats, council.SeatSpec{ID: "b", Model: "player", Count: g.Liars, Adversary: council.Params{"name": g.Strategy}})
	}
	return spec
}

// GameQuestion is what a council is asked that plays the game.
func GameQuestion(low, high int) synod.Question {
	return synod.Question{ID: "game", Text: fmt.Sprintf("Agree on one whole number from %d to %d.", low, high), Form: synod.Number}
}

// Player is the model of every player for the kind of members, or of a council file
// that has a model "player".
func Player(members string) (council.Params, error) {
	if members == "" {
		members = "simulated"
	}
	found, err := models(Options{Members: members}, players, "player")
	if err != nil {
		return nil, err
	}
	return found["player"], nil
}

var players = map[string]map[string]council.Params{
	"simulated": {"player": {"provider": "simulated", "stubbornness": 0.3, "sharpness": 2, "noise": 0.1}},
	"embedded":  {"player": {"provider": "embedded", "model": "smollm2-135m-instruct", "temperature": 0.5, "max_tokens": 300}},
}

// gameRuns is how many games the paper plays of a kind.
const gameRuns = 25

type gameFigure struct {
	name, summary string
	runs          int
	cells         []gameCell
}

type gameCell struct {
	honest, liars int
	variant       string
	valid         float64 // the paper's share of valid endings; 0: not printed
}

func gameFigures() (all []Preset) {
	for _, f := range []gameFigure{
		{"game-fig2", "games without Byzantine players: N = 4, 8, 16, hostile players mentioned or not", gameRuns, withoutLiars()},
		{"game-fig3", "games with 4, 8 or 16 honest and 0 to 4 Byzantine players", gameRuns, withLiars()},
		{"game-fig4", "what eight honest players name, round by round", 5, []gameCell{
			{8, 0, "no-adversary", 0}, {8, 0, "may-exist", 0}, {8, 1, "may-exist", 0}, {8, 3, "may-exist", 0},
		}},
	} {
		all = append(all, Preset{
			Entry:  synod.Entry{Name: f.name, Summary: "consensus game, " + f.summary},
			Source: `Berdoz et al., "Can AI Agents Agree?", Figure ` + f.name[len(f.name)-1:],
			About: `The consensus game with T_max = 50, whole numbers from 0 to 50 and -n games a cell
(25 in the paper). Byzantine players are the paper's: a model that is told to keep
the others apart. Figure 3 of the paper has eight honest players; here stand four
and sixteen beside them. What the paper prints of Figure 2 are means over its two
models and both prompts, and they stand beside each cell of that size.

simulated  players that follow what most name; see synod explain simulated
embedded   the model in the box: give a small -n and --rounds
FILE       a council file with a model player`,
			plan: f.plan,
		})
	}
	return all
}

func withoutLiars() (cells []gameCell) {
	for _, n := range []int{4, 8, 16} {
		for _, variant := range []string{"may-exist", "no-adversary"} {
			cells = append(cells, gameCell{n, 0, variant, map[int]float64{4: 0.466, 16: 0.333}[n]})
		}
	}
	return cells
}

func withLiars() (cells []gameCell) {
	for _, n := range []int{4, 8, 16} {
		for b := 0; b <= 4; b++ {
			cells = append(cells, gameCell{n, b, "may-exist", 0})
		}
	}
	return cells
}

func (f gameFigure) plan(o Options) (*plan, error) {
	found, err := models(o, players, "player")
	if err != nil {
		return nil, err
	}
	p := &plan{task: "game", items: []task.Item{task.Ungraded(GameQuestion(0, 50))}, repeat: f.runs, rounds: true}
	if o.N > 0 {
		p.repeat = o.N
	}
	rounds := 50
	if o.Rounds > 0 {
		rounds = o.Rounds
	}
	for _, c := range f.cells {
		g := Game{Honest: c.honest, Liars: c.liars, Strategy: "saboteur", Model: found["player"], Params: council.Params{"rounds": rounds, "variant": c.variant}}
		out := cell{spec: g.Spec()}
		out.Cell = lab.Cell{
			Name: fmt.Sprintf("h%d-b%d-%s", c.honest, c.liars, c.variant),
			Params: map[string]any{
				"protocol": "game", "n": c.honest + c.liars, "b": c.liars, "f": c.liars, "adversary": "saboteur", "variant": c.variant, "rounds": rounds, "task": "game",
			},
		}
		if c.valid > 0 {
			out.Paper = map[string]report.Figure{"valid": {Value: c.valid, N: 4 * gameRuns}}
		}
		p.cells = append(p.cells, out)
	}
	return p, nil
}
