package campaign

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/check"
)

// trace is what happened in one execution, for those who check it.
type trace struct {
	check.Trace
	subject *subject
	x       *Execution

	ended    sim.Result
	sends    []int // by seat: messages of honest machines, before faults; counted where the subject counts them
	calls    int
	callsOf  []int  // by seat
	first    uint64 // digest of the opinions, of executions that are played again
	failing  []bool // by seat: a model call failed, or was answered differently
	stranger bool
	injected []bool   // by kind
	own      any      // what a subject recorded
	marks    []uint64 // see ExecutionResult
	ends     []synod.Tick

	result ExecutionResult
}

func newTrace(s *subject, x *Execution) *trace {
	n := x.Total()
	t := &trace{subject: s, x: x, sends: make([]int, n), failing: make([]bool, n+len(x.Events)),
		injected: make([]bool, len(kinds)), Trace: check.Trace{Case: &x.Case, Question: x.question(s),
			Guards:    x.guards(),
			Byzantine: x.Byzantine, Above: x.Above, Late: x.Regime != Synchronous, Lies: x.lies(),
			Notes: make([][]check.Noted, n), Hosted: make([]bool, n), Stated: make([]uint16, n+len(x.Events)),
			Applied: make(map[string]float64, len(s.claims)+4)}}
	if s.own != nil {
		t.own = s.own(x)
	}
	return t
}

// lies reports whether some member does worse than to be silent.
func (x *Execution) lies() bool {
	return slices.ContainsFunc(x.Seats, func(s Seated) bool { return s.Name != "silent" }) ||
		slices.ContainsFunc(x.Events, func(e ScheduledFault) bool {
			return kinds[e.kind].Charge == Byzantine || kinds[e.kind].Charge == Omission && e.Kind != "crash"
		})
}

// note is a sim.Watch.
func (t *trace) note(now synod.Tick, notes []sim.Noted) string {
	for _, n := range notes {
		t.Notes[n.Node] = append(t.Notes[n.Node], check.Noted{At: now, Opinion: n.Opinion})
	}
	if p, ok := t.Protocol.(protocol.Patient); ok && p.AnyDelay() {
		return "" // its rounds wait for a week
	}
	if now > t.limit() {
		t.CutOff = true
		t.Fail(claimEnds, "it is still going on at tick %d", now)
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

// finish returns the result of the execution.
func (t *trace) finish() *ExecutionResult {
	t.result = ExecutionResult{Violations: t.Violations, Applied: t.Applied, States: t.States, Ticks: t.ended.Ticks,
		marks: t.marks, ends: t.ends}
	for k, yes := range t.injected {
		if yes {
			t.result.Injected = append(t.result.Injected, kinds[k].Name)
		}
	}
	return &t.result
}

// sentBy returns how many messages a seat sent, each to any number of receivers.
func (t *trace) sentBy(id synod.NodeID) int { return t.sends[id] }
