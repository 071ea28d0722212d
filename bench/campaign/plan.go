package campaign

import (
	"fmt"
	"slices"
	"time"
)

// Tier says how much a campaign tries.
type Tier struct {
	Name       string
	Executions uint64 // in all
	// minima that a finished campaign must reach: executions in which a kind of fault took effect, over all subjects,
	// and in which an adversary was seated, for each subject that it applies to
	Kind, Adversary uint64
	About           string
}

// Tiers are the sizes of campaigns.
func Tiers() []Tier {
	return []Tier{
		{"T0", 40_000, 1, 1, "part of the tests: half a minute"},
		{"T1", 1_000_000, 1_000, 50, "for every change that is merged: ten minutes on two cores"},
		{"T2", 20_000_000, 60_000, 8_000, "before a release: two hours on two cores"},
	}
}

// Options determine a campaign. Two campaigns with equal options try the same executions.
type Options struct {
	Tier       string        `json:"tier,omitempty"`       // name of one of Tiers; "": no minima
	Executions uint64        `json:"executions,omitempty"` // 0: those of the tier, or as many as the time allows
	Time       time.Duration `json:"time,omitempty"`       // 0: no limit
	Protocols  []string      `json:"protocols,omitempty"`  // names of subjects; nil: all
	Seed       uint64        `json:"seed"`                 // of the first execution of each subject
}

// tier returns the tier; one without minima if the options name none.
func (o *Options) tier() (Tier, error) {
	if o.Tier == "" {
		return Tier{}, nil
	}
	for _, t := range Tiers() {
		if t.Name == o.Tier {
			return t, nil
		}
	}
	return Tier{}, fmt.Errorf("campaign: no tier is called %q; there are T0, T1 and T2", o.Tier)
}

// chunkSize is how many executions a worker takes at once.
const chunkSize = 250

// chunk is consecutive executions of one subject.
type chunk struct {
	number int // in the order of the plan
	of     *subject
	from   uint64
	n      uint64
}

// planner hands out the chunks of a campaign. Their order is a function of the options: each subject gets a share, and
// the shares advance together, so that a campaign that is cut off has tried all subjects.
type planner struct {
	subjects []*subject
	share    []uint64 // executions of each subject; of an endless campaign only their ratios count
	given    []uint64
	number   int
	endless  bool
}

// newPlanner distributes the executions. Every subject gets what its adversaries need, and what is left goes by the
// shares of the subjects.
func newPlanner(o *Options) (*planner, error) {
	tier, err := o.tier()
	if err != nil {
		return nil, err
	}
	p := &planner{}
	for _, s := range subjects() {
		if o.Protocols == nil || slices.Contains(o.Protocols, s.Name) {
			p.subjects = append(p.subjects, s)
		}
	}
	for _, name := range o.Protocols {
		if _, err := subjectOf(name); err != nil {
			return nil, err
		}
	}
	all := o.Executions
	if all == 0 {
		all = tier.Executions
	}
	if p.endless = all == 0; p.endless {
		all = 1_000_000
	}
	p.distribute(all, tier)
	return p, nil
}

func (p *planner) distribute(all uint64, tier Tier) {
	p.share, p.given = make([]uint64, len(p.subjects)), make([]uint64, len(p.subjects))
	rest, shares := all, 0.0
	for i, s := range p.subjects {
		need := uint64(perAdversary * float64(tier.Adversary*uint64(len(s.adversaries()))))
		if s.disk != nil && !s.bare {
			need = perDisk * tier.Kind
		}
		if s.sweep > 0 && tier.Executions > 10*s.sweep {
			need = s.sweep
		}
		p.share[i] = min(need, all/uint64(len(p.subjects)))
		rest -= p.share[i]
		shares += s.Share
	}
	for i, s := range p.subjects {
		p.share[i] += uint64(float64(rest) * s.Share / shares)
	}
	var sum uint64
	for _, n := range p.share {
		sum += n
	}
	p.share[0] += all - sum
}

// perDisk is how many executions a subject on a disk needs for each time that each of its kinds of faults is to take
// effect: some can do that in one of the subjects only, in every tenth execution.
const perDisk = 11

// perAdversary is how many executions a subject needs for each time that each of its adversaries is to be seated:
// every second execution wants one of them, and half of the others seat some.
const perAdversary = 1.6

// next returns the next chunk; false if there is none.
func (p *planner) next() (chunk, bool) {
	best := -1
	for i := range p.subjects { // the one whose share has advanced least
		if !p.endless && p.given[i] >= p.share[i] || p.share[i] == 0 {
			continue
		}
		if best < 0 || float64(p.given[i])/float64(p.share[i]) < float64(p.given[best])/float64(p.share[best]) {
			best = i
		}
	}
	if best < 0 {
		return chunk{}, false
	}
	n := uint64(chunkSize)
	if !p.endless {
		n = min(n, p.share[best]-p.given[best])
	}
	c := chunk{p.number, p.subjects[best], p.given[best], n}
	p.given[best] += n
	p.number++
	return c, true
}

// parts returns the subjects with their shares.
func (p *planner) parts() (all []Part) {
	for i, s := range p.subjects {
		all = append(all, Part{s.Name, p.share[i]})
	}
	return all
}

// total returns the number of executions; 0: no limit.
func (p *planner) total() (n uint64) {
	if p.endless {
		return 0
	}
	for _, share := range p.share {
		n += share
	}
	return n
}

// want returns what execution number i of a subject must have, so that every adversary, every kind of fault and every
// pair of kinds has its turn.
func (s *subject) want(i uint64) (w Want) {
	turn, names := i/4, s.adversaries()
	kinds, _ := s.kinds()
	if len(kinds) == 0 {
		return w
	}
	if len(names) > 0 && i%2 == 0 {
		w.Adversary = names[i/2%uint64(len(names))]
	}
	switch i % 4 {
	case 1, 2:
		w.Kind = kinds[turn%uint64(len(kinds))].Name
	case 3:
		first, step := turn%uint64(len(kinds)), 1+turn/uint64(len(kinds))%uint64(len(kinds)-1)
		w.Kind, w.Other = kinds[first].Name, kinds[(first+step)%uint64(len(kinds))].Name
	}
	return w
}
