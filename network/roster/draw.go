package roster

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod/internal/canonical"
)

// Draw is the rule by which a committee of a few members is drawn for each run of a large council. A roster need not
// have one.
//
// The beacons draw: each of them computes the verifiable random function of its key on the roster's hash, the question
// and the run (package committee). All must, so a run has one draw. Among those who are drawn everybody hears
// everybody, so a roster with this rule has no edges, and its r is that of a complete graph of Size members.
type Draw struct {
	_       struct{} `cbor:",toarray"`
	Size    uint64   // members that are drawn, 1 to MaxCommittee
	F       uint64   // of these, the most that may be Byzantine; less than Size
	Beacons []uint64 // seats, ascending, 1 to MaxBeacons
}

// The limits of a Draw.
const (
	MaxCommittee = 512
	MaxBeacons   = 64
)

// drawnTerms is the encoding of the terms of a roster with a draw.
type drawnTerms struct {
	_     struct{} `cbor:",toarray"`
	Terms *Terms
	Draw  *Draw
}

// beginDrawn is the first byte of the encoding of drawnTerms: an array of two.
const beginDrawn = 0x82

// Encode returns the canonical encoding. Terms without a draw have that of before there were draws.
func (t *Terms) Encode() []byte {
	if t.Draw == nil {
		return canonical.Encode(t)
	}
	return canonical.Encode(drawnTerms{Terms: t, Draw: t.Draw})
}

// readTerms reads what Encode returns. It checks nothing else.
func readTerms(b []byte) (*Terms, error) {
	if len(b) == 0 || b[0] != beginDrawn {
		t := new(Terms)
		return t, canonical.Decode(b, MaxBytes, t)
	}
	var d drawnTerms
	if err := canonical.Decode(b, MaxBytes, &d); err != nil {
		return nil, err
	}
	if d.Terms == nil || d.Draw == nil {
		return nil, errors.New("the terms or their draw are null")
	}
	d.Terms.Draw = d.Draw
	return d.Terms, nil
}

// checkDraw returns the first thing that is wrong with the draw; nil if there is none.
func (t *Terms) checkDraw() error {
	d, n := t.Draw, uint64(len(t.Members))
	if d == nil {
		return nil
	}
	switch {
	case d.Size < 1 || d.Size > min(n, MaxCommittee) || d.F >= d.Size:
		return fmt.Errorf("roster: its committee has %d members and F = %d; it must have 1 to %d, and F must be less",
			d.Size, d.F, min(n, MaxCommittee))
	case len(d.Beacons) < 1 || len(d.Beacons) > MaxBeacons || d.Beacons[len(d.Beacons)-1] >= n:
		return fmt.Errorf("roster: its committee has %d beacons; it must have 1 to %d, which are seats",
			len(d.Beacons), MaxBeacons)
	case !slices.IsSorted(d.Beacons) || len(slices.Compact(slices.Clone(d.Beacons))) != len(d.Beacons):
		return errors.New("roster: the beacons of its committee are not in ascending order, each once")
	case t.Voters() != n:
		return errors.New("roster: it has a committee, for which all members are drawn, and not all of them vote")
	case t.Faults != Global || len(t.Edges) != 0 || t.R != (d.Size+1)/2 || !t.Exact:
		return fmt.Errorf("roster: it has a committee, in which all hear all: it must have no edges, r = %d, exact, "+
			"and F must bound members (%q)", (d.Size+1)/2, Global)
	}
	return nil
}
