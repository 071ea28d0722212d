package metrics

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Part is what a run comes to on the questions of one kind, such as a level or a
// topic. A rate that does not exist is nil.
type Part struct {
	Name      string `json:"name"`
	Questions int    `json:"questions"` // finished ones
	IAA       *Rate  `json:"iaa"`
	FAA       *Rate  `json:"faa"`
	RA        *Rate  `json:"ra"`
	Decision  *Rate  `json:"decision_accuracy"`
}

// Parts counts cases by the kind of their questions. Its size does not grow with
// the cases.
type Parts struct {
	seats []Seat
	by    map[string]*part
}

type part struct {
	questions              int
	iaa, faa, ra, decision count
}

// NewParts starts counting cases of one council.
func NewParts(seats []Seat) *Parts { return &Parts{seats: seats, by: map[string]*part{}} }

// Add counts a finished question under the name of its kind; "" is no kind.
func (p *Parts) Add(name string, c *Case) {
	if name == "" || c.Ungraded {
		return
	}
	of := p.by[name]
	if of == nil {
		of = &part{}
		p.by[name] = of
	}
	of.questions++
	first, last := c.first(), c.last()
	for i := range first {
		of.iaa.add(c.score(p.seats[i], first[i]))
		of.faa.add(c.score(p.seats[i], last[i]))
	}
	ties := 0
	of.ra.vote(c, last, &ties)
	if c.Agreed {
		of.decision.add(c.right(c.Decision))
	}
}

// List has a part a kind, numbers first and by size, then names; nil where there
// are not two kinds to be told apart.
func (p *Parts) List() (all []Part) {
	if len(p.by) < 2 {
		return nil
	}
	for _, name := range slices.SortedFunc(maps.Keys(p.by), kinds) {
		of := p.by[name]
		all = append(all, Part{name, of.questions, of.iaa.rate(), of.faa.rate(), of.ra.rate(), of.decision.rate()})
	}
	return all
}

func kinds(a, b string) int {
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
