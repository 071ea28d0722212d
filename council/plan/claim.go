package plan

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol"
)

// robustnessTime is how long the search for the exact robustness may take. A graph of
// a dozen nodes takes a millisecond.
const robustnessTime = 2 * time.Second

// Bound returns what the protocol guarantees before anything is run. The first call
// for a graph searches for its robustness, which takes up to two seconds; the result
// is kept for the life of the process.
func (p *Plan) Bound() Bound { return p.bound() }

func findBound(p *Plan) Bound {
	b := boundOverTime
	if !p.graph.Changes() {
		b = boundOfGraph
	}
	return byVoice(p, noteUncommitted(p, underFaults(p, b(p))))
}

// boundOfGraph returns what the protocol guarantees on a graph that does not change.
func boundOfGraph(p *Plan) Bound {
	res := searchGraph(p)
	b := Bound{F: p.spec.F, R: max(res.Lower, p.graph.AtLeast), Exact: res.Exact, Edges: p.graph.EdgeCount(),
		Guarantee: None}
	if res.Exact {
		b.R = res.R
	}
	b.Note = "no guarantee: " + p.entry.Name + " promises nothing on any graph"
	if g, ok := p.protocol.(protocol.Guaranteed); ok {
		b.Guarantee, b.Note = g.Guarantee(b.F, b.R, b.Exact)
		b.Guarantee = cmp.Or(b.Guarantee, None)
	}
	return b
}

// underFaults withdraws a claim that the simulated faults make void.
func underFaults(p *Plan, b Bound) Bound {
	if b.Guarantee == None {
		return b
	}
	patient, ok := p.protocol.(protocol.Patient)
	anyDelay := ok && patient.AnyDelay()
	switch within := p.spec.Pace.Within; {
	case !anyDelay && p.faults.Delay.Max >= p.pace.Within: // a message takes a millisecond more than its delay
		b.Withdraw(fmt.Sprintf("faults: a message may be delayed by %v, and the protocol's rounds allow %v for it "+
			"(pace: within)", p.spec.Faults.Delay.Max, within))
	case p.faults.Loss > 0:
		b.Withdraw("faults: messages may be lost")
	case len(p.faults.Partitions) > 0:
		b.Withdraw("faults: the network may be partitioned")
	}
	return b
}

// searches counts the searches of this process.
var searches atomic.Int64

// searchGraph searches once per process for each graph.
func searchGraph(p *Plan) robustness.Result {
	g := p.graph.Graph
	return searchOnce(g, func() robustness.Result {
		start := time.Now()
		return robustness.Find(g, func() bool { return time.Since(start) > robustnessTime })
	})
}

// searchOnce returns the result of the first search for a graph.
func searchOnce(g graph.Graph, do func() robustness.Result) robustness.Result {
	sum := sha256.New()
	fmt.Fprint(sum, g.N(), g.Edges())
	key := string(sum.Sum(nil))
	find, known := searched.get(key)
	if !known {
		find = sync.OnceValue(func() robustness.Result {
			searches.Add(1)
			return do()
		})
		searched.put(key, find)
	}
	return find()
}
