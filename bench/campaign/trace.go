package campaign

import (
	"fmt"
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
)

// trace is what happened in one execution, for those who check it.
type trace struct {
	subject  *subject
	x        *Execution
	protocol synod.Protocol
	peers    [][]synod.NodeID
	verifier synod.Verifier // nil in a subject that signs nothing

	notes    [][]noted // by seat
	ended    sim.Result
	sends    []int // by seat: messages of honest machines, before faults; counted where the subject signs
	calls    int
	callsOf  []int          // by seat
	first    uint64         // digest of the opinions, of executions that are played again
	hosted   []bool         // by seat: a fault of its process or clock
	failing  []bool         // by seat: a model call failed, or was answered differently
	replies  []synod.Answer // the independent answers of honest members
	stated   []uint16       // by seat: the scores that its model gave, in tenths, as a set of bits
	stranger bool
	injected []bool // by kind
	own      any    // what a subject recorded

	result Result
}

// noted is an opinion and when it was noted.
type noted struct {
	at synod.Tick
	*synod.Opinion
}

func newTrace(s *subject, x *Execution) *trace {
	n := x.total()
	t := &trace{subject: s, x: x, notes: make([][]noted, n), sends: make([]int, n), hosted: make([]bool, n),
		failing: make([]bool, n+len(x.Events)), stated: make([]uint16, n+len(x.Events)),
		injected: make([]bool, len(kinds)), result: Result{Applied: make(map[string]float64, len(s.claims)+4)}}
	if s.own != nil {
		t.own = s.own(x)
	}
	return t
}

// note is a sim.Watch.
func (t *trace) note(now synod.Tick, notes []sim.Noted) string {
	for _, n := range notes {
		t.notes[n.Node] = append(t.notes[n.Node], noted{now, n.Opinion})
	}
	if now > t.limit() {
		t.fail(claimEnds, "it is still going on at tick %d", now)
		return "limit"
	}
	return ""
}

// limit is the tick at which every execution must be over: far behind the last fault and the last round.
func (t *trace) limit() synod.Tick {
	last := t.subject.horizon(t.x)
	for i := range t.x.Events {
		if to := t.x.Events[i].To; to < 1<<20 {
			last = max(last, to)
		}
	}
	return 20*last + 10_000
}

// honest reports whether a seat is honest, and neither its process nor its clock fails.
func (t *trace) honest(id synod.NodeID) bool { return !t.x.bad(id) }

// plain reports whether a seat is honest and has no fault of its process or clock.
func (t *trace) plain(id synod.NodeID) bool { return t.honest(id) && !t.hosted[id] }

// synchronous reports whether the assumptions of S(f) and L(F) hold in the execution.
func (t *trace) synchronous() bool { return t.x.Regime == Synchronous && !t.x.Above }

// applies records that a claim was checked.
func (t *trace) applies(id string) {
	if _, known := t.result.Applied[id]; !known {
		t.result.Applied[id] = math.NaN()
	}
}

// margin records how near a claim was to being violated.
func (t *trace) margin(id string, m float64) {
	if old, known := t.result.Applied[id]; !known || math.IsNaN(old) || m < old {
		t.result.Applied[id] = m
	}
}

// claim checks a claim.
func (t *trace) claim(id string, ok bool, format string, args ...any) {
	t.applies(id)
	if !ok {
		t.fail(id, format, args...)
	}
}

// fail records a violation, the first of each claim.
func (t *trace) fail(id string, format string, args ...any) {
	t.applies(id)
	if !slices.ContainsFunc(t.result.Violations, func(v Violation) bool { return v.Claim == id }) {
		t.result.Violations = append(t.result.Violations, Violation{id, fmt.Sprintf(format, args...)})
	}
}

// state records that a situation occurred.
func (t *trace) state(name string, yes bool) {
	if yes && !slices.Contains(t.result.States, name) {
		t.result.States = append(t.result.States, name)
	}
}

func (t *trace) finish() *Result {
	for k, yes := range t.injected {
		if yes {
			t.result.Injected = append(t.result.Injected, kinds[k].Name)
		}
	}
	t.result.Ticks = t.ended.Ticks
	return &t.result
}

// last returns the last opinion of a seat; nil: it noted none.
func (t *trace) last(i int) *synod.Opinion {
	if n := len(t.notes[i]); n > 0 {
		return t.notes[i][n-1].Opinion
	}
	return nil
}

// sentBy returns how many messages a seat sent, each to any number of receivers.
func (t *trace) sentBy(id synod.NodeID) int { return t.sends[id] }
