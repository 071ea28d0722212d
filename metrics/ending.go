package metrics

import "slices"

// Ending is how often runs of a protocol ended in one of its named ways.
type Ending struct {
	Name string `json:"name"`
	Rate *Rate  `json:"rate"`
}

// endings counts how runs ended and after which round.
type endings struct {
	ways   map[string]int
	rounds map[int]int
	n      int
}

func (e *endings) add(c *Case) {
	if c.Ending == "" {
		return
	}
	if e.ways == nil {
		e.ways, e.rounds = map[string]int{}, map[int]int{}
	}
	e.ways[c.Ending]++
	e.n++
	if c.Stop > 0 {
		e.rounds[c.Stop]++
	}
}

// Endings are the shares of the named ways, in the order given; none where no run
// has one.
func (t *Tally) Endings(names []string) (all []Ending) {
	for _, name := range names {
		if t.ends.n > 0 {
			all = append(all, Ending{name, Wilson(t.ends.ways[name], t.ends.n)})
		}
	}
	return all
}

// Stops are the rounds after which runs ended, ascending, one a run that did.
func (t *Tally) Stops() (rounds []int) {
	for round, n := range t.ends.rounds {
		rounds = append(rounds, slices.Repeat([]int{round}, n)...)
	}
	slices.Sort(rounds)
	return rounds
}
