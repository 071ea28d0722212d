package plan

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/format"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol"
)

// None is the guarantee of a council that has none.
const None = "none"

// Bound is what the protocol guarantees on the graph.
type Bound struct {
	F         int    `json:"f"`
	Voices    int    `json:"voices"` // of which any may be hostile, so that at most F seats are; see Spec.Voices
	R         int    `json:"r"`      // the graph's robustness; a proven lower bound if Exact is false
	Exact     bool   `json:"exact"`  // whether R is the exact robustness
	Edges     int    `json:"edges"`
	Guarantee string `json:"guarantee"` // the protocol's name of what holds; None
	Note      string `json:"note"`      // the same in a sentence, or why nothing holds
	// OverTime is set for a graph that changes from round to round. Then R is the least r of its
	// rounds, and Edges counts the edges of all rounds.
	OverTime *OverTime `json:"over_time,omitempty"`
}

// robustnessTime is how long the search for the exact robustness may take. A graph of
// a dozen nodes takes a millisecond.
const robustnessTime = 2 * time.Second

// Bound returns what the protocol guarantees before anything is run. The first call
// for a graph searches for its robustness, which takes up to two seconds; the result
// is kept for the life of the process.
func (p *Plan) Bound() Bound { return p.bound() }

func (p *Plan) findBound() Bound {
	b := p.boundOverTime
	if !p.graph.Changes() {
		b = p.boundOfGraph
	}
	return p.byVoice(p.uncommitted(p.underFaults(b())))
}

// boundOfGraph returns what the protocol guarantees on a graph that does not change.
func (p *Plan) boundOfGraph() Bound {
	res := p.robustness()
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
func (p *Plan) underFaults(b Bound) Bound {
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

// withdraw takes the guarantee back.
func (b *Bound) Withdraw(why string) { b.Guarantee, b.Note = None, "no guarantee: "+why }

// late corrects the claim for seats that patience cut off: in one round at most those,
// or in the whole run. Each is one of the F faulty seats that the protocol tolerates, so
// fewer of the others may be.
func (b *Bound) Late(ids []string, eachRound bool) {
	when := ""
	if eachRound {
		when = " in one round"
	}
	list := strings.Join(ids, ", ")
	switch {
	case len(ids) == 0 || b.Guarantee == None:
	case len(ids) > b.F:
		b.Withdraw(fmt.Sprintf("more seats than f, %d, were late%s: %s", b.F, when, list))
	default:
		b.Note += fmt.Sprintf("; seats that were late%s (%s) used up %d of F=%d, so it holds with at most %d "+
			"Byzantine among the others", when, list, len(ids), b.F, b.F-len(ids))
	}
}

// searches counts the searches of this process.
var searches atomic.Int64

// robustness searches once per process for each graph.
func (p *Plan) robustness() robustness.Result {
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

// maxGraphFile is the largest graph file in bytes.
const maxGraphFile = 16 << 20

// loadGraph replaces {file: PATH} in the spec by the edges in the file. So the
// journal of a run holds the graph itself, and a replay needs no file.
func (p *Plan) loadGraph() (err error) {
	if p.spec.Graph, err = p.loaded(p.spec.Graph); err != nil {
		return err
	}
	list, ok := p.spec.Graph["schedule"].([]any)
	if !ok {
		return nil
	}
	list = slices.Clone(list)
	for i, part := range list {
		spec, ok := part.(map[string]any)
		if !ok {
			return fmt.Errorf("schedule: graph %d is %v; it must be a graph section such as {family: ring}", i+1, part)
		}
		if list[i], err = p.loaded(spec); err != nil {
			return fmt.Errorf("schedule, graph %d: %w", i+1, err)
		}
	}
	p.spec.Graph["schedule"] = list
	return nil
}

// loaded returns a graph section with the edges of its file in place of the file.
func (p *Plan) loaded(spec map[string]any) (map[string]any, error) {
	path, ok := spec["file"].(string)
	if !ok {
		if spec["file"] != nil {
			return nil, fmt.Errorf("file is %v; it must be a path", spec["file"])
		}
		return spec, nil
	}
	for _, key := range sortedKeys(spec) {
		if key != "file" && key != "failing" && key != "failing_seed" {
			return nil, fmt.Errorf("%s stands beside file; a graph from a file has no other settings than failing and "+
				"failing_seed", key)
		}
	}
	file, err := readGraph(path)
	if err != nil {
		return nil, err
	}
	if n := file.Graph.N(); n != len(p.seats) {
		return nil, fmt.Errorf("%s has %d nodes, and the council %d seats", path, n, len(p.seats))
	}
	seats, err := p.seatsOf(file.Names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	edges := file.Graph.Edges()
	for k, e := range edges {
		edges[k] = [2]int{seats[e[0]], seats[e[1]]}
	}
	found := maps.Clone(spec)
	delete(found, "file")
	found["edges"], found["directed"] = edges, file.Graph.Directed()
	return found, nil
}

// readGraph reads a graph file in the format of its file name extension.
func readGraph(path string) (format.File, error) {
	how, err := format.Of(path)
	if err != nil {
		return format.File{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return format.File{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxGraphFile+1))
	if err != nil {
		return format.File{}, err
	}
	if len(data) > maxGraphFile {
		return format.File{}, fmt.Errorf("%s has more than %d MiB", path, maxGraphFile>>20)
	}
	file, err := how.Parse(data)
	if err != nil {
		return format.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// seatsOf returns the seat of each node of a graph file: the seat of the same name
// if the nodes are named like seats, otherwise the seat at the same place.
func (p *Plan) seatsOf(names []string) ([]int, error) {
	ids, seats, found, unknown := p.ids(), make([]int, len(p.seats)), 0, ""
	for i, name := range names {
		if seats[i] = slices.Index(ids, name); seats[i] >= 0 {
			found++
		} else {
			unknown = name
		}
	}
	if found > 0 && found < len(names) {
		return nil, errors.New("some nodes are named like seats, but no seat is called " + fmt.Sprintf("%q", unknown))
	}
	for i := range seats {
		if found == 0 {
			seats[i] = i
		}
	}
	return seats, nil
}
