package campaign

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/check"
)

// Draw returns the execution of a seed. It panics if no subject has the name, which callers must have checked with
// Subjects.
func Draw(name string, seed uint64, want Want) Execution {
	s, err := subjectOf(name)
	if err != nil {
		panic(err)
	}
	c := newChance(name, seed)
	x := Execution{Case: check.Case{Protocol: name, Seed: c.Uint64()}, Regime: Synchronous}
	s.setup(c, &x)
	if s.sweep > 0 {
		x.schedule(0, seed)
		return x
	}
	if s.disk != nil {
		if !s.bare {
			s.drawEvents(c, &x, want)
		}
		return x
	}
	if c.Float64() < shareAsync || isLate(want.Kind) || isLate(want.Other) {
		x.Regime = Asynchronous
	}
	x.Delay = synod.Tick(c.IntN(slack + 1))
	x.RealKeys = s.Signs && c.Float64() < shareReal
	s.drawByzantine(c, &x, want)
	s.seatAdversaries(c, &x, want)
	s.drawEvents(c, &x, want)
	x.chargeNobody()
	return x
}

// DrawAt returns execution number i of a subject in a campaign with a seed.
func DrawAt(name string, seed, i uint64) Execution {
	s, err := subjectOf(name)
	if err != nil {
		panic(err)
	}
	x := Draw(name, seed+i, s.want(i))
	if s.sweep > 0 {
		x.schedule(seed, i)
	}
	return x
}

// Check returns an error if the execution is not one that can be played: it may come from a file.
func (x *Execution) Check() error {
	s, err := subjectOf(x.Protocol)
	if err != nil {
		return err
	}
	n := x.Total()
	switch {
	case x.N < 1 || x.Outside < 0 || n > mostSeats:
		return fmt.Errorf("campaign: %d seats and %d outside; there must be between 1 and %d in all", x.N,
			x.Outside, mostSeats)
	case x.F < 0 || x.F >= x.N:
		return fmt.Errorf("campaign: f is %d; it must be between 0 and n-1, which is %d", x.F, x.N-1)
	case x.Cast != nil && len(x.Cast) != n:
		return fmt.Errorf("campaign: roles of %d seats; there are %d", len(x.Cast), n)
	case x.Delay < 0 || x.Delay > 1000:
		return fmt.Errorf("campaign: delay is %d; it must be between 0 and 1000", x.Delay)
	case x.Regime != Synchronous && x.Regime != Asynchronous:
		return fmt.Errorf("campaign: regime is %q; it must be %s or %s", x.Regime, Synchronous, Asynchronous)
	}
	for _, e := range x.Edges {
		if e[0] < 0 || e[1] < 0 || e[0] >= n || e[1] >= n || e[0] == e[1] {
			return fmt.Errorf("campaign: edge %v; seats are 0 to %d", e, n-1)
		}
	}
	for _, id := range x.Byzantine {
		if id < 0 || int(id) >= n {
			return fmt.Errorf("campaign: seat %d is Byzantine; seats are 0 to %d", id, n-1)
		}
	}
	if x.exceeds() && !x.Above {
		return errors.New("campaign: an honest member hears more than f Byzantine ones; add \"above\": true")
	}
	if !slices.IsSorted(x.Byzantine) {
		return fmt.Errorf("campaign: byzantine must be ascending; it is %v", x.Byzantine)
	}
	if x.Operations < 0 || x.Operations > mostOperations || (x.Operations > 0) != (s.disk != nil) {
		return fmt.Errorf("campaign: %d operations; there must be 1 to %d on a disk and with callers, and none "+
			"elsewhere", x.Operations, mostOperations)
	}
	if len(x.Twins) > 0 && !s.Twins {
		return fmt.Errorf("campaign: executions of %s have no twins", s.Name)
	}
	return x.checkFaults(s, n)
}

func (x *Execution) checkFaults(s *subject, n int) error {
	for _, a := range x.Seats {
		if a.Seat < 0 || int(a.Seat) >= n {
			return fmt.Errorf("campaign: adversary %s at seat %d; seats are 0 to %d", a.Name, a.Seat, n-1)
		}
		if !slices.Contains(s.adversaries(), a.Name) {
			return fmt.Errorf("campaign: adversary %q does not apply to %s; these do: %v", a.Name, s.Name,
				s.adversaries())
		}
	}
	for i := range x.Events {
		e := &x.Events[i]
		k, err := kindOf(e.Kind)
		if err != nil {
			return err
		}
		if !s.suits(k, &Execution{Regime: Asynchronous}) && (s.disk != nil || kinds[k].Group == Storage) {
			return fmt.Errorf("campaign: event %d: %s does not apply to %s", i, e.Kind, s.Name)
		}
		if e.kind = k; e.Node < -1 || int(e.Node) >= n || e.From < 0 || e.Arg < 0 || e.Arg > 1<<20 {
			return fmt.Errorf("campaign: event %d, %s: seats are 0 to %d, and no number is negative", i, e, n-1)
		}
	}
	return nil
}

// Play plays an execution and checks all claims of its protocol. The result is a function of the execution. It is valid
// until the next call. An execution from a file must have passed Check.
func (p *ExecutionPlayer) Play(x *Execution) *ExecutionResult {
	s, err := subjectOf(x.Protocol)
	if err != nil {
		panic(err)
	}
	t := p.play(s, x, variant{})
	p.again(t)
	return t.finish()
}
