package preset

import (
	"fmt"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/lab"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/report"
	"synod.dev/synod/task"
)

// Game describes a consensus game.
type Game struct {
	Honest    int            // number of honest players
	Byzantine int            // number of Byzantine players
	Strategy  string         // adversary of the Byzantine players
	Params    council.Params // parameters of protocol game that differ from its defaults
	Model     council.Params // model of every player
}

// Spec returns the council that plays the game: honest players p1, p2, … and Byzantine
// players b1, b2, …, all of one model.
func (g Game) Spec() council.Spec {
	spec := council.Default()
	spec.Council = fmt.Sprintf("game-%d-%d", g.Honest, g.Byzantine)
	spec.Protocol = council.Params{"name": "game"}
	for key, v := range g.Params {
		spec.Protocol[key] = v
	}
	spec.F = g.Byzantine
	spec.Limits = g.limits()
	spec.Models = map[string]council.Params{"player": g.Model}
	spec.Seats = []council.SeatSpec{{ID: "p", Model: "player", Count: g.Honest}}
	if g.Byzantine > 0 {
		spec.Seats = append(spec.Seats, council.SeatSpec{ID: "b", Model: "player", Count: g.Byzantine,
			Adversary: council.Params{"name": g.Strategy}})
	}
	return spec
}

// limits returns the limits of a game: as many calls as its players may make, with the tokens
// of prompts that show every player's number and reason, and an hour.
func (g Game) limits() council.Limits {
	p := game.New()
	if rounds, ok := g.Params["rounds"].(int); ok {
		p.Rounds = rounds
	}
	players := g.Honest + g.Byzantine
	calls := p.Calls(make([]int, players))
	return council.Limits{Calls: calls, Tokens: calls * (500 + 120*players), Deadline: time.Hour}
}

// GameQuestion returns the question of a game with the given range of numbers.
func GameQuestion(low, high int) synod.Question {
	return synod.Question{ID: "game", Text: fmt.Sprintf("Agree on one whole number from %d to %d.", low, high),
		Form: synod.Number}
}

// Player returns the model of the players: for a kind of members, or the model "player"
// of a council file.
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
	"embedded": {"player": {"provider": "embedded", "model": "smollm2-135m-instruct", "temperature": 0.5,
		"max_tokens": 300}},
}

// gameRuns is the number of games of each kind in the paper.
const gameRuns = 25

type gameFigure struct {
	name, summary string
	runs          int
	cells         []gameCell
}

type gameCell struct {
	honest, byzantine int
	variant           string
	valid             float64 // share of valid outcomes in the paper; 0: not printed
}

func gameFigures() (all []Preset) {
	for _, f := range []gameFigure{
		{"game-fig2", "games without Byzantine players: N = 4, 8, 16, hostile players mentioned or not", gameRuns,
			withoutByzantine()},
		{"game-fig3", "games with 4, 8 or 16 honest and 0 to 4 Byzantine players", gameRuns, withByzantine()},
		{"game-fig4", "values of eight honest players by round", 5, []gameCell{
			{8, 0, "no-adversary", 0}, {8, 0, "may-exist", 0}, {8, 1, "may-exist", 0}, {8, 3, "may-exist", 0},
		}},
	} {
		all = append(all, Preset{
			Entry:  synod.Entry{Name: f.name, Summary: "consensus game, " + f.summary},
			Source: `Berdoz et al., "Can AI Agents Agree?", Figure ` + f.name[len(f.name)-1:],
			About: `The consensus game with T_max = 50, whole numbers from 0 to 50 and -n games for each
cell (25 in the paper). Byzantine players are those of the paper: a model that is told
to prevent agreement. Figure 3 of the paper has eight honest players; here are cells
with four and sixteen too. The figures of Figure 2 are means over two models and both
prompts; every cell of that size is compared with them. Every player counts the votes that
it receives, as in the paper (end: paper).

simulated  players that follow the most common number; see synod explain simulated
embedded   the embedded model: use a small -n and --rounds
FILE       a council file with a model named player`,
			plan: f.plan,
		})
	}
	return all
}

func withoutByzantine() (cells []gameCell) {
	for _, n := range []int{4, 8, 16} {
		for _, variant := range []string{"may-exist", "no-adversary"} {
			cells = append(cells, gameCell{n, 0, variant, map[int]float64{4: 0.466, 16: 0.333}[n]})
		}
	}
	return cells
}

func withByzantine() (cells []gameCell) {
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
		g := Game{Honest: c.honest, Byzantine: c.byzantine, Strategy: "saboteur", Model: found["player"],
			Params: council.Params{"rounds": rounds, "variant": c.variant, "end": game.PaperEnd}}
		out := cell{spec: g.Spec()}
		out.Cell = lab.Cell{
			Name: fmt.Sprintf("h%d-b%d-%s", c.honest, c.byzantine, c.variant),
			Params: map[string]any{
				"protocol": "game", "n": c.honest + c.byzantine, "b": c.byzantine, "f": c.byzantine,
				"adversary": "saboteur", "variant": c.variant, "rounds": rounds, "task": "game",
			},
		}
		if c.valid > 0 {
			out.Paper = map[string]report.Figure{"valid": {Value: c.valid, N: 4 * gameRuns}}
		}
		p.cells = append(p.cells, out)
	}
	return p, nil
}
