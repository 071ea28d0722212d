package node

import (
	"testing"
	"time"

	"synod.dev/synod"
)

// A neighbour for which an alarm waits is asked after one message, and suspected two messages later if it has said
// nothing. If the round has ended by real time, an answer gives it the time of a call, and so does each tick.
func TestDebt(t *testing.T) {
	const second = time.Second
	l := patience{within: second, call: 20 * second, absent: time.Hour, silent: time.Hour}
	const alarm, closes = synod.Tick(60_000), synod.Tick(59_999)
	says := func(tick synod.Tick, at time.Duration) func(*schedule) {
		return func(s *schedule) { s.heardClosed(1, tick, tick+1, at) }
	}
	for _, c := range []struct {
		what  string
		began time.Duration // when the alarm began to wait, or after a minute when its round ended
		then  []func(*schedule)
		until time.Duration // when the neighbour is suspected; forever: never
	}{
		{"nothing comes", second, nil, 4250 * time.Millisecond},
		{"it answers", second, []func(*schedule){says(5, 3*second)}, forever},
		{"it closes another tick", second, []func(*schedule){says(6, 3*second)}, forever},
		{"the round is over", 60 * second, nil, 63250 * time.Millisecond},
		{"over, and it answers", 60 * second, []func(*schedule){says(5, 62*second)}, 84250 * time.Millisecond},
		{"over, and it answers twice", 60 * second, []func(*schedule){says(5, 62*second), says(5, 70*second)},
			84250 * time.Millisecond},
		{"over, and it closes another tick", 60 * second, []func(*schedule){says(5, 62*second), says(6, 70*second)},
			92250 * time.Millisecond},
		{"over, and it closes all", 60 * second, []func(*schedule){says(closes, 62*second)}, forever},
	} {
		s := newSchedule(0, 3, []synod.NodeID{1, 2}, 1, l)
		for _, p := range s.peers {
			p.present, p.closed, p.heard = true, 4, time.Hour
		}
		s.peers[2].closed = closes
		s.add(item{tick: alarm, alarm: true, event: synod.Expired{}})
		s.wait(c.began)
		if p := s.peers[1]; c.began > second {
			p.closed = 5
		} else {
			s.heardClosed(1, 5, 6, c.began+1) // before it was asked: this is no answer
		}
		if got := s.debtors(c.began + second - 1); len(got) > 0 {
			t.Errorf("%s: asked for %v too early", c.what, got)
		}
		if got := s.debtors(c.began + second); len(got) != 1 || got[1] != closes {
			t.Errorf("%s: asked for %v", c.what, got)
		}
		if got := s.debtors(c.began + second); len(got) > 0 {
			t.Errorf("%s: asked twice for %v", c.what, got)
		}
		for _, do := range c.then {
			do(s)
		}
		if c.until == forever {
			c.until = 2 * time.Hour
		} else if s.suspect(c.until + 1); !s.peers[1].suspected || s.peers[2].suspected {
			t.Errorf("%s: not suspected after %v", c.what, c.until)
		}
		if s.suspect(min(c.until, time.Hour)); s.peers[1].suspected {
			t.Errorf("%s: suspected before %v", c.what, c.until)
		}
	}
}

// A node that waits for its own model asks late: the neighbour has its time from then on.
func TestAskedLate(t *testing.T) {
	s := newSchedule(0, 2, []synod.NodeID{1}, 1, patience{within: time.Second, absent: time.Hour, silent: time.Hour})
	s.peers[1].present, s.peers[1].closed, s.peers[1].heard = true, 5, time.Hour
	s.probe(100, time.Second)
	if s.debtors(time.Minute); len(s.suspect(time.Minute+2250*time.Millisecond)) > 0 {
		t.Error("suspected before it could answer")
	}
	if len(s.suspect(time.Minute+2251*time.Millisecond)) == 0 {
		t.Error("not suspected")
	}
}

// Only who asks for a tick that is not closed gets an answer, and not without end.
func TestAnswersAreBounded(t *testing.T) {
	s := newSchedule(0, 2, []synod.NodeID{1}, 1, patience{within: time.Second})
	s.closed = 5
	if s.mustAnswer(1, 5) {
		t.Error("a closed tick was answered for")
	}
	got := 0
	for range 10 * maxAnswers {
		if s.mustAnswer(1, 6) {
			got++
		}
	}
	if got != maxAnswers {
		t.Errorf("%d answers", got)
	}
}
