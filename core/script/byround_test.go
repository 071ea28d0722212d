package script_test

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
)

// changing is a seat that hears member 1 in round 0, members 2 and 3 in round 1, nobody in round 2,
// and so on.
func changing() synod.Seat {
	seat := seatOf(0, 1, 2, 3)
	seat.ByRound = [][]synod.NodeID{{1}, {2, 3}, {}}
	return seat
}

// threeRounds exchanges a word in each of four rounds, which end early.
func threeRounds(me *script.Agent) synod.Answer {
	var all []string
	for t := range 4 {
		until := script.Until{At: synod.Tick(10 * (t + 1)), Early: true}
		for _, h := range script.Exchange(me, "w", t, word("mine"), until) {
			all = append(all, fmt.Sprintf("%d:%d=%s", t, h.From, h.Value))
		}
	}
	return synod.Answer(strings.Join(all, " "))
}

// A member sends to and waits for the neighbours of the round. A message over an edge that is
// absent in its round is not heard, and does not end the round.
func TestNeighboursByRound(t *testing.T) {
	m := script.New(changing(), script.Options{}, threeRounds)
	defer m.Step(99, synod.Halt{})
	steps := []struct {
		event synod.Event
		want  string
	}{
		{synod.Begin{}, "send to n1: n0 w/0"},
		{heard(2, "w", 0, "absent"), ""},
		{heard(2, "w", 1, "early"), ""},
		{heard(1, "w", 1, "absent"), ""},
		{heard(1, "w", 0, "a"), "send to n2,n3: n0 w/1"},
		{heard(1, "w", 2, "absent"), ""},
		{heard(3, "w", 1, "c"), "send to n1: n0 w/3"}, // round 2 has no neighbours and ends at once
		{heard(1, "w", 3, "d"), `decide "0:1=a 1:2=early 1:3=c 3:1=d"`},
	}
	for i, s := range steps {
		got := show(m.Step(synod.Tick(i), s.event))
		if !strings.Contains(got, s.want) || s.want == "" && got != "" {
			t.Errorf("step %d: %q; want %q", i, got, s.want)
		}
	}
}

// A neighbour of the round that is silent is waited for until the end of the round.
func TestSilentNeighbourOfTheRound(t *testing.T) {
	m := script.New(changing(), script.Options{}, threeRounds)
	defer m.Step(99, synod.Halt{})
	m.Step(0, synod.Begin{})
	m.Step(1, heard(1, "w", 0, "a"))
	if got := show(m.Step(2, heard(2, "w", 1, "b"))); got != "" {
		t.Errorf("round 1 ended without member 3: %s", got)
	}
	if got := show(m.Step(20, synod.Expired{ID: 2})); !strings.Contains(got, "; send to n1: n0 w/3") {
		t.Errorf("at its end: %s", got)
	}
}

func TestNeighboursOfStaticSeat(t *testing.T) {
	seat := seatOf(0, 1, 2)
	if got := seat.Neighbours(7); len(got) != 2 {
		t.Errorf("round 7: %v", got)
	}
	seat.ByRound = [][]synod.NodeID{{1}}
	if got := seat.Neighbours(-1); len(got) != 1 { // a slot of a hostile message
		t.Errorf("round -1: %v", got)
	}
}
