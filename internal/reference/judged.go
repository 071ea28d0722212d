package reference

import (
	"cmp"
	"slices"

	"synod.dev/synod"
)

// Poll is what the seats of a council gave, all of which vote.
type Poll struct {
	First []synod.Answer // by seat: before it heard others
	Last  []synod.Answer // by seat; None where the answer does not count
	// Failed says by seat that its last answer does not count because a check refused it.
	Failed []bool
	Voice  []int               // by seat: seats with one number are one voice
	Same   [][][2]synod.Answer // by seat: the pairs of answers that it calls the same; nil: members compare nothing
	F      int
	Sure   []float64 // by seat: the weight of its first answer; nil: none is weighed
	Fixed  bool      // a seat that says something else keeps its weight; else it may claim 1
	Step   *Step     // what the protocol itself says; nil: the rule counts all seats
}

// Counted is an answer with the seats that end on it, and the voices that gave it before they heard others.
type Counted struct {
	Answer      synod.Answer
	Seats       []synod.NodeID
	Independent int
}

// Judged is what a council makes of ballots.
type Judged struct {
	Verdict
	Votes  []Counted // most seats first, then most voices, then by the bytes of the answer
	Voices int       // that gave the decision before they heard others
}

// Judge counts ballots by a rule, as docs/use/council-file.md says: answers that members call the same count as one;
// of the seats with one voice one counts as support; an answer that a check refused is not silence.
func Judge(r Rule, b *Poll) (v Judged) {
	heads := b.heads()
	last, first := inPlace(b.Last, heads), inPlace(b.First, heads)
	for _, a := range distinct(last) {
		v.Votes = append(v.Votes, Counted{a, holders(last, a), b.voices(first, a)})
	}
	slices.SortFunc(v.Votes, func(x, y Counted) int {
		return cmp.Or(cmp.Compare(len(y.Seats), len(x.Seats)), cmp.Compare(y.Independent, x.Independent),
			cmp.Compare(x.Answer, y.Answer))
	})
	refused := b.refused()
	v.Verdict = r.verdict(v.Votes, given(last)+refused, len(last))
	if b.Step != nil {
		v.Verdict = b.Step.stepped(v.Votes, refused, given(last), len(last))
	}
	if v.Status == Agreed {
		if v.Voices = b.voices(first, v.Answer); v.Voices < r.Support {
			v.Verdict, v.Voices = Verdict{Status: Undecided}, 0
		}
	}
	return v
}

// refused is how many last answers checks refused.
func (b *Poll) refused() (n int) {
	for _, failed := range b.Failed {
		if failed {
			n++
		}
	}
	return n
}

// stepped is the verdict on what the protocol's own step chose. Who gave an answer that was refused has taken part.
func (s *Step) stepped(votes []Counted, refused, given, n int) Verdict {
	i := slices.IndexFunc(votes, func(c Counted) bool { return c.Answer == s.Answer })
	switch {
	case s.Lacking && refused == 0, !s.Lacking && !s.Alone && 2*(given+refused) <= n:
		return Verdict{Status: Degraded}
	case s.Lacking, i < 0:
		return Verdict{Status: Undecided}
	}
	return Verdict{Status: Agreed, Answer: s.Answer, Supporters: votes[i].Seats}
}

// verdict decides on counted answers. present is how many of n seats gave an answer, refused ones among them.
func (r Rule) verdict(votes []Counted, present, n int) Verdict {
	switch {
	case !r.reached(present, n):
		return Verdict{Status: Degraded}
	case len(votes) == 0, r.Name != "plurality" && !r.reached(len(votes[0].Seats), n),
		len(votes) > 1 && len(votes[1].Seats) == len(votes[0].Seats):
		return Verdict{Status: Undecided}
	}
	return Verdict{Status: Agreed, Answer: votes[0].Answer, Supporters: votes[0].Seats}
}

// reached reports whether so many of n seats are enough.
func (r Rule) reached(seats, n int) bool {
	if r.Name == "supermajority" {
		return 3*seats >= 2*n
	}
	return 2*seats > n
}

// voices counts the voices that gave an answer.
func (b *Poll) voices(first []synod.Answer, a synod.Answer) int {
	heard := map[int]bool{}
	for _, seat := range holders(first, a) {
		heard[b.Voice[seat]] = true
	}
	return len(heard)
}

// inPlace returns answers with the one that each stands for.
func inPlace(answers []synod.Answer, heads map[synod.Answer]synod.Answer) []synod.Answer {
	all := slices.Clone(answers)
	for i, a := range all {
		if head, joined := heads[a]; joined {
			all[i] = head
		}
	}
	return all
}

// heads returns which answer counts for each one that is joined with others: the one with the most last answers, of
// equal ones the first in bytes. Two answers are linked if more than F seats call them the same that gave neither.
// Answers are joined if each two of those that links connect are linked.
func (b *Poll) heads() map[synod.Answer]synod.Answer {
	all := distinct(slices.Concat(b.First, b.Last))
	heads := map[synod.Answer]synod.Answer{}
	for _, a := range all {
		group := []synod.Answer{a}
		for k := 0; k < len(group); k++ {
			for _, other := range all {
				if !slices.Contains(group, other) && b.linked(group[k], other) {
					group = append(group, other)
				}
			}
		}
		if len(group) > 1 && b.clique(group) {
			heads[a] = slices.MaxFunc(group, func(x, y synod.Answer) int {
				return cmp.Or(cmp.Compare(len(holders(b.Last, x)), len(holders(b.Last, y))), cmp.Compare(y, x))
			})
		}
	}
	return heads
}

// clique reports whether each two of a group are linked.
func (b *Poll) clique(group []synod.Answer) bool {
	for i, x := range group {
		for _, y := range group[:i] {
			if !b.linked(x, y) {
				return false
			}
		}
	}
	return true
}

// linked reports whether more than F seats call two answers the same that gave neither of them.
func (b *Poll) linked(x, y synod.Answer) bool {
	says := 0
	for seat, pairs := range b.Same {
		own := []synod.Answer{b.First[seat], b.Last[seat]}
		if slices.Contains(own, x) || slices.Contains(own, y) {
			continue
		}
		if slices.Contains(pairs, [2]synod.Answer{x, y}) || slices.Contains(pairs, [2]synod.Answer{y, x}) {
			says++
		}
	}
	return says > b.F
}

// Spelling returns how a decision is printed: the spelling that most of the seats that end on it wrote last, if more
// than F did; of equal ones the one of the first seat. written has by seat how it spelled the decision; "": it did not.
// plain is the canonical spelling, and reads tells whether a text is read as the decision.
func Spelling(plain string, written []string, f int, reads func(text string) bool) string {
	best, most := plain, f
	for _, text := range written {
		n := 0
		for _, other := range written {
			if text != "" && other == text {
				n++
			}
		}
		if n > most {
			best, most = text, n
		}
	}
	if !reads(best) {
		return plain
	}
	return best
}
