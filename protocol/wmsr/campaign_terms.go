package wmsr

import (
	"fmt"

	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/check"
)

// tryTerms checks the guarantee of a council, on a graph that stays and on one that changes.
func tryTerms(t *check.Tried) {
	p, f, r := New(), t.Rand.IntN(5), t.Rand.IntN(12)
	p.Window, p.Rounds = 1+t.Rand.IntN(3), t.Rand.IntN(5)
	t.Check(p.Calls(make([]int, 1+f)) == 1+f, "%d members ask %d times", 1+f, p.Calls(make([]int, 1+f)))
	t.Check(p.Validate() == nil, "a window of %d is refused", p.Window)
	p.Paper()
	t.Check((p.Validate() == nil) == (p.Window == 1), "by the paper, a window of %d is refused: %v", p.Window,
		p.Validate())
	need := fmt.Sprintf("r of at least %d", f+f+1)
	if name, note := p.Guarantee(f, r, true); r > f+f {
		t.Says(name, note, Approach, fmt.Sprintf("r is %d:", r))
	} else {
		t.Says(name, note, Inside, fmt.Sprintf("r is %d ", r), need)
	}
	least := t.Rand.IntN(12)
	most, repeats := least+t.Rand.IntN(4), t.Rand.IntN(2) == 0
	name, note := p.GuaranteeOverTime(f, protocol.OverTime{R: r, Repeats: repeats,
		Windows: func(rounds int) (int, int) {
			t.Check(rounds == p.Window, "it asks for windows of %d rounds, and has %d", rounds, p.Window)
			return least, most
		}})
	graphs := fmt.Sprintf("unions of %d rounds", p.Window)
	if p.Window == 1 {
		graphs = "graphs of single rounds"
	}
	switch {
	case least > f+f:
		t.Says(name, note, Approach, graphs)
	case repeats && most > f+f:
		t.Says(name, note, Approach, graphs, fmt.Sprintf("of at least %d once", f+f+1))
	default:
		t.Says(name, note, Inside, graphs, need)
	}
}
