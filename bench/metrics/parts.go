package metrics

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Part are the figures of the questions of one kind, such as a level or a topic.
type Part struct {
	Name      string `json:"name"`
	Questions int    `json:"questions"` // finished and graded
	IAA       *Rate  `json:"iaa"`
	FAA       *Rate  `json:"faa"`
	RA        *Rate  `json:"ra"`
	Decision  *Rate  `json:"decision_accuracy"`
}

// Parts counts cases by the kind of their question. Its size does not depend on
// the number of cases.
type Parts struct {
	seats  []SeatFacts
	byKind map[string]*partCounts
}

type partCounts struct {
	cases              int
	questions          questions
	iaa, faa, decision count
	ra                 plurality
}

// NewParts returns an empty count for cases of a council with these seats.
func NewParts(seats []SeatFacts) *Parts {
	return &Parts{seats: seats, byKind: map[string]*partCounts{}}
}

// Add counts a finished question of the named kind. Questions without a kind ("")
// and without a key are ignored.
func (p *Parts) Add(kind string, c *GradedQuestion) {
	if kind == "" || c.Ungraded {
		return
	}
	counts := p.byKind[kind]
	if counts == nil {
		counts = &partCounts{}
		p.byKind[kind] = counts
	}
	counts.cases++
	q := counts.questions.next(c)
	first, last := c.first(len(p.seats)), c.last(len(p.seats))
	for i, s := range p.seats {
		if !c.asks(i, s) {
			continue
		}
		if s.Adversary {
			counts.iaa.addNever()
			counts.faa.addNever()
			continue
		}
		before, _ := c.grade(first[i])
		after, _ := c.grade(last[i])
		counts.iaa.add(q, before, true)
		counts.faa.add(q, after, true)
	}
	counts.ra.add(q, c, last)
	if c.Agreed {
		right, known := c.grade(c.Decision)
		counts.decision.add(q, right, known)
	}
}

// List returns the figures of every kind, numbers first in numeric order, then
// names. It returns nil if there are fewer than two kinds.
func (p *Parts) List() (all []Part) {
	if len(p.byKind) < 2 {
		return nil
	}
	for _, name := range slices.SortedFunc(maps.Keys(p.byKind), compareKinds) {
		c := p.byKind[name]
		all = append(all, Part{name, c.cases, c.iaa.rate(), c.faa.rate(), c.ra.all.rate(), c.decision.rate()})
	}
	return all
}

func compareKinds(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	switch {
	case errX == nil && errY == nil:
		return x - y
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}
