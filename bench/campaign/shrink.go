package campaign

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/reference"
	"synod.dev/synod/protocol/check"
)

// Shrink returns a smaller execution that violates the same claim: with fewer events (delta debugging), fewer
// adversaries, members and delays, and events that are shorter and hit fewer links. The result is the execution itself
// if it does not violate the claim.
func (p *ExecutionPlayer) Shrink(x Execution, claim string) Execution {
	if p.violates(&x, claim) == "" {
		return x
	}
	for {
		before := x.weight()
		for _, step := range []func(Execution, string) Execution{
			p.fewerEvents, p.fewerAdversaries, p.simpler, p.fewerMembers, p.fewerOperations, p.shorterEvents,
		} {
			x = step(x, claim)
		}
		if x.weight() >= before {
			return x
		}
	}
}

// weight is what Shrink makes smaller.
func (x *Execution) weight() int {
	w := 100*len(x.Events) + 100*len(x.Seats) + 50*x.Total() + 20*x.Operations + int(x.Delay)
	for i := range x.Events {
		e := &x.Events[i]
		w += len(e.Peers) + int(min(e.To-e.From, 1000)) + min(e.Arg, 10)
	}
	return w
}

// try returns the candidate if it still violates the claim, and x otherwise.
func (p *ExecutionPlayer) try(x, candidate Execution, claim string) (Execution, bool) {
	candidate.Byzantine = slices.Clone(candidate.Byzantine)
	if candidate.Check() != nil || x.seatable() && !candidate.seatable() {
		return x, false
	}
	candidate.chargeNobody()
	if p.violates(&candidate, claim) == "" {
		return x, false
	}
	return candidate, true
}

// seatable reports whether some council has the seats and the bound of the execution, so that its decision is compared
// and people can play it. A subject that is no protocol has no council.
func (x *Execution) seatable() bool {
	s, err := subjectOf(x.Protocol)
	if err != nil || s.Decision == "" {
		return true
	}
	return planOf(s.protocol, &x.Case, reference.Rule{Name: plan.Majority}) != nil ||
		planOf(s.protocol, &x.Case, reference.Rule{Name: plan.ByProtocol}) != nil
}

// fewerEvents is delta debugging (Zeller and Hildebrandt 2002) of the schedule: it leaves out parts of it that are
// halved until they are single events.
func (p *ExecutionPlayer) fewerEvents(x Execution, claim string) Execution {
	for size := max(1, len(x.Events)/2); size >= 1; size /= 2 {
		for at := 0; at < len(x.Events); {
			c := x
			c.Events = slices.Delete(slices.Clone(x.Events), at, min(at+size, len(x.Events)))
			var ok bool
			if x, ok = p.try(x, c, claim); !ok {
				at += size
			}
		}
	}
	return x
}

func (p *ExecutionPlayer) fewerAdversaries(x Execution, claim string) Execution {
	for at := 0; at < len(x.Seats); {
		c := x
		c.Seats = slices.Delete(slices.Clone(x.Seats), at, at+1)
		var ok bool
		if x, ok = p.try(x, c, claim); !ok {
			at++
		}
	}
	return x
}

// simpler leaves out delays by chance, real keys, asynchrony and the parameters of the protocol.
func (p *ExecutionPlayer) simpler(x Execution, claim string) Execution {
	for _, change := range []func(*Execution){
		func(c *Execution) { c.Delay = 0 },
		func(c *Execution) { c.RealKeys = false },
		func(c *Execution) { c.Params = "" },
		func(c *Execution) { c.Outside = 0 },
	} {
		c := x
		if change(&c); c.weight() <= x.weight() {
			x, _ = p.try(x, c, claim)
		}
	}
	return x
}

// fewerMembers leaves out the last seat, if nothing names it.
func (p *ExecutionPlayer) fewerMembers(x Execution, claim string) Execution {
	for x.N > 2 && x.Outside == 0 && x.F < x.N-1 {
		c, last := x, synod.NodeID(x.N-1)
		c.N--
		c.Byzantine = slices.DeleteFunc(slices.Clone(x.Byzantine), func(id synod.NodeID) bool { return id == last })
		if x.Cast != nil {
			c.Cast = x.Cast[:c.N]
		}
		c.Edges, c.Events = nil, nil
		for _, e := range x.Edges {
			if e[0] < c.N && e[1] < c.N {
				c.Edges = append(c.Edges, e)
			}
		}
		if x.Edges != nil {
			if c.R = check.Robustness(c.N, c.Edges); c.R <= c.F {
				return x
			}
		}
		for _, e := range x.Events {
			e.Peers = slices.DeleteFunc(slices.Clone(e.Peers), func(id synod.NodeID) bool { return id == last })
			c.Events = append(c.Events, e)
		}
		var ok bool
		if x, ok = p.try(x, c, claim); !ok {
			return x
		}
	}
	return x
}

// fewerOperations leaves out the last operations on a disk.
func (p *ExecutionPlayer) fewerOperations(x Execution, claim string) Execution {
	for ok := true; ok && x.Operations > 1; {
		c := x
		c.Operations--
		x, ok = p.try(x, c, claim)
	}
	return x
}

// shorterEvents makes events hit fewer links, for a shorter time, with a smaller argument.
func (p *ExecutionPlayer) shorterEvents(x Execution, claim string) Execution {
	for i := range x.Events {
		for k := 0; k < len(x.Events[i].Peers); {
			c := x.with(i, func(e *ScheduledFault) { e.Peers = slices.Delete(slices.Clone(e.Peers), k, k+1) })
			var ok bool
			if x, ok = p.try(x, c, claim); !ok {
				k++
			}
		}
		for _, change := range []func(*ScheduledFault){
			func(e *ScheduledFault) { e.From = (e.From + e.To) / 2 },
			func(e *ScheduledFault) { e.To = (e.From + e.To + 1) / 2 },
			func(e *ScheduledFault) { e.Arg = min(e.Arg, 1) }, func(e *ScheduledFault) { e.Arg /= 2 },
		} {
			for again := true; again; {
				c := x.with(i, change)
				if again = c.weight() < x.weight(); again {
					x, again = p.try(x, c, claim)
				}
			}
		}
	}
	return x
}

// with returns the execution with a changed event.
func (x Execution) with(i int, change func(*ScheduledFault)) Execution {
	x.Events = slices.Clone(x.Events)
	change(&x.Events[i])
	return x
}
