package game

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod"
)

// GM-3: two thirds of all players end a game, or 66 % of them as in the paper's code.
func TestStops(t *testing.T) {
	for _, c := range []struct {
		stop    string
		votes   int
		players int
		want    bool
	}{
		{TwoThirds, 2, 3, true}, {TwoThirds, 66, 100, false}, {TwoThirds, 67, 100, true}, {TwoThirds, 1, 3, false},
		{Percent66, 2, 3, true}, {Percent66, 66, 100, true}, {Percent66, 65, 100, false}, {Percent66, 1, 3, false},
	} {
		g := New()
		if g.Stop = c.stop; g.Stops(c.votes, c.players) != c.want {
			t.Errorf("%s: %d of %d end the game: %v", c.stop, c.votes, c.players, !c.want)
		}
		says := map[string]string{TwoThirds: "two thirds", Percent66: "66 %"}[c.stop]
		if !strings.Contains(g.threshold(), says) {
			t.Errorf("%s is shown as %s", c.stop, g.threshold())
		}
	}
}

// A game has two calls for each player and round, each with its attempts, and one more round if code ends it.
func TestPlannedCallsAndRounds(t *testing.T) {
	g := New()
	g.Rounds, g.Attempts = 5, 3
	if got := g.Calls(make([]int, 4)); got != 2*3*5*4 {
		t.Errorf("%d calls", got)
	}
	plain := g.MaxRounds()
	if g.Rule = FinalVote; plain != 5 || g.MaxRounds() != 6 {
		t.Errorf("%d rounds, %d with a final vote of code", plain, g.MaxRounds())
	}
}

// The error names the largest f; without Byzantine players the paper's end promises what the agreed one does.
func TestBoundOfTheGame(t *testing.T) {
	g := New()
	if err := g.CheckCast(make([]synod.Role, 4), 4); err == nil || !strings.Contains(err.Error(), "between 0 and 3") {
		t.Error(err)
	}
	if err := g.CheckCast(make([]synod.Role, 4), -1); err == nil {
		t.Error("f = -1 is accepted")
	}
	g.Paper()
	if name, _ := g.Guarantee(0, 0, true); name != AgreedEnd {
		t.Errorf("the paper's end without Byzantine players guarantees %q", name)
	}
}

// A ballot is read as it was written; another vote, another mark of a number or another length is not.
func TestBallots(t *testing.T) {
	seven := -7
	for _, b := range []ballot{{Stop, nil}, {Continue, &seven}, {Abstain, nil}} {
		body, err := b.AppendBinary(nil)
		var got ballot
		if err != nil || got.UnmarshalBinary(body) != nil || got.vote != b.vote ||
			(got.number == nil) != (b.number == nil) || b.number != nil && *got.number != *b.number {
			t.Errorf("%v is read as %v", b, got)
		}
	}
	for _, body := range [][]byte{{}, {0}, {3, 0}, {255, 0}, {0, 2}, {0, 1}, {0, 0, 0},
		{0, 2, 0, 0, 0, 0, 0, 0, 0, 1}} {
		var b ballot
		if b.UnmarshalBinary(body) == nil {
			t.Errorf("% x is read as %v", body, b)
		}
	}
}

// No vote ended a game if fewer players than all but f say that theirs did; code ended it for those that are past the
// last round.
func TestOpen(t *testing.T) {
	over := &synod.Opinion{Round: 3, Record: &Record{Stops: []synod.NodeID{0, 1, 3}, Over: true}}
	goes, code := &synod.Opinion{Round: 5, Record: &Record{}}, &synod.Opinion{Round: 6}
	// One that contradicts itself counts by the votes that it names.
	lies := &synod.Opinion{Round: 5, Record: &Record{Stops: []synod.NodeID{0}, Over: true}}
	g := New()
	g.Rounds = 5
	for _, c := range []struct {
		last []*synod.Opinion
		f    int
		want string
	}{
		{[]*synod.Opinion{over, over, over, goes}, 1, ""}, {[]*synod.Opinion{over, over, over, nil}, 1, ""},
		{[]*synod.Opinion{over, over, over, goes}, 0, "3 of 4 players"},
		{[]*synod.Opinion{over, over, goes, goes}, 1, "2 of 4 players"},
		{[]*synod.Opinion{over, over, lies, goes}, 1, "2 of 4 players"},
		{[]*synod.Opinion{code, code, code, goes}, 1, ""},
		{[]*synod.Opinion{code, code, goes, goes}, 1, "0 of 4 players"},
		{[]*synod.Opinion{goes, goes, goes, goes}, 1, "0 of 4 players"},
	} {
		if got := g.Open(c.last, c.f); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v with f = %d: %q, want %q", c.last, c.f, got, c.want)
		}
	}
}

// A game that ended in the last round for some honest players only is split.
func TestSplitInTheLastRound(t *testing.T) {
	g := New()
	g.Rounds = 2
	player := func(over bool) []*synod.Opinion {
		return []*synod.Opinion{{Answer: "7"}, {Round: 1, Answer: "7", Record: &Record{}},
			{Round: 2, Answer: "7", Record: &Record{Over: over}}}
	}
	for _, c := range []struct {
		first, second bool
		want          string
	}{{true, true, "2 false"}, {true, false, "0 true"}, {false, false, "0 false"}} {
		last, split := g.stopped([][]*synod.Opinion{player(c.first), player(c.second)}, []bool{true, true})
		if got := fmt.Sprint(last, split); got != c.want {
			t.Errorf("over for the first %v, for the second %v: %s, want %s", c.first, c.second, got, c.want)
		}
	}
}
