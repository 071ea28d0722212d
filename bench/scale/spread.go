package scale

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/protocol/wmsr"
)

// Grown returns a sparse graph of n nodes that is r-robust by construction: a clique of 2r-1 nodes, which is r-robust,
// and then one node after the other with edges to r earlier nodes, drawn at random. If a graph is r-robust, so is the
// graph with a further node that has r neighbours in it (LeBlanc, Zhang, Koutsoukos, Sundaram, "Resilient Asymptotic
// Consensus in Robust Networks", IEEE JSAC 31(4), 2013, theorem 5). So no search is needed, whatever n is.
func Grown(n, r int, seed uint64) (graph.Graph, error) {
	b, err := topology.Build("preferential", n, map[string]any{"r": r, "attach": "any"}, seed)
	return b.Graph, err
}

// Spread is a run of W-MSR on a large graph.
type Spread struct {
	Nodes, Edges int
	Byzantine    int   // at most F among the neighbours of each honest member
	Rounds       int   // until honest numbers are within a hundredth of their first range; 0: not in the rounds played
	Outside      int   // honest numbers of any round that were outside the range of the first honest ones
	Messages     int   // until then
	Bytes        int64 // of their bodies
}

// Setting is what is played.
type Setting struct {
	F      int     // at most so many neighbours of each honest member are Byzantine
	Trim   int     // honest members drop up to so many numbers on each side: F, unless a control says otherwise
	Beyond float64 // how far outside the honest range Byzantine numbers are, in lengths of that range
	Rounds int     // at most
	Seed   uint64
}

// splitters are the Byzantine members of a run. They know all honest numbers. Each tells every neighbour another
// number, to keep honest members apart: those above the middle hear the largest honest number, and those below it the
// smallest, which W-MSR cannot tell from honest ones; with Beyond they hear larger and smaller ones.
type splitters struct {
	beyond    float64
	byzantine []bool
	now       []float64 // by node
	low, high float64   // of the honest numbers
	first     [2]float64
	spread    *Spread
	messages  int
	bytes     int64
	round     int
	noted     int
}

// Play plays W-MSR by package sim on a graph, with as many Byzantine members as fit.
func Play(g graph.Graph, set Setting) (Spread, error) {
	n, seed := g.N(), set.Seed
	s := &splitters{beyond: set.Beyond, byzantine: place(g, set.F, seed), now: make([]float64, n),
		spread: &Spread{Nodes: n}}
	random := rand.New(rand.NewPCG(seed, 7))
	p := wmsr.New()
	p.Rounds = set.Rounds
	question := &synod.Question{Text: "How many?", Form: synod.Number}
	c := sim.Config{Seed: seed, Carry: s.carry, Notes: s.note}
	first := make([]string, n)
	for i := range n {
		s.spread.Edges += g.InDegree(i)
		if s.byzantine[i] {
			s.spread.Byzantine++
		}
		first[i] = strconv.Itoa(random.IntN(1_000_000))
		seat := synod.Seat{Self: synod.NodeID(i), F: set.Trim, Question: question, Seed: seed + uint64(i),
			Pace: synod.Pace{Think: 1, Within: 1}}
		for _, j := range g.In(i) {
			seat.Peers = append(seat.Peers, synod.NodeID(j))
		}
		c.Machines = append(c.Machines, p.Join(seat))
	}
	s.spread.Edges /= 2
	c.Ask = sim.Immediate(func(calls []sim.Call) []synod.Reply {
		replies := make([]synod.Reply, len(calls))
		for i, call := range calls {
			replies[i] = synod.Reply{Status: synod.OK, Typed: true, Answer: synod.Answer(first[call.Node])}
		}
		return replies
	})
	if r := sim.Run(c); r.Stopped != converged && r.Stopped != sim.Finished {
		return *s.spread, fmt.Errorf("scale: the run ended with %q", r.Stopped)
	}
	return *s.spread, nil
}

// converged is why a run stops whose honest numbers have met.
const converged = "converged"

// place returns Byzantine members, as many as fit if at most f are among the neighbours of each honest one: nodes in
// random order, each of which becomes one if it still fits.
func place(g graph.Graph, f int, seed uint64) []bool {
	byzantine, near := make([]bool, g.N()), make([]int, g.N())
	for _, i := range rand.New(rand.NewPCG(seed, 3)).Perm(g.N()) {
		fits := near[i] <= f
		for _, j := range g.In(i) {
			fits = fits && near[j] < f
		}
		if !fits {
			continue
		}
		byzantine[i] = true
		for _, j := range g.In(i) {
			near[j]++
		}
	}
	return byzantine
}

// note reads the honest numbers of a round, and ends the run when they have met.

func (s *splitters) note(_ synod.Tick, notes []sim.Noted) string {
	for _, o := range notes {
		x, err := strconv.ParseFloat(string(o.Answer), 64)
		if err == nil {
			s.now[o.Node] = x
		}
	}
	if s.noted += len(notes); s.noted < len(s.now) {
		return ""
	}
	s.noted = 0
	s.low, s.high = math.Inf(1), math.Inf(-1)
	for i, x := range s.now {
		if !s.byzantine[i] {
			s.low, s.high = min(s.low, x), max(s.high, x)
		}
	}
	if s.round == 0 {
		s.first = [2]float64{s.low, s.high}
	}
	for i, x := range s.now {
		if !s.byzantine[i] && (x < s.first[0] || x > s.first[1]) {
			s.spread.Outside++
		}
	}
	s.spread.Messages, s.spread.Bytes = s.messages, s.bytes
	if s.round++; s.round > 1 && s.high-s.low <= (s.first[1]-s.first[0])/100 {
		s.spread.Rounds = s.round - 1
		return converged
	}
	return ""
}

// carry delivers messages of honest members as they are, and of Byzantine ones what keeps the receiver apart.
func (s *splitters) carry(_ synod.Tick, to synod.NodeID, m *synod.Message, deliver func(synod.Tick, *synod.Message)) {
	s.messages, s.bytes = s.messages+1, s.bytes+int64(len(m.Body))
	if !s.byzantine[m.From] || s.byzantine[to] {
		deliver(1, m)
		return
	}
	x := s.low - s.beyond*(s.high-s.low)
	if s.now[to] > (s.low+s.high)/2 {
		x = s.high + s.beyond*(s.high-s.low)
	}
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', 6, 64), "0"), ".")
	forged := *m
	r := synod.Response{Answer: synod.Answer(text)}
	body, err := r.AppendBinary(nil)
	if err == nil {
		forged.Body = body
		deliver(1, &forged)
	}
}
