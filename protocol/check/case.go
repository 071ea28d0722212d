package check

import (
	"math"
	"math/rand/v2"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
)

// Case is the council of an execution: a protocol with its parameters, seats and a graph. Faults are no part of it.
type Case struct {
	Protocol string       `json:"protocol"`
	Params   string       `json:"params,omitempty"` // of the protocol, as a YAML mapping
	Seed     uint64       `json:"seed"`             // of what models reply and of delays
	N        int          `json:"n"`
	F        int          `json:"f"`
	Edges    [][2]int     `json:"edges,omitempty"` // nil: everybody hears everybody
	R        int          `json:"r,omitempty"`     // the robustness of the graph, with edges only
	Cast     []synod.Role `json:"cast,omitempty"`  // the role of every seat
	Outside  int          `json:"outside,omitempty"`
	Form     synod.Form   `json:"form,omitempty"` // of the question; "": that of the subject
}

// Total is the number of seats, those outside of a group among them.
func (x *Case) Total() int { return x.N + x.Outside }

// Sampled reports whether one of so many cases, by its seed, is this one.
func (x *Case) Sampled(of uint64) bool { return x.Seed%of == 0 }

// Pace is the pace of all executions, in ticks. A model call takes one tick and a message one tick and its delay.
var Pace = synod.Pace{Think: 2, Within: 6}

// Chance draws a case.
type Chance struct{ *rand.Rand }

// Few returns a chance that is one of so many: what it draws takes so many values only. Parameters are drawn with it,
// because a council's plan is made for each.
func (c Chance) Few(n int) Chance { return Chance{rand.New(rand.NewPCG(uint64(c.IntN(n)), 0xfe3))} }

// Edges draws the edges of an undirected graph of n nodes: each pair of nodes has one with the probability density.
func (c Chance) Edges(n int, density float64) (edges [][2]int) {
	for i := range n {
		for j := i + 1; j < n; j++ {
			if c.Float64() < density {
				edges = append(edges, [2]int{i, j})
			}
		}
	}
	return edges
}

// DrawGraph draws a graph with a robustness that allows F = 1 at least: a random one, or the complete one.
func (c Chance) DrawGraph(x *Case) {
	n := x.N
	if c.IntN(4) > 0 {
		x.Edges = c.Edges(n, .5+.5*c.Float64())
		if x.R = Robustness(n, x.Edges); x.R < 2 {
			x.Edges = nil
		}
	}
	if x.Edges == nil {
		x.R = (n + 1) / 2
		for i := range n {
			for j := i + 1; j < n; j++ {
				x.Edges = append(x.Edges, [2]int{i, j})
			}
		}
	}
	if x.F = x.R - 1; x.F >= 2 && c.IntN(2) == 0 {
		x.F = (x.R - 1) / 2
	}
}

// Robustness returns the exact r of an undirected graph. It panics if an edge is not one of n nodes.
func Robustness(n int, edges [][2]int) int {
	g, err := graph.New(n, false, edges)
	if err != nil {
		panic(err)
	}
	return robustness.Find(g, nil).R
}

// Mix scrambles a number (splitmix64).
func Mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Tenths returns the bit that stands for a score, rounded to tenths, in a set of scores (Trace.Stated).
func Tenths(score float64) uint16 { return 1 << int(math.Round(10*score)) }
