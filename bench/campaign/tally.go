package campaign

import (
	"cmp"
	"math"
	"slices"
)

// Tally counts what a campaign has tried, by subject.
type Tally struct {
	Executions uint64                   `json:"executions"`
	Subjects   map[string]*SubjectTally `json:"protocols"`
	Pairs      map[string]uint64        `json:"pairs"` // "drop+twins": executions in which both took effect
}

// SubjectTally is the tally of one protocol or building block. All numbers count executions.
type SubjectTally struct {
	Executions   uint64                 `json:"executions"`
	AtBound      uint64                 `json:"at_bound"`
	Above        uint64                 `json:"above_bound"`
	Asynchronous uint64                 `json:"asynchronous"`
	RealKeys     uint64                 `json:"real_keys"`
	Kinds        map[string]uint64      `json:"faults"`      // in which a fault of the kind took effect
	Adversaries  map[string]uint64      `json:"adversaries"` // in which it was seated
	States       map[string]uint64      `json:"states"`      // in which the situation occurred
	Claims       map[string]*ClaimTally `json:"claims"`
}

// ClaimTally is how often a claim was checked.
type ClaimTally struct {
	Executions uint64   `json:"executions"` // in which it applied
	Violations uint64   `json:"violations"`
	Margin     *float64 `json:"margin"` // the smallest seen; nil: the claim has none
}

// NewTally returns a tally without executions.
func NewTally() *Tally {
	return &Tally{Subjects: map[string]*SubjectTally{}, Pairs: map[string]uint64{}}
}

func (t *Tally) of(name string) *SubjectTally {
	s := t.Subjects[name]
	if s == nil {
		s = &SubjectTally{Kinds: map[string]uint64{}, Adversaries: map[string]uint64{}, States: map[string]uint64{},
			Claims: map[string]*ClaimTally{}}
		t.Subjects[name] = s
	}
	return s
}

// Add counts an execution and its result.
func (t *Tally) Add(x *Execution, r *ExecutionResult) {
	s := t.of(x.Protocol)
	t.Executions++
	s.Executions++
	for count, yes := range map[*uint64]bool{&s.AtBound: x.AtBound, &s.Above: x.Above, &s.RealKeys: x.RealKeys,
		&s.Asynchronous: x.Regime == Asynchronous} {
		if yes {
			*count++
		}
	}
	for i, a := range r.Injected {
		s.Kinds[a]++
		for _, b := range r.Injected[i+1:] {
			t.Pairs[a+"+"+b]++
		}
	}
	for i, a := range x.Seats {
		if !slices.ContainsFunc(x.Seats[:i], func(b Seated) bool { return b.Name == a.Name }) {
			s.Adversaries[a.Name]++
		}
	}
	for _, name := range r.States {
		s.States[name]++
	}
	for id, m := range r.Applied {
		s.claim(id).add(ClaimTally{Executions: 1, Margin: finite(m)})
	}
	for _, v := range r.Violations {
		s.claim(v.Claim).Violations++
	}
}

func (s *SubjectTally) claim(id string) *ClaimTally {
	c := s.Claims[id]
	if c == nil {
		c = &ClaimTally{}
		s.Claims[id] = c
	}
	return c
}

func finite(m float64) *float64 {
	if math.IsNaN(m) || math.IsInf(m, 0) {
		return nil
	}
	return &m
}

func (c *ClaimTally) add(o ClaimTally) {
	c.Executions += o.Executions
	c.Violations += o.Violations
	if o.Margin != nil && (c.Margin == nil || *o.Margin < *c.Margin) {
		least := *o.Margin
		c.Margin = &least
	}
}

// Merge adds another tally.
func (t *Tally) Merge(o *Tally) {
	t.Executions += o.Executions
	addAll(t.Pairs, o.Pairs)
	for name, other := range o.Subjects {
		s := t.of(name)
		s.Executions += other.Executions
		s.AtBound += other.AtBound
		s.Above += other.Above
		s.Asynchronous += other.Asynchronous
		s.RealKeys += other.RealKeys
		addAll(s.Kinds, other.Kinds)
		addAll(s.Adversaries, other.Adversaries)
		addAll(s.States, other.States)
		for id, c := range other.Claims {
			s.claim(id).add(*c)
		}
	}
}

