package node

import (
	"testing"
	"time"

	"synod.dev/synod"
)

// How long an absent neighbour is waited for is learned from learnAfter questions, between a floor and one call and
// one message.
func TestLearnedPatience(t *testing.T) {
	var u usual
	for i := range learnAfter {
		if d := u.longest(); d != 0 {
			t.Errorf("after %d questions it has learned %v", i, d)
		}
		u.add(time.Duration(i+1) * 10 * time.Millisecond)
	}
	if d := u.longest(); d != 10*learnAfter*time.Millisecond {
		t.Errorf("the longest of %d questions is %v", learnAfter, d)
	}
	for range learnAfter {
		u.add(time.Millisecond)
	}
	if d := u.longest(); d != time.Millisecond {
		t.Errorf("questions long ago still count: %v", d)
	}
	const think, within = time.Minute, 2 * time.Second
	for _, c := range []struct {
		signs bool
		usual time.Duration
		want  time.Duration
	}{
		{false, 0, think + within}, {true, 0, think + within},
		{false, 100 * time.Millisecond, within / 2}, {true, 100 * time.Millisecond, within + 2*pingEvery},
		{false, 5 * time.Second, 10 * time.Second}, {true, 5 * time.Second, 10 * time.Second},
		{false, time.Hour, think + within},
	} {
		if p := patienceFor(think, within, c.signs, c.usual); p.absent != c.want || p.silent != within+2*pingEvery {
			t.Errorf("signs %v, usual %v: %+v, want absent %v", c.signs, c.usual, p, c.want)
		}
	}
}

// A neighbour is suspected when it is away, when nothing comes on its open stream, and when it does not begin; not
// earlier, not if it has ended, and never together with more than F others.
func TestSuspect(t *testing.T) {
	l := patience{within: time.Second, absent: 10 * time.Second, silent: 3 * time.Second}
	for _, c := range []struct {
		what string
		p    neighbour
		at   time.Duration
		want bool
	}{
		{"away", neighbour{closed: 5}, 11 * time.Second, true},
		{"away, not for long", neighbour{closed: 5}, 10 * time.Second, false},
		{"away, and has ended", neighbour{closed: never}, time.Hour, false},
		{"silent", neighbour{closed: 5, present: true}, 11 * time.Second, true},
		{"pings", neighbour{closed: 5, present: true, suspicion: suspicion{heard: 9 * time.Second}}, 11 * time.Second,
			false},
		{"does not begin", neighbour{closed: -1, present: true, suspicion: suspicion{heard: 2 * time.Second}},
			2100 * time.Millisecond, true},
		{"has just come", neighbour{closed: -1, present: true, suspicion: suspicion{heard: 2 * time.Second,
			opened: 2 * time.Second}}, 2100 * time.Millisecond, false},
	} {
		s := newSchedule(0, 3, []synod.NodeID{1, 2}, 1, l)
		*s.peers[1], s.peers[2].heard = c.p, c.at
		s.peers[2].closed = 5
		if got := len(s.suspect(c.at)) > 0; got != c.want || s.peers[1].suspected != c.want {
			t.Errorf("%s: suspected %v", c.what, got)
		}
		if at := s.look(0); c.want && at > c.at {
			t.Errorf("%s: it is looked at after %v", c.what, at)
		}
		*s.peers[2] = c.p
		if s.suspect(c.at); s.peers[1].suspected || s.peers[2].suspected {
			t.Errorf("%s: two are suspected, and F is 1", c.what)
		}
	}
}
