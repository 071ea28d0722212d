package wmsr

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol"
)

// changing is an execution on a graph that changes: round t has the edges of part t modulo their
// number, and members remember numbers for a window of rounds.
type changing struct {
	*execution
	parts  []graph.Graph
	memory []memory
	t      int
}

// split deals the edges of the execution's graph out to rounds at random.
func split(e *execution, rounds, window int) *changing {
	edges := make([][][2]int, rounds)
	for _, pair := range e.G.Edges() {
		k := e.IntN(rounds)
		edges[k] = append(edges[k], pair)
	}
	c := &changing{execution: e, memory: make([]memory, e.G.N())}
	for _, part := range edges {
		c.parts = append(c.parts, graph.MustNew(e.G.N(), false, part))
	}
	for i := range c.memory {
		c.memory[i].window = window
	}
	return c
}

func (c *changing) round() {
	next, g := slices.Clone(c.x), c.parts[c.t%len(c.parts)]
	for i := range c.x {
		if !c.honest(i) {
			continue
		}
		var heard []value
		for _, j := range g.In(i) {
			x := c.x[j]
			if !c.honest(j) {
				x = c.forged()
			}
			if x != nil {
				heard = append(heard, value{synod.NodeID(j), x})
			}
		}
		next[i] = units.step(c.x[i], c.memory[i].with(c.t, heard), c.trim).next
	}
	c.x = next
	c.t++
}

func (c *changing) spread() *big.Rat {
	low, high := c.span()
	return new(big.Rat).Sub(high, low)
}

// Honest numbers stay in their first range on any graph that changes, with every window, and where
// the unions of a window are (2F+1)-robust they converge, although no single round has to be robust.
// Rounding to whole units leaves a distance of some units for each member and round of the window.
func TestConvergesOverTime(t *testing.T) {
	played, weak := 0, 0
	simtest.EachChance(t, 1500, func(c simtest.Chance) error {
		s, b, ok := c.Draw(true)
		if !ok {
			return nil
		}
		played++
		rounds := 2 + c.IntN(2)
		e := split(newExecution(c, s, b, s.F), rounds, rounds)
		if !slices.ContainsFunc(e.parts, func(g graph.Graph) bool { return g.MinDegree() > 2*s.F }) {
			weak++ // a (2F+1)-robust graph has no smaller degree
		}
		for t := 0; e.spread().Cmp(whole(int64(2*rounds*s.G.N()))) > 0; t++ {
			if !e.inside() {
				return fmt.Errorf("round %d: %v is outside [%v, %v]: edges %v F=%d Byzantine %b", t, e.x, e.low, e.high,
					s.G.Edges(), s.F, b)
			}
			if t == 4000 {
				return fmt.Errorf("after %d rounds: %v: edges %v F=%d Byzantine %b", t, e.x, s.G.Edges(), s.F, b)
			}
			e.round()
		}
		return nil
	})
	t.Logf("%d executions, in %d of them no round is robust enough", played, weak)
	if weak < played/2 || played < 100 && !testing.Short() {
		t.Errorf("%d executions, in %d of them no round is robust enough", played, weak)
	}
}

// One robust round in each period is enough without a window, whatever the other rounds are.
func TestConvergesWithOneRobustRound(t *testing.T) {
	played := 0
	simtest.EachChance(t, 1000, func(c simtest.Chance) error {
		s, b, ok := c.Draw(true)
		if !ok {
			return nil
		}
		played++
		e := split(newExecution(c, s, b, s.F), 2, 1)
		e.parts = append(e.parts, s.G)
		for t := 0; e.spread().Cmp(whole(int64(6*s.G.N()))) > 0; t++ {
			if !e.inside() || t == 6000 {
				return fmt.Errorf("round %d: %v: edges %v F=%d Byzantine %b", t, e.x, s.G.Edges(), s.F, b)
			}
			e.round()
		}
		return nil
	})
	if played < 100 && !testing.Short() {
		t.Errorf("only %d executions", played)
	}
}

// camps returns two camps of three, complete in themselves; in each of three rounds every member hears another one
// of the other camp, which the filter drops. The union of the three rounds is complete.
func camps(window int) *changing {
	e := &execution{Setting: simtest.Setting{G: graph.MustNew(6, false, nil), F: 1}, trim: 1}
	for i := range 6 {
		e.x = append(e.x, whole(int64(i/3)*900))
	}
	e.low, e.high = e.span()
	c := split(e, 1, window)
	c.parts = c.parts[:0]
	for shift := range 3 {
		edges := [][2]int{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}}
		for i := range 3 {
			edges = append(edges, [2]int{i, 3 + (i+shift)%3})
		}
		c.parts = append(c.parts, graph.MustNew(6, false, edges))
	}
	return c
}

// A union that is robust does not help a member that forgets: without a window the camps never
// move, with one of three rounds they meet.
func TestUnionWithoutWindowIsNotEnough(t *testing.T) {
	apart, together := camps(1), camps(3)
	for range 300 {
		apart.round()
		together.round()
	}
	if apart.spread().Cmp(whole(900)) != 0 {
		t.Errorf("without a window the camps moved: %v", apart.x)
	}
	if together.spread().Cmp(whole(10)) > 0 || !together.inside() {
		t.Errorf("with a window the camps stay apart: %v", together.x)
	}
}

func TestMemory(t *testing.T) {
	m := memory{window: 2}
	one, two := whole(1), whole(2)
	for round, c := range []struct {
		heard []value
		want  string
	}{
		{[]value{{3, one}}, "3=1"}, {[]value{{1, two}}, "1=2 3=1"}, {nil, "1=2"}, {nil, ""},
		{[]value{{3, one}, {5, two}}, "3=1 5=2"}, {[]value{{3, two}}, "3=2 5=2"},
	} {
		var got []string
		for _, v := range m.with(round, c.heard) {
			got = append(got, fmt.Sprintf("%d=%s", v.from, v.x.RatString()))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("round %d: %s; want %s", round, s, c.want)
		}
	}
}

// Convergence is claimed where each window is robust enough, or one in each period of a schedule.
func TestGuaranteeOverTime(t *testing.T) {
	for _, c := range []struct {
		window, f   int
		least, most int
		repeats     bool
		want, says  string
	}{
		{1, 1, 3, 3, false, Approach, "rounds have r 3:"}, {1, 1, 1, 3, true, Approach, "once in every period"},
		{1, 1, 1, 3, false, Inside, "of at least 3 in all"}, {3, 1, 3, 3, true, Approach, "unions of 3 rounds"},
		{3, 1, 2, 2, true, Inside, "F=1 Byzantine neighbours each in as many rounds"},
		{1, 2, 4, 4, true, Inside, "at least 5"},
		{1, 0, 1, 1, false, Approach, "F=0"}, {1, 0, 0, 1, false, Inside, "r 0 to 1"},
	} {
		p := New()
		p.Window = c.window
		windows := func(w int) (int, int) {
			if w != c.window {
				t.Errorf("asked for windows of %d rounds", w)
			}
			return c.least, c.most
		}
		name, note := p.GuaranteeOverTime(c.f, protocol.OverTime{R: 1, Repeats: c.repeats, Windows: windows})
		if name != c.want || !strings.Contains(note, c.says) {
			t.Errorf("%+v: %s: %s", c, name, note)
		}
	}
	p := New()
	if p.Window = 2; p.Validate() != nil {
		t.Error("window 2 is refused")
	}
	if p.Paper(); p.Validate() == nil {
		t.Error("exact: paper with a window")
	}
	if p = New(); p.Window != 1 || p.Validate() != nil {
		t.Error("defaults")
	}
}
