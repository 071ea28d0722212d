package plan

import (
	"cmp"
	"errors"

	"synod.dev/synod/protocol"
)

// setPatience fills in the patience of a council that names none: F seats may be late, but never half of all. A run
// by the clock and one as in the paper wait for every call. Nodes see their own calls only.
func setPatience(p *Plan) error {
	if err := checkClock(p); err != nil {
		return err
	}
	set, can := p.spec.Patience, p.spec.Runner.Capabilities()
	if err := set.validate(p.spec.F, p.spec.Exact); err != nil {
		return err
	}
	p.patience.After = set.After
	if u, ok := p.protocol.(protocol.Unequal); ok {
		p.patience.Unequal = u.AsksUnequals()
	}
	switch {
	case set.Spare != nil:
		p.patience.Spare = *set.Spare
		if *set.Spare > 0 {
			p.spec.Patience.After = cmp.Or(set.After, 2)
			p.patience.After = p.spec.Patience.After
		}
	case p.spec.Exact == "" && !can.Measured && !can.Owned:
		p.patience.Spare = min(p.spec.F, (len(p.seats)-1)/2)
		p.patience.ByRule = p.spec.F == 0
		if l, ok := p.protocol.(protocol.Loose); ok && l.DecidesWithoutSome() && p.spec.F == 0 {
			p.patience.Spare = (len(p.seats) - 1) / 2 // nothing is guaranteed with F = 0, with them or without
		}
	}
	return nil
}

// checkRace refuses calls that begin early where members are played by the clock or by others, who call their models
// when their turn has come.
func checkRace(p *Plan) error {
	r, races := p.protocol.(protocol.Racing)
	if can := p.spec.Runner.Capabilities(); races && r.Races() && (can.Measured || can.Owned) {
		return errors.New("protocol.race is for one process that calls all members, in virtual time, and members of " +
			"this runner call their models themselves: remove race, or the key runner")
	}
	return nil
}

// checkClock refuses settings that shorten waiting by the times of other calls.
func checkClock(p *Plan) error {
	if p.spec.Runner.Capabilities().Measured && p.spec.Patience.spare() > 0 {
		return errors.New("patience is for virtual time; with runner: {name: clock} a call may take pace.think")
	}
	return nil
}
