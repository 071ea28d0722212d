package outcome

import (
	"reflect"
	"testing"

	"synod.dev/synod"
)

// Opinions that are packed come back unchanged, whatever they hold.
func TestPackedOpinions(t *testing.T) {
	confidence := 0.25
	opinions := []synod.Opinion{
		{}, {Round: 1, Answer: "a", Source: synod.Own},
		{Round: 300, Answer: "a", Surface: "A!", Source: "another", From: []synod.NodeID{0, 127, 128, 9999},
			Confidence: &confidence, Scores: []synod.Judged{{Of: 3, Score: synod.Untrusted}, {Of: 200, Score: 1. / 3}},
			Retained: []synod.NodeID{1}, Dropped: []synod.NodeID{2}, Silent: []synod.NodeID{3},
			Suspects: []synod.NodeID{4}, Record: synod.RawRecord(`{"a":1}`), Failed: 1, Unreadable: 2, Unsure: 3,
			Reused: 1 << 40},
		{Round: -1, Record: synod.RawRecord(`2`)},
	}
	var p packed
	for i := range opinions {
		p.add(&opinions[i])
	}
	for i := range opinions {
		if got := p.next(); !reflect.DeepEqual(*got, opinions[i]) {
			t.Errorf("opinion %d is %+v, want %+v", i, *got, opinions[i])
		}
	}
	if len(p.bytes)+len(p.records) > 0 {
		t.Errorf("%d bytes and %d records are left", len(p.bytes), len(p.records))
	}
}
