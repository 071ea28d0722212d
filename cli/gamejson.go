package cli

import (
	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol/game"
)

// gameRecord is what "synod game --json" prints.
type gameRecord struct {
	Version   int           `json:"version"`
	Outcome   *game.Outcome `json:"outcome"`    // null: it was cut off, or a player's model was never reached
	StopRound *int          `json:"stop_round"` // null: nobody ended it
	Stopped   string        `json:"stopped"`    // rounds, or what cut it off
	Finalised bool          `json:"finalised"`  // code ended it
	Rule      game.Rule     `json:"rule"`
	Variant   string        `json:"variant"`
	Players   []gamePlayer  `json:"players"`
	Rounds    []gameRound   `json:"rounds"`
	Seed      uint64        `json:"seed"`
}

type gamePlayer struct {
	ID        string   `json:"id"`
	Byzantine bool     `json:"byzantine"`
	Strategy  string   `json:"strategy,omitempty"`
	Initial   *int     `json:"initial"` // null for a Byzantine player
	Kind      llm.Kind `json:"kind"`
}

// gameRound is what players hold after a round, and how they voted in it.
type gameRound struct {
	T      int                   `json:"t"`
	Values map[string]*int       `json:"values"`
	Votes  map[string]synod.Vote `json:"votes"`
}

func (b *board) record(o *council.Outcome) gameRecord {
	r := gameRecord{Version: 1, Stopped: o.Stopped, Rule: b.game.Rule, Variant: b.game.Variant, Seed: o.Seed}
	if !cutOff(o) && unreached(o) == nil {
		judged := b.game.Judge(b.notes, b.honest())
		r.Outcome, r.Finalised = &judged.Outcome, judged.Code
		if judged.Stop > 0 {
			r.StopRound = &judged.Stop
		}
	}
	last := 0
	for i, s := range b.seats {
		r.Players = append(r.Players, gamePlayer{ID: s.ID, Byzantine: s.Adversary != "", Strategy: s.Adversary, Initial: b.value(i, 0), Kind: s.Kind})
		for _, o := range b.notes[i] {
			last = max(last, o.Round)
		}
	}
	for t := 1; t <= last; t++ {
		round := gameRound{T: t, Values: map[string]*int{}, Votes: map[string]synod.Vote{}}
		for i, s := range b.seats {
			round.Values[s.ID] = b.value(i, t)
			vote := synod.Abstain
			if o := b.at(i, t); o != nil && o.Vote != "" {
				vote = o.Vote
			}
			round.Votes[s.ID] = vote
		}
		r.Rounds = append(r.Rounds, round)
	}
	return r
}
