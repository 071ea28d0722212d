package cli

import (
	"fmt"
	"time"

	"synod.dev/synod/council"
	"synod.dev/synod/lab/manifest"
	"synod.dev/synod/protocol/game"
)

// gameCouncil describes a consensus game.
type gameCouncil struct {
	honest    int            // number of honest players
	byzantine int            // number of Byzantine players
	strategy  string         // adversary of the Byzantine players
	params    council.Params // parameters of protocol game that differ from its defaults
	model     council.Params // model of every player
}

// spec returns the council that plays the game: honest players p1, p2, … and Byzantine
// players b1, b2, …, all of one model.
func (g gameCouncil) spec() council.Spec {
	spec := council.Default()
	spec.Council = fmt.Sprintf("game-%d-%d", g.honest, g.byzantine)
	spec.Protocol = council.Params{"name": "game"}
	for key, v := range g.params {
		spec.Protocol[key] = v
	}
	spec.F = g.byzantine
	spec.Limits = g.limits()
	spec.Models = map[string]council.Params{"player": g.model}
	spec.Seats = []council.SeatSpec{{ID: "p", Model: "player", Count: g.honest}}
	if g.byzantine > 0 {
		spec.Seats = append(spec.Seats, council.SeatSpec{ID: "b", Model: "player", Count: g.byzantine,
			Adversary: council.Params{"name": g.strategy}})
	}
	return spec
}

// limits returns the limits of a game: as many calls as its players may make, with the tokens
// of prompts that show every player's number and reason, and an hour.
func (g gameCouncil) limits() council.Limits {
	p := game.New()
	if rounds, ok := g.params["rounds"].(int); ok {
		p.Rounds = rounds
	}
	players := g.honest + g.byzantine
	calls := p.Calls(make([]int, players))
	return council.Limits{Calls: calls, Tokens: calls * (500 + 120*players), Deadline: time.Hour}
}

// player returns the model of the players: for a kind of members as in the paper's experiments, or the
// model "player" of a council file.
func player(members string) (council.Params, error) {
	p, err := manifest.Presets().Find("game-fig2")
	if err != nil {
		return nil, err
	}
	return p.Manifest.Model(members, "player")
}
