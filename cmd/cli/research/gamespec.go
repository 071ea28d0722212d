package research

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol/game"
)

// gameCouncil describes a consensus game.
type gameCouncil struct {
	honest    int         // number of honest players
	byzantine int         // number of Byzantine players
	strategy  string      // adversary of the Byzantine players
	params    plan.Params // parameters of protocol game that differ from its defaults
	model     plan.Params // model of every player without one of its own

	own map[string]plan.Params // models of single players by id: p1, p2, …, b1, b2, …
}

// spec returns the council that plays the game: honest players p1, p2, … and Byzantine
// players b1, b2, …, all of one model.
func (g gameCouncil) spec() plan.Spec {
	spec := plan.Default()
	spec.Council = fmt.Sprintf("game-%d-%d", g.honest, g.byzantine)
	spec.Protocol = plan.Params{"name": "game"}
	for key, v := range g.params {
		spec.Protocol[key] = v
	}
	spec.F = g.byzantine
	spec.Limits = g.limits()
	spec.Models = map[string]plan.Params{}
	spec.Seats = g.seats(&spec, "p", g.honest, nil)
	spec.Seats = append(spec.Seats, g.seats(&spec, "b", g.byzantine, plan.Params{"name": g.strategy})...)
	return spec
}

// seats returns n seats whose ids begin with prefix, and adds their models. Without models of single players they are
// one entry with a count, as in a file.
func (g gameCouncil) seats(spec *plan.Spec, prefix string, n int, adversary plan.Params) (
	seats []plan.SeatSpec) {
	if n == 0 {
		return nil
	}
	if len(g.own) == 0 {
		spec.Models["player"] = g.model
		return []plan.SeatSpec{{ID: prefix, Model: "player", Count: n, Adversary: adversary}}
	}
	for i := range n {
		id, model := fmt.Sprint(prefix, i+1), "player"
		if g.own[id] != nil {
			model, spec.Models[id] = id, g.own[id]
		} else {
			spec.Models["player"] = g.model
		}
		seats = append(seats, plan.SeatSpec{ID: id, Model: model, Adversary: adversary})
	}
	return seats
}

// limits returns the limits of a game: as many calls as its players may make, with the tokens
// of prompts that show every player's number and reason, and an hour.
func (g gameCouncil) limits() plan.Limits {
	p := game.New()
	if rounds, ok := g.params["rounds"].(int); ok {
		p.Rounds = rounds
	}
	players := g.honest + g.byzantine
	calls := p.Calls(make([]int, players))
	return plan.Limits{Calls: calls, Tokens: calls * (500 + 120*players), Deadline: time.Hour}
}

// ownModels matches the names of models of single players.
var ownModels = regexp.MustCompile(`^[pb][1-9][0-9]*$`)

// players sets the models of the players. A council file may have one for each: p1, p2, … for the honest players, b1,
// b2, … for Byzantine ones, and player for those without.
func (g *gameCouncil) players(members string) (err error) {
	if !slices.Contains(manifest.Kinds(), members) {
		file, err := plan.Load(members)
		if err != nil { // player says what members may be
			_, err = player(members)
			return err
		}
		g.own = file.Models
		maps.DeleteFunc(g.own, func(name string, _ plan.Params) bool { return !ownModels.MatchString(name) })
		needed := g.honest + g.byzantine
		for i := range max(g.honest, g.byzantine) {
			if g.own[fmt.Sprint("p", i+1)] != nil && i < g.honest {
				needed--
			}
			if g.own[fmt.Sprint("b", i+1)] != nil && i < g.byzantine {
				needed--
			}
		}
		if needed == 0 {
			return nil
		}
	}
	g.model, err = player(members)
	return err
}

// player returns the model of the players: simulated ones without the failures of the paper's, other kinds of
// members as in its experiments, or the model "player" of a council file.
func player(members string) (plan.Params, error) {
	if members == "simulated" {
		return plan.Params{"provider": "simulated", "stubbornness": 0.3, "sharpness": 2, "noise": 0.1}, nil
	}
	p, err := manifest.FindPreset("game-fig2")
	if err != nil {
		return nil, err
	}
	return p.Manifest.Model(members, "player")
}
