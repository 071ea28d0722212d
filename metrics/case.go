package metrics

import (
	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/task"
)

// The groups of honest seats that the SAC paper tells apart.
const (
	Strong = "strong"
	Weak   = "weak"
)

// Seat is what the experimenter knows of a seat, and no member does.
type Seat struct {
	Group     string // Strong, Weak or ""
	Adversary bool   // its own group, whatever Group says
	Mute      bool   // it has no vote: an answer that it does not give is not missed
}

// Case is one finished question.
type Case struct {
	Question string                        // its id: the repeats of a question are not independent
	Rounds   [][]synod.Answer              // what was held after round t, by seat
	Sure     []*float64                    // of the first answer, by seat: the confidence in [0,1]; nil: none came
	Verdicts map[synod.Answer]task.Verdict // of every answer in Rounds
	Replies  []task.Grade                  // of honest members' first answers in their own words, where they wrote any
	Agreed   bool                          // there was a decision
	Decision synod.Answer
	Ungraded bool   // there is no right answer, so nobody was right or wrong
	Ending   string // the named way in which it ended; "" in most protocols
	Stop     int    // with Ending: after which round; 0: after none
	Live     bool   // the run came to its end with enough live members
}

// Held lists by round and seat what was held. A member that noted nothing in a
// round holds what it held before; before its first note it holds None.
func Held(noted []journal.Noted, seats int) [][]synod.Answer {
	var rounds [][]synod.Answer
	for _, n := range noted {
		for len(rounds) <= n.Round {
			rounds = append(rounds, make([]synod.Answer, seats))
		}
	}
	said := make([]map[int]synod.Answer, seats)
	for _, n := range noted {
		if n.Round < 0 || int(n.Node) < 0 || int(n.Node) >= seats {
			continue
		}
		if said[n.Node] == nil {
			said[n.Node] = map[int]synod.Answer{}
		}
		said[n.Node][n.Round] = n.Answer
	}
	for seat := range seats {
		last := synod.None
		for t := range rounds {
			if a, ok := said[seat][t]; ok {
				last = a
			}
			rounds[t][seat] = last
		}
	}
	return rounds
}

// first and last are the answers before and after the rounds; nil: nobody noted
// anything.
func (c *Case) first() []synod.Answer {
	if len(c.Rounds) == 0 {
		return nil
	}
	return c.Rounds[0]
}

func (c *Case) last() []synod.Answer {
	if len(c.Rounds) == 0 {
		return nil
	}
	return c.Rounds[len(c.Rounds)-1]
}

// score says whether a seat's answer is right, and whether that is known. An
// adversary is wrong always, whatever it holds: SAC's tables count it so, and
// what a liar believes helps nobody. One that its protocol gives neither answer nor
// vote is in no figure.
func (c *Case) score(s Seat, a synod.Answer) (right, known bool) {
	if s.Mute && a == synod.None {
		return false, false
	}
	if s.Adversary {
		return false, true
	}
	return c.right(a)
}

func (c *Case) right(a synod.Answer) (right, known bool) {
	if a == synod.None {
		return false, false
	}
	v := c.Verdicts[a]
	return v == task.Right, v == task.Right || v == task.Wrong
}

// Plurality is the answer that more seats hold than any other. Where two or more
// lead alike there is none, and tie is true. Seats without an answer do not vote.
func Plurality(answers []synod.Answer) (winner synod.Answer, tie bool) {
	votes, most := map[synod.Answer]int{}, 0
	for _, a := range answers {
		if a != synod.None {
			votes[a]++
			most = max(most, votes[a])
		}
	}
	for a, n := range votes { // order cannot show: two leaders are a tie
		if n < most {
			continue
		}
		if winner != synod.None {
			return synod.None, true
		}
		winner = a
	}
	return winner, false
}

// Decided says whether the council decided rightly; no decision is none. It is
// not known where the grader cannot read the decision.
func (c *Case) Decided() (right, known bool) {
	if !c.Agreed {
		return false, true
	}
	return c.right(c.Decision)
}

// Score is the share of seats that are right at the end, of those scored; not
// known where none is.
func (c *Case) Score(seats []Seat) (share float64, known bool) {
	var n count
	for i, a := range c.last() {
		n.add(c.score(seats[i], a))
	}
	if n.n == 0 {
		return 0, false
	}
	return float64(n.right) / float64(n.n), true
}
