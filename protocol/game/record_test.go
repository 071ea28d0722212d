package game

import (
	"maps"
	"slices"
	"testing"

	"synod.dev/synod"
)

// The outcome shows the vote, and a log also who was counted. An opinion of another protocol has neither.
func TestRecordAsText(t *testing.T) {
	for _, c := range []struct {
		record Record
		want   string
	}{
		{Record{Vote: Continue}, "votes continue"},
		{Record{Vote: Stop, Stops: []synod.NodeID{0, 2}, Over: true}, "votes stop, counts stop of n0,n2, ends"},
	} {
		if got := c.record.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	g := New()
	o := &synod.Opinion{Record: &Record{Vote: Stop, Stops: []synod.NodeID{1}, Evidence: [][]byte{{1}}}}
	if got := g.PresentRound(o, nil); !maps.Equal(got, map[string]any{"vote": Stop}) {
		t.Errorf("shown: %v", got)
	}
	if !slices.Equal(StopsOf(o), []synod.NodeID{1}) || len(g.Accusations(o)) != 1 {
		t.Errorf("counts %v, evidence %v", StopsOf(o), g.Accusations(o))
	}
	for what, other := range map[string]*synod.Opinion{
		"no record": {}, "an unreadable one": {Record: synod.RawRecord("[")},
	} {
		if g.PresentRound(other, nil) != nil || StopsOf(other) != nil || VoteOf(other) != "" ||
			g.Accusations(other) != nil {
			t.Errorf("%s shows something", what)
		}
	}
}
