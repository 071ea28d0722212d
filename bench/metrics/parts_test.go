package metrics

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
)

// The figures of every kind equal those of a tally of its questions alone. With one
// kind there are none.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seats := []SeatFacts{{Group: Strong}, {Group: Weak}, {Adversary: true}, {Unasked: true}}
		verdicts := map[synod.Answer]task.Verdict{"a": task.Right, "b": task.Wrong, "c": task.Unreadable}
		parts, alone := NewParts(seats), map[string]*Tally{}
		for i := range rapid.IntRange(0, 12).Draw(t, "questions") {
			held := func() (row []synod.Answer) {
				for range seats {
					row = append(row, rapid.SampledFrom([]synod.Answer{"a", "b", "c", synod.None}).Draw(t, "answer"))
				}
				return row
			}
			c := GradedQuestion{Question: fmt.Sprint(i), Rounds: [][]synod.Answer{held(), held()}, Verdicts: verdicts,
				Agreed: rapid.Bool().Draw(t, "agreed"), Decision: "a", Live: true}
			kind := rapid.SampledFrom([]string{"", "10", "9", "sets"}).Draw(t, "kind")
			parts.Add(kind, &c)
			if kind != "" {
				if alone[kind] == nil {
					alone[kind] = NewTally(seats)
				}
				alone[kind].Add(c)
			}
		}
		all := parts.List()
		if len(alone) < 2 {
			if all != nil {
				t.Fatalf("figures of a single kind: %v", all)
			}
			return
		}
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
			want := alone[p.Name].Numbers().Metrics
			for _, f := range [][2]*Rate{{p.IAA, want.IAA}, {p.FAA, want.FAA}, {p.RA, want.RA},
				{p.Decision, want.Decision}} {
				if (f[0] == nil) != (f[1] == nil) || f[0] != nil && *f[0] != *f[1] {
					t.Fatalf("%s: %+v, alone %+v", p.Name, f[0], f[1])
				}
			}
		}
		order := []string{"9", "10", "sets"}
		if len(names) != len(alone) || !slices.IsSortedFunc(names,
			func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) }) {
			t.Fatalf("%v of %d kinds", names, len(alone))
		}
	})
}