func addAll(to, from map[string]uint64) {
	for name, n := range from {
		to[name] += n
	}
}

// Violations returns how many executions violated a claim, summed over claims.
func (t *Tally) Violations() (n uint64) {
	for _, s := range t.Subjects {
		for _, c := range s.Claims {
			n += c.Violations
		}
	}
	return n
}

// ClaimSum is a claim with its tally over all its protocols.
type ClaimSum struct {
	Claim
	ClaimTally
}

// Claims returns every claim of the subjects in the tally, in their order, with its tally.
func (t *Tally) Claims() (all []ClaimSum) {
	for _, c := range Claims() {
		sum, any := ClaimSum{Claim: c}, false
		for _, name := range c.Protocols {
			if s := t.Subjects[name]; s != nil {
				any = true
				if one := s.Claims[c.ID]; one != nil {
					sum.add(*one)
				}
			}
		}
		if any {
			all = append(all, sum)
		}
	}
	return all
}

// KindSum is a kind of fault with the executions in which it took effect.
type KindSum struct {
	FaultKind
	Executions uint64 `json:"executions"`
}

// Faults returns every kind of fault with its count over all subjects.
func (t *Tally) Faults() (all []KindSum) {
	for _, k := range kinds {
		sum := KindSum{FaultKind: k}
		for _, s := range t.Subjects {
			sum.Executions += s.Kinds[k.Name]
		}
		all = append(all, sum)
	}
	return all
}

// Zeros names what the tally should have tried and did not: kinds of faults, adversaries by subject, states of
// protocols, claims that never applied, and the decision of a protocol that has no claim about it.
func (t *Tally) Zeros() (zeros []string) {
	everything := len(t.Subjects) == len(subjects())
	for _, k := range t.Faults() {
		if k.Executions == 0 && (everything || t.could(k.FaultKind)) {
			zeros = append(zeros, "fault "+k.Name)
		}
	}
	for _, s := range subjects() {
		sum := t.Subjects[s.Name]
		if sum == nil {
			continue
		}
		if s.protocol != "" && s.Decision == "" {
			zeros = append(zeros, s.Name+": its decision, for which it has no reference (check.Subject.Deciding)")
		}
		for _, a := range s.adversaries() {
			if sum.Adversaries[a] == 0 {
				zeros = append(zeros, s.Name+": adversary "+a)
			}
		}
		for _, name := range s.States {
			if sum.States[name] == 0 {
				zeros = append(zeros, s.Name+": state "+name)
			}
		}
		for _, c := range s.claims {
			if one := sum.Claims[c.ID]; one == nil || one.Executions == 0 {
				zeros = append(zeros, s.Name+": claim "+c.ID)
			}
		}
	}
	return zeros
}

// could reports whether some subject of the tally can have a kind of fault.
func (t *Tally) could(k FaultKind) bool {
	for _, s := range subjects() {
		x := Execution{Regime: Asynchronous}
		if t.Subjects[s.Name] != nil && s.suits(byName[k.Name], &x) {
			return true
		}
	}
	return false
}

// PairsTried returns how many pairs of kinds took effect together, of how many there are: a disk and a network are
// never in one execution, and insiders only with some faults of links.
func (t *Tally) PairsTried() (tried, all int) {
	a, b, c := firstStorage, firstInsider-firstStorage, len(kinds)-firstInsider
	return len(t.Pairs), a*(a-1)/2 + b*(b-1)/2 + c*(c-1)/2 + c*len(linkKinds)
}

// Violated are the claims with violations, by id.
func (t *Tally) Violated() (all []ClaimSum) {
	for _, c := range t.Claims() {
		if c.ClaimTally.Violations > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b ClaimSum) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Adversaries returns the adversaries that apply to a subject.
func Adversaries(name string) []string {
	s, err := subjectOf(name)
	if err != nil {
		return nil
	}
	return s.adversaries()
}
