// Package dynamic has graphs that change from round to round: a schedule of graphs that
// follow one another, and edges that fail at random.
//
// What holds on such a graph depends on the protocol. A protocol that filters the messages of
// each round by themselves, such as SAC and W-MSR, needs the robustness of the graphs of single
// rounds (Known by round). One that also uses messages of earlier rounds needs that of unions of
// rounds in a row: with the union of every T rounds (2F+1)-robust, W-MSR over a sliding window of
// T rounds reaches resilient consensus (Saldaña, Prorok, Sundaram, Campos, Kumar, "Resilient
// Consensus for Time-Varying Networks of Dynamic Agents", ACC 2017).
//
//	g, err := dynamic.FromSpec(map[string]any{"family": "merg", "failing": 0.2}, 7, 6)
//	g.At(0).HasEdge(0, 1)
package dynamic

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"synod.dev/synod/core/param"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/topology"
)

// Settings are the keys of a graph section with which it says that the graph changes. They stand
// beside a family, edges or a file; schedule stands in place of these.
type Settings struct {
	Schedule    []map[string]any `yaml:"schedule" doc:"graphs of rounds 1, 2, …, each as a graph section; after the last one they begin again" example:"[{family: ring}, {family: star}]"`
	Hold        int              `yaml:"hold" doc:"rounds that each graph of schedule lasts" range:"1:1000" unit:"rounds"`
	Failing     float64          `yaml:"failing" doc:"probability that an edge is absent in a round, drawn for each edge and round" range:"0:1" example:"0.2"`
	FailingSeed uint64           `yaml:"failing_seed" doc:"seed of these draws"`
}

// New returns the default settings: each graph of a schedule lasts one round, and no edge fails.
func New() *Settings { return &Settings{Hold: 1} }

// Graph is a graph whose edges depend on the round.
type Graph struct {
	// Built is the graph of all edges that occur in the rounds of a run.
	topology.Built
	// Rounds has the graph of each round, from the first on, and begins again after its last
	// one; nil: the graph is the same in every round.
	Rounds []graph.Graph
	// Drawn says that edges fail at random, so that Rounds has as many graphs as the run has
	// rounds and would not begin again in a longer one.
	Drawn bool
}

// maxCells bounds the rounds times the square of the nodes, and so the memory of a graph.
const maxCells = 1 << 27

// FromSpec builds the graph of a council file's graph section on n nodes for a run of so many
// rounds: the one of topology.FromSpec, one of these that changes, or those of a schedule. Its
// errors name the key.
func FromSpec(spec map[string]any, n, rounds int) (Graph, error) {
	given, static := map[string]any{}, maps.Clone(spec)
	for _, key := range []string{"schedule", "hold", "failing", "failing_seed"} {
		if v, ok := spec[key]; ok {
			given[key] = v
			delete(static, key)
		}
	}
	s := New()
	if err := param.Decode(given, s); err != nil {
		return Graph{}, fmt.Errorf("graph: %w", err)
	}
	if err := s.check(given, static); err != nil {
		return Graph{}, err
	}
	if s.Schedule == nil {
		b, err := topology.FromSpec(static, n, 0)
		if err != nil || s.Failing == 0 {
			return Graph{Built: b}, err
		}
		return s.build([]topology.Built{b}, n, rounds)
	}
	list := make([]topology.Built, len(s.Schedule))
	for i, part := range s.Schedule {
		var err error
		if list[i], err = topology.FromSpec(part, n, 0); err != nil {
			return Graph{}, fmt.Errorf("graph: schedule, graph %d: %s", i+1, strings.TrimPrefix(err.Error(), "graph: "))
		}
	}
	return s.build(list, n, rounds)
}

// check returns an error for settings that do not go together or are out of their range. given are
// those of the spec, static its other keys.
func (s *Settings) check(given, static map[string]any) error {
	if err := param.Verify(s); err != nil {
		return fmt.Errorf("graph: %w", err)
	}
	if _, ok := given["schedule"]; ok {
		if len(s.Schedule) == 0 {
			return errors.New("graph: schedule lists no graph (example: schedule: [{family: ring}, {family: star}])")
		}
		for key := range static {
			return fmt.Errorf("graph: %s stands beside schedule; put it into the graphs that schedule lists", key)
		}
	} else if _, ok := given["hold"]; ok {
		return errors.New("graph: hold is for the graphs of a schedule, and there is none (example: " +
			"graph: {schedule: [{family: ring}, {family: star}], hold: 2})")
	}
	if _, ok := given["failing_seed"]; ok && given["failing"] == nil {
		return errors.New("graph: failing_seed is the seed of failing, and that is absent (example: failing: 0.2)")
	}
	return nil
}

// build returns the graph of a list of graphs, of which each lasts Hold rounds.
func (s *Settings) build(list []topology.Built, n, rounds int) (Graph, error) {
	period := len(list) * s.Hold
	g := Graph{Built: topology.Built{Layout: "circle"}, Drawn: s.Failing > 0}
	if len(list) == 1 { // its rules for placing adversaries and its layout still apply
		g.Built = list[0]
		g.AtLeast = 0
	}
	number := period
	if g.Drawn {
		number = max(rounds, period)
	}
	if number*n*n > maxCells {
		return Graph{}, fmt.Errorf("graph: %d rounds with a graph of %d nodes each: at most %d rounds fit with so "+
			"many nodes", number, n, max(1, maxCells/n/n))
	}
	rng := rand.New(rand.NewPCG(s.FailingSeed, 0x6661696c696e67))
	for t := range number {
		of := list[t/s.Hold%len(list)].Graph
		if of.Directed() {
			return Graph{}, errors.New("graph: a graph of the schedule is directed; a council needs undirected edges")
		}
		if g.Drawn {
			of = s.fail(of, rng)
		}
		g.Rounds = append(g.Rounds, of)
	}
	played := min(number, max(rounds, 1))
	if rounds < 1 {
		played = number
	}
	g.Graph = Union(g.Rounds[:played])
	return g, nil
}

// fail returns the graph without the edges that fail in a round.
func (s *Settings) fail(g graph.Graph, rng *rand.Rand) graph.Graph {
	var left [][2]int
	for _, e := range g.Edges() {
		if rng.Float64() >= s.Failing {
			left = append(left, e)
		}
	}
	return graph.MustNew(g.N(), false, left)
}

// Changes reports whether the graph may be another one in another round.
func (g *Graph) Changes() bool { return g.Rounds != nil }

// At returns the graph of a round, from 0.
func (g *Graph) At(round int) graph.Graph {
	if g.Rounds == nil {
		return g.Graph
	}
	return g.Rounds[round%len(g.Rounds)]
}

// Union returns the graph with the edges of all graphs, which have the same nodes and are
// undirected. It panics if there is none.
func Union(all []graph.Graph) graph.Graph {
	n := all[0].N()
	var edges [][2]int
	for u := range n {
		heard := make([]bool, n)
		for _, g := range all {
			for _, v := range g.In(u) {
				if v > u && !heard[v] {
					heard[v] = true
					edges = append(edges, [2]int{u, v})
				}
			}
		}
	}
	return graph.MustNew(n, false, edges)
}
