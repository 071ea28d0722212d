package metrics

import "synod.dev/synod"

// Tally adds up cases. Its size does not grow with them.
type Tally struct {
	seats           []Seat
	iaa, faa        count
	change          Pairs // of answers before and after
	ra, honest      count
	ties            Ties
	decision        count
	agreed, capture count
	live            count
	before, after   map[string]*count
	all             course
	groups          map[string]*course
	first           count // pluralities of first answers
	voters          *voters
	unscored        int
	ends            endings
	read            extraction
}

// course counts by round: what was held, and what was held at the end by cases
// that ended there.
type course struct{ at, ended []count }

func (c *course) add(round int, right, known, final bool) {
	for len(c.at) <= round {
		c.at, c.ended = append(c.at, count{}), append(c.ended, count{})
	}
	c.at[round].add(right, known)
	if final {
		c.ended[round].add(right, known)
	}
}

// rates by round; a case that ended earlier stays as it ended.
func (c *course) rates() []*Rate {
	var over count
	rates := make([]*Rate, len(c.at))
	for round, k := range c.at {
		k.right, k.n = k.right+over.right, k.n+over.n
		rates[round] = k.rate()
		over.right, over.n = over.right+c.ended[round].right, over.n+c.ended[round].n
	}
	return rates
}

// count is a rate in the making.
type count struct{ right, n int }

func (c *count) add(right, known bool) {
	if known {
		c.n++
		c.right += bit(right)
	}
}

func (c *count) rate() *Rate { return Wilson(c.right, c.n) }

// NewTally starts a tally of cases of one council.
func NewTally(seats []Seat) *Tally {
	t := &Tally{seats: seats, before: map[string]*count{}, after: map[string]*count{}, groups: map[string]*course{}, voters: newVoters(seats)}
	for _, group := range []string{Strong, Weak} {
		t.before[group], t.after[group], t.groups[group] = &count{}, &count{}, &course{}
	}
	return t
}

// Add counts a finished question.
func (t *Tally) Add(c Case) {
	t.ends.add(&c)
	t.agreed.add(c.Agreed, true)
	t.live.add(c.Live, true)
	if c.Ungraded {
		return
	}
	t.read.add(c.Replies)
	t.members(&c)
	t.voters.add(&c)
	t.ra.vote(&c, c.last(), &t.ties.RA)
	t.first.vote(&c, c.first(), &t.ties.First)
	var honest []synod.Answer
	adversaries := false
	for i, a := range c.last() {
		if !t.seats[i].Adversary {
			honest = append(honest, a)
		}
	}
	for _, s := range t.seats {
		adversaries = adversaries || s.Adversary
	}
	t.honest.vote(&c, honest, &t.ties.Honest)
	right, known := false, false
	if c.Agreed {
		right, known = c.right(c.Decision)
		t.decision.add(right, known)
	}
	t.capture.add(known && !right && t.pushed(&c), adversaries)
}

// Fail counts a question that was begun and could not be finished: it is no case,
// but it says something of liveness.
func (t *Tally) Fail() { t.live.add(false, true) }

// members counts what every seat held, round by round.
func (t *Tally) members(c *Case) {
	final := len(c.Rounds) - 1
	for round, held := range c.Rounds {
		for i, a := range held {
			right, known := c.score(t.seats[i], a)
			t.all.add(round, right, known, round == final)
			if g := t.groups[t.seats[i].Group]; g != nil && !t.seats[i].Adversary {
				g.add(round, right, known, round == final)
			}
		}
	}
	first, last := c.first(), c.last()
	for i := range first {
		s := t.seats[i]
		was, knownWas := c.score(s, first[i])
		is, knownIs := c.score(s, last[i])
		t.iaa.add(was, knownWas)
		t.faa.add(is, knownIs)
		if knownWas && knownIs {
			t.change.Add(was, is)
		}
		if !knownIs && !s.Mute {
			t.unscored++
		}
		if s.Adversary || t.before[s.Group] == nil {
			continue
		}
		t.before[s.Group].add(was, knownWas)
		t.after[s.Group].add(is, knownIs)
	}
}

// vote counts whether the plurality is right. A tie is not, and is counted apart
// too.
func (c *count) vote(of *Case, answers []synod.Answer, ties *int) {
	winner, tie := Plurality(answers)
	if tie {
		*ties++
		c.add(false, true)
		return
	}
	c.add(of.right(winner))
}

// pushed says that an adversary held, in some round, what was decided.
func (t *Tally) pushed(c *Case) bool {
	for _, held := range c.Rounds {
		for i, a := range held {
			if t.seats[i].Adversary && a == c.Decision {
				return true
			}
		}
	}
	return false
}
