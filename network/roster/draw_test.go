package roster_test

import (
	"bytes"
	"strings"
	"testing"

	"synod.dev/synod/network/roster"
)

// A roster without a draw has the bytes that it had before there were draws: the terms begin with an array of 13. With
// one it reads back, and has another hash.
func TestDrawIsOptional(t *testing.T) {
	owners := secrets(t, 1, 7)
	plain := complete(owners)
	if terms, _ := plain.Parts(); terms[0] != 0x8d {
		t.Errorf("the terms begin with %x", terms[0])
	}
	r := complete(owners)
	r.Edges, r.Faults, r.R, r.Exact = nil, roster.Global, 2, true
	without := r.Hash()
	r.Draw = &roster.Draw{Size: 4, F: 1, Beacons: []uint64{0, 6}}
	s, err := roster.Parse(signed(r, owners...).File())
	if err != nil || s.Verify() != nil || s.Hash() != r.Hash() || s.Hash() == without || s.Draw.Size != 4 {
		t.Fatalf("%v, %+v", err, s)
	}
	terms, _ := r.Parts()
	if got, err := roster.DecodeTerms(terms); err != nil || got.Draw.F != 1 || !bytes.Equal(got.Encode(), terms) {
		t.Errorf("%v, %+v", err, got)
	}
	for name, bad := range map[string]roster.Draw{
		"nobody":               {Size: 0, Beacons: []uint64{0}},
		"too many":             {Size: 8, F: 1, Beacons: []uint64{0}},
		"all Byzantine":        {Size: 4, F: 4, Beacons: []uint64{0}},
		"no beacon":            {Size: 4, F: 1},
		"a beacon outside":     {Size: 4, F: 1, Beacons: []uint64{0, 7}},
		"beacons out of order": {Size: 4, F: 1, Beacons: []uint64{6, 0}},
		"a beacon twice":       {Size: 4, F: 1, Beacons: []uint64{6, 6}},
		"another r":            {Size: 5, F: 1, Beacons: []uint64{0}},
	} {
		r.Draw = &bad
		if err := r.Validate(); err == nil || !strings.HasPrefix(err.Error(), "roster: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.Draw = &roster.Draw{Size: 4, F: 1, Beacons: []uint64{0}}
	r.Members[3].Voter = false
	if r.Validate() == nil {
		t.Error("a member without a vote may be drawn")
	}
}
