package plan

import (
	"cmp"

	"synod.dev/synod/protocol"
)

// patience is when a run stops waiting for its slowest calls. A call that is cut off counts as failed, however soon
// its reply comes afterwards, and its seat is named as late.
//
// Nobody who controls at most F seats gains by it. The claims of the protocols hold whatever F seats do, silence
// included, so a run in which at most F seats are late is one of the runs that they are about: a late seat counts
// against F, and the claim that is printed allows so many fewer Byzantine ones. The ends of rounds stay where they
// are in virtual time, so what members hear of one another does not depend on when a call was cut off.
type Waiting struct {
	Spare  int    // seats that may be late at once, at most F; with F = 0 in a panel that is lenient, fewer than half
	After  Factor // multiple of the median time of the calls that returned; 0: see batch.lastCall
	ByRule bool   // F is 0: the seats without which the rule decides may be late
}

// setPatience fills in the patience of a council that names none: F seats may be late, but never half of all. A run
// by the clock and one as in the paper wait for every call. Nodes see their own calls only.
func (p *Plan) setPatience() error {
	if err := p.checkClock(); err != nil {
		return err
	}
	set := p.spec.Patience
	if err := set.validate(p.spec.F, p.spec.Exact); err != nil {
		return err
	}
	p.patience.After = set.After
	switch {
	case set.Spare != nil:
		p.patience.Spare = *set.Spare
		if *set.Spare > 0 {
			p.spec.Patience.After = cmp.Or(set.After, 2)
			p.patience.After = p.spec.Patience.After
		}
	case p.spec.Exact == "" && !p.spec.Runner.Clock() && !p.spec.Runner.Nodes():
		p.patience.Spare = min(p.spec.F, (len(p.seats)-1)/2)
		p.patience.ByRule = p.spec.F == 0
		if l, ok := p.protocol.(protocol.Loose); ok && l.DecidesWithoutSome() && p.spec.F == 0 {
			p.patience.Spare = (len(p.seats) - 1) / 2 // nothing is guaranteed with F = 0, with them or without
		}
	}
	return nil
}
