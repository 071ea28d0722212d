package node

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
	"synod.dev/synod"
)

// playing returns a run of a caller that has not ended.
func playing(caller string) *run { return &run{caller: caller, ended: make(chan struct{})} }

// A caller that asks without end leaves places to others (finding 3).
func TestOneCallerLeavesPlaces(t *testing.T) {
	n := &Node{}
	for (service{n}).places("flood") == nil {
		n.order = append(n.order, playing("flood"))
	}
	if len(n.order) != DefaultAtOnce/2 {
		t.Errorf("one caller has %d runs at once", len(n.order))
	}
	if err := (service{n}).places("flood"); !strings.Contains(err.Error(), "of this caller") {
		t.Error(err)
	}
	for (service{n}).places("alice") == nil {
		n.order = append(n.order, playing("alice"))
	}
	if len(n.order) != DefaultAtOnce || (service{n}).places("bob") == nil {
		t.Errorf("%d runs at once", len(n.order))
	}
	close(n.order[0].ended)
	if (service{n}).places("bob") != nil || (service{n}).places("alice") == nil {
		t.Error("a run that has ended keeps its place, or gives it to a caller that has enough")
	}
}

// One caller cannot spend all calls of a day (finding 3).
func TestOneCallerLeavesCalls(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	d, err := openDaily(t.TempDir()+"/spent.json", Caps{Calls: 10}, func() time.Time { return now }, nil,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{model: priced{}, daily: d, log: slog.New(slog.DiscardHandler)}
	for range 5 {
		if err := d.left("flood"); err != nil {
			t.Fatal(err)
		}
		n.spend(&synod.Reply{Status: synod.OK, Calls: 1}, "flood")
	}
	if d.left("flood") == nil || d.left("alice") != nil {
		t.Errorf("after 5 of 10 calls: %v for the same caller, %v for another", d.left("flood"), d.left("alice"))
	}
	now = now.Add(24 * time.Hour)
	if err := d.left("flood"); err != nil {
		t.Error("the next day:", err)
	}
	d.save()
}

// What a node keeps of a run is freed when the run leaves its list: a thousand questions leave no place in the streams'
// cursors, and ended runs with many bytes leave early (finding 2).
func TestEndedRunsAreFreed(t *testing.T) {
	n := &Node{runs: map[runKey]*run{}, links: map[synod.NodeID]*peer{}}
	p := &peer{node: n, id: 1, cursor: map[*run]int{}}
	n.links[1] = p
	for i := range 1000 {
		r := playing("alice")
		r.key[0], r.key[1] = byte(i), byte(i>>8)
		r.out = map[synod.NodeID][][]byte{1: {[]byte("frame")}}
		(service{n}).register(r)
		p.pending()
		close(r.ended)
	}
	if p.pending(); len(p.cursor) > maxRuns || len(n.order) > maxRuns {
		t.Errorf("1000 runs have ended, and %d cursors and %d runs are kept", len(p.cursor), len(n.order))
	}
	for range 20 {
		r := playing("flood")
		r.key[0], r.key[2], r.size = byte(len(n.order)), byte(n.order[0].key[0]), 4<<20
		(service{n}).register(r)
		close(r.ended)
	}
	kept := 0
	for _, r := range n.order {
		kept += r.left()
	}
	if kept > maxEnded+4<<20 {
		t.Errorf("%d bytes of ended runs are kept", kept)
	}
}

// A neighbour cannot make a node hold more than maxPeerBytes in all runs, and what it made it hold is free after them.
func TestBytesOfANeighbour(t *testing.T) {
	n := &Node{links: map[synod.NodeID]*peer{1: {}}}
	var all []*run
	total := 0
	for range 8 {
		r := &run{node: n, held: map[synod.NodeID]int64{}}
		for r.hold(1, 1<<20) && r.held[1] < maxRunBytes {
			total += 1 << 20
		}
		all = append(all, r)
	}
	if n.links[1].held.Load() > maxPeerBytes || total < maxPeerBytes/2 {
		t.Errorf("it holds %d bytes", n.links[1].held.Load())
	}
	for _, r := range all {
		r.release()
	}
	if left := n.links[1].held.Load(); left != 0 {
		t.Errorf("%d bytes are accounted after the runs", left)
	}
}

// A neighbour that opens more streams does not get more frames read (finding 9).
func TestRateOfAllStreams(t *testing.T) {
	p := &peer{perSecond: rate.NewLimiter(framesPerSecond, frameBurst),
		size: rate.NewLimiter(bytesPerSecond, bytesBurst)}
	took := 0
	for range 4 * frameBurst {
		if p.affords(1, 10) {
			took++
		}
	}
	if took > 2*frameBurst {
		t.Errorf("%d frames are read at once", took)
	}
}
