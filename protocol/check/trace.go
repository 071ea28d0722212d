package check

import (
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
)

// Trace is what happened in one execution, for those who check it.
type Trace struct {
	Case     *Case
	Protocol synod.Protocol
	Question *synod.Question
	Peers    [][]synod.NodeID // by seat
	Verifier synod.Verifier   // nil in a subject that signs nothing
	Guards   synod.Guards     // of all seats

	Byzantine []synod.NodeID // ascending
	Hosted    []bool         // by seat: a fault of its process or clock
	Above     bool           // more members are Byzantine than the bound allows
	Late      bool           // the bound on delays does not hold
	Lies      bool           // some member does worse than to be silent
	CutOff    bool           // it was still going on when every execution should be over

	Notes   [][]Noted      // by seat
	Replies []synod.Answer // the independent answers of honest members
	Stated  []uint16       // by seat: the scores that its model gave, in tenths, as a set of bits

	Diaries []Diary // by seat, of honest machines; nil without KeepDiary

	Violations []Violation        // the first of each claim
	Applied    map[string]float64 // the claims that applied, each with its margin; NaN: it has none
	States     []string           // situations that occurred
}

// Noted is an opinion and when it was noted.
type Noted struct {
	At synod.Tick
	*synod.Opinion
}

// Last returns the last opinion of a seat; nil: it noted none.
func (t *Trace) Last(i int) *synod.Opinion {
	if n := len(t.Notes[i]); n > 0 {
		return t.Notes[i][n-1].Opinion
	}
	return nil
}

// Honest reports whether a seat is not Byzantine.
func (t *Trace) Honest(id synod.NodeID) bool {
	_, bad := slices.BinarySearch(t.Byzantine, id)
	return !bad
}

// Plain reports whether a seat is honest and has no fault of its process or clock.
func (t *Trace) Plain(id synod.NodeID) bool { return t.Honest(id) && !t.Hosted[id] }

// Synchronous reports whether the assumptions of S(f) and L(F) hold in the execution.
func (t *Trace) Synchronous() bool { return !t.Late && !t.Above }

// Applies records that a claim was checked.
func (t *Trace) Applies(id string) {
	if _, known := t.Applied[id]; !known {
		t.Applied[id] = math.NaN()
	}
}

// Margin records how near a claim was to being violated.
func (t *Trace) Margin(id string, m float64) {
	if old, known := t.Applied[id]; !known || math.IsNaN(old) || m < old {
		t.Applied[id] = m
	}
}

// Claim checks a claim.
func (t *Trace) Claim(id string, ok bool, format string, args ...any) {
	t.Applies(id)
	if !ok {
		t.Fail(id, format, args...)
	}
}

// Fail records a violation, the first of each claim.
func (t *Trace) Fail(id string, format string, args ...any) {
	t.Applies(id)
	if !slices.ContainsFunc(t.Violations, func(v Violation) bool { return v.Claim == id }) {
		t.Violations = append(t.Violations, Violation{id, fmt.Sprintf(format, args...)})
	}
}

// State records that a situation occurred.
func (t *Trace) State(name string, yes bool) {
	if yes && !slices.Contains(t.States, name) {
		t.States = append(t.States, name)
	}
}

// Answered records whether members ended with an answer, as the states "answers" and "no answer".
func (t *Trace) Answered() {
	for i := range t.Notes {
		if o := t.Last(i); o != nil {
			t.State("answers", o.Answer != synod.None)
			t.State("no answer", o.Answer == synod.None)
		}
	}
}
