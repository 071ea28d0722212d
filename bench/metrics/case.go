package metrics

import (
	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/robust"
)

// The groups of honest seats that the SAC paper distinguishes.
const (
	Strong = "strong"
	Weak   = "weak"
)

// SeatFacts has what the experimenter knows about a seat. The members do not know it.
type SeatFacts struct {
	Group     string // Strong, Weak or ""
	Adversary bool   // adversaries are in no group; their Group is ignored
	Unasked   bool   // the protocol never asks it for an answer of its own: it is in no rate over members
}

// GradedQuestion is one finished question with the grades of all answers in it.
type GradedQuestion struct {
	Question    string                        // its id: repeats of a question are not independent
	Asked       []bool                        // by seat: it was asked for an answer of its own; nil: all were
	Rounds      [][]synod.Answer              // the answer held after round t, by seat
	Confidences []*float64                    // confidence in [0,1] in the first answer, by seat; nil: none given
	Verdicts    map[synod.Answer]task.Verdict // of every answer in Rounds
	Replies     []task.Grade                  // of honest members' first replies as text, if they wrote any
	Agreed      bool                          // the council decided
	Decision    synod.Answer
	Withstands  *robust.Withstood // what the decision withstands; nil: that is not known
	Ungraded    bool              // the question has no key: no answer is right or wrong
	Ending      string            // how a run of a protocol with named endings ended; "" for other protocols
	Stop        int               // with Ending: the round after which it ended; 0: it was not ended
	Live        bool              // the run reached its end with enough live members
}

// AnswersByRound returns the answers held after every round, by round and seat. A
// member that noted nothing in a round still holds its previous answer; before its
// first note it holds synod.None. Notes of unknown seats and negative rounds are
// ignored.
func AnswersByRound(noted []journal.Noted, seats int) [][]synod.Answer {
	var rounds [][]synod.Answer
	for _, n := range noted {
		for len(rounds) <= n.Round {
			rounds = append(rounds, make([]synod.Answer, seats))
		}
	}
	notes := make([]map[int]synod.Answer, seats) // by seat and round
	for _, n := range noted {
		if n.Round < 0 || int(n.Node) < 0 || int(n.Node) >= seats {
			continue
		}
		if notes[n.Node] == nil {
			notes[n.Node] = map[int]synod.Answer{}
		}
		notes[n.Node][n.Round] = n.Answer
	}
	for seat := range seats {
		last := synod.None
		for t := range rounds {
			if a, ok := notes[seat][t]; ok {
				last = a
			}
			rounds[t][seat] = last
		}
	}
	return rounds
}

// FirstConfidences returns the confidences in [0,1] that members noted with their
// first answers, by seat, and nil for members that noted none.
func FirstConfidences(noted []journal.Noted, seats int) []*float64 {
	confidences := make([]*float64, seats)
	for _, n := range noted {
		if n.Round == 0 && int(n.Node) >= 0 && int(n.Node) < seats && n.Confidence != nil && *n.Confidence >= 0 &&
			*n.Confidence <= 1 {
			confidences[n.Node] = n.Confidence
		}
	}
	return confidences
}

// held returns the answers by round and seat: one round without answers if nothing was
// noted.
func (c *GradedQuestion) held(seats int) [][]synod.Answer {
	if len(c.Rounds) == 0 {
		return [][]synod.Answer{make([]synod.Answer, seats)}
	}
	return c.Rounds
}

// asks reports whether a seat was asked for an answer of its own. A seat that was not is in no rate over members: it is
// not wrong.
func (c *GradedQuestion) asks(seat int, s SeatFacts) bool {
	return !s.Unasked && (c.Asked == nil || seat < len(c.Asked) && c.Asked[seat])
}

// first returns the answers before the rounds.
func (c *GradedQuestion) first(seats int) []synod.Answer { return c.held(seats)[0] }

// last returns the answers after the last round.
func (c *GradedQuestion) last(seats int) []synod.Answer {
	rounds := c.held(seats)
	return rounds[len(rounds)-1]
}

// grade reports whether an answer is right, and whether that is known.
func (c *GradedQuestion) grade(a synod.Answer) (right, known bool) {
	if a == synod.None {
		return false, false
	}
	v := c.Verdicts[a]
	return v == task.Right, v == task.Right || v == task.Wrong
}

// Plurality returns the answer that more seats hold than any other. If two or more
// lead equally there is no winner, and tie is true. Absent answers do not vote.
func Plurality(answers []synod.Answer) (winner synod.Answer, tie bool) {
	votes, most := map[synod.Answer]int{}, 0
	for _, a := range answers {
		if a != synod.None {
			votes[a]++
			most = max(most, votes[a])
		}
	}
	for a, n := range votes { // the order does not matter: two leaders are a tie
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

// Decided reports whether the council decided and its decision is right. That is not known if the grader cannot read
// the decision, unless an adversary held it: a text of an adversary that is no answer is not right.
func (c *GradedQuestion) Decided(seats []SeatFacts) (right, known bool) {
	if !c.Agreed {
		return false, true
	}
	if right, known = c.grade(c.Decision); !known && !c.Ungraded && c.Decision != synod.None {
		known = c.heldByAdversary(seats)
	}
	return right, known
}

// Captured reports whether the decision is wrong and an adversary held it in some round, as Numbers.Capture counts
// it. It is not known without a key.
func (c *GradedQuestion) Captured(seats []SeatFacts) (captured, known bool) {
	right, known := c.Decided(seats)
	return known && c.Agreed && !right && c.heldByAdversary(seats), known
}

// heldByAdversary reports whether an adversary held the decision in some round.
func (c *GradedQuestion) heldByAdversary(seats []SeatFacts) bool {
	for _, answers := range c.Rounds {
		for i, a := range answers {
			if seats[i].Adversary && a == c.Decision {
				return true
			}
		}
	}
	return false
}

// FinalRight returns how many seats are right at the end, as FAA counts them, and how many are asked for an
// answer.
func (c *GradedQuestion) FinalRight(seats []SeatFacts) (right, asked int) {
	for i, a := range c.last(len(seats)) {
		if !c.asks(i, seats[i]) {
			continue
		}
		asked++
		ok, _ := c.grade(a)
		right += toInt(ok && !seats[i].Adversary) // an adversary is wrong, also with a right answer, as in SAC's tables
	}
	return right, asked
}

// Forecasts returns the confidences and grades of the first answers of the seats
// that include selects. Adversaries, absent answers and answers that cannot be
// graded are left out.
func (c *GradedQuestion) Forecasts(seats []SeatFacts, include func(seat int) bool) (all []Forecast) {
	for i, a := range c.first(len(seats)) {
		right, known := c.grade(a)
		if known && !seats[i].Adversary && c.asks(i, seats[i]) && include(i) && i < len(c.Confidences) {
			all = append(all, Forecast{c.Confidences[i], right})
		}
	}
	return all
}
