package game

import "synod.dev/synod"

// Record is what an opinion of the game has beyond the common fields.
type Record struct {
	Vote  Vote           `json:"vote,omitempty"`  // after this round
	Stops []synod.NodeID `json:"stops,omitempty"` // the players whose votes to stop it counted, ascending
	Over  bool           `json:"over,omitempty"`  // these votes end the game
	// that players signed two votes of this round, as broadcast.Evidence encodes it
	Evidence [][]byte `json:"evidence,omitempty"`
}

// Accusations returns the evidence in a player's record.
func (g *Game) Accusations(o *synod.Opinion) [][]byte {
	if r, err := synod.RecordOf[Record](o); r != nil && err == nil {
		return r.Evidence
	}
	return nil
}

func (r *Record) String() string {
	s := "votes " + string(r.Vote)
	if len(r.Stops) > 0 {
		s += ", counts stop of " + nodes(r.Stops)
	}
	if r.Over {
		s += ", ends"
	}
	return s
}

// PresentRound shows the vote of a record.
func (g *Game) PresentRound(o *synod.Opinion, _ func(synod.NodeID) string) map[string]any {
	if v := VoteOf(o); v != "" {
		return map[string]any{"vote": v}
	}
	return nil
}

// VoteOf returns the vote of an opinion, or "" if it has none.
func VoteOf(o *synod.Opinion) Vote { return recordOf(o).Vote }

// StopsOf returns the players whose votes to stop a player counted, ascending.
func StopsOf(o *synod.Opinion) []synod.NodeID { return recordOf(o).Stops }

// recordOf returns the record of an opinion; an empty one if it has none.
func recordOf(o *synod.Opinion) Record {
	if r, err := synod.RecordOf[Record](o); r != nil && err == nil {
		return *r
	}
	return Record{}
}
