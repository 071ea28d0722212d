package answer

import (
	"testing"
	"time"

	"synod.dev/synod"
)

// Only short answers are read as free text, and only with the guard.
func TestUntyped(t *testing.T) {
	for _, c := range []struct {
		guard bool
		form  synod.Form
		want  bool
	}{{true, synod.Number, true}, {true, synod.Choice, true}, {false, synod.Number, false},
		{true, synod.Stance, false}, {true, synod.Prose, false}} {
		q := &synod.Question{Form: c.form, Options: make([]synod.Option, 2)}
		got := untyped(&synod.Seat{Question: q, Guards: synod.Guards{Untyped: c.guard}})
		if (got != nil) != c.want || len(q.Options) != 2 ||
			got != nil && (got.Form != synod.Text || got.Options != nil) {
			t.Errorf("guard %v, form %s: %+v", c.guard, c.form, got)
		}
	}
}

// Members are named only with the guard, and only those that have a name.
func TestNameOf(t *testing.T) {
	for _, c := range []struct {
		named bool
		of    synod.NodeID
		want  string
	}{{true, 0, "ada"}, {true, 1, "bob"}, {true, 2, ""}, {false, 1, ""}} {
		seat := &synod.Seat{Names: []string{"ada", "bob"}, Guards: synod.Guards{Named: c.named}}
		if got := NameOf(seat, c.of); got != c.want {
			t.Errorf("named %v, member %d: %q", c.named, c.of, got)
		}
	}
}

// A third of the runs of eight words makes an echo. Fewer words than eight are none, and neither are runs that end
// alike.
func TestShareOfEchoes(t *testing.T) {
	const eight = "one two three four five six seven eight"
	e := &echoes{}
	e.learn([]sent{{1, eight}})
	for text, want := range map[string]bool{
		eight: true, "One, two three (four) five six seven eight!": true, "one two three four five six seven": false,
		"a b c d e f g eight": false, eight + " nine ten": true, eight + " nine ten eleven": false, "": false,
	} {
		if e.echo(2, text) != want || e.echo(1, text) {
			t.Errorf("%q: an echo is %v", text, !want)
		}
	}
}

// A list of two is drawn too.
func TestTwoAreDrawn(t *testing.T) {
	first := map[synod.NodeID]int{}
	for seed := range uint64(100) {
		list := []synod.NodeID{3, 8}
		Drawn(&synod.Seat{Seed: seed, Guards: synod.Guards{DrawOrder: true}}, list,
			func(id synod.NodeID) synod.NodeID { return id })
		first[list[0]]++
	}
	if first[3] < 30 || first[8] < 30 {
		t.Errorf("of two members the first is %v", first)
	}
}

// Every word about the council counts, not only the first; a word of the question may stay.
func TestMetaTalkBesideTheQuestion(t *testing.T) {
	got := withoutMeta("The vote was in May. The vote is over, and the judges must agree. It rained.",
		"When was the vote?")
	if got != "The vote was in May. It rained." {
		t.Errorf("%q", got)
	}
}

// Rounds without a fixed end last a week at most; a tick is a millisecond.
func TestNever(t *testing.T) {
	if week := 7 * 24 * time.Hour; time.Duration(Never)*time.Millisecond != week {
		t.Errorf("%d ticks are not %v", Never, week)
	}
}
