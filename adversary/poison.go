package adversary

import (
	"slices"

	"synod.dev/synod"
)

// Poison is how members use weights that are learned from answers: what they answer while weights are learned, and what
// once they have them. The adversaries of these names play it in a council, and the experiment trust-attacks on
// recorded votes, where liars know more.
type Poison string

// The ways to poison a history.
const (
	FollowDefect Poison = "follow-defect" // follows the plurality while weights are learned, and lies then
	CopyDefect   Poison = "copy-defect"   // copies the best member while weights are learned, and lies then
	LieToWin     Poison = "lie-to-win"    // lies where the lie becomes the decision, and follows the plurality else
	Constant     Poison = "constant"      // gives one answer to every question
	Abstain      Poison = "abstain"       // answers only where its lie becomes the decision
	Turns        Poison = "turns"         // lies in every other block of questions; two of them lie alternately
)

// Deed is what a poisoner answers to a question.
type Deed int

// The deeds.
const (
	Lies    Deed = iota // the wrong answer on which all of them agree
	Follows             // the plurality of the others
	Copies              // the answer of the best of the others
	Repeats             // the answer that it always gives
	Abstains
)

// Moment is what a poisoner knows when it answers.
type Moment struct {
	Learning bool // weights are learned from this question, and nothing is decided that matters to it
	Known    bool // its answer cannot change the decision, and it knows that: an audit after the decision
	Block    int  // how many blocks of questions came before
	Member   int  // which of the poisoners it is, from 0
	// Wins reports whether the lie of all of them becomes the decision.
	Wins func() bool
}

// Deed returns what a poisoner does.
func (p Poison) Deed(m Moment) Deed {
	hides := m.Learning || m.Known
	switch {
	case p == Constant:
		return Repeats
	case p == Turns && (m.Known || (m.Block+m.Member)%2 == 0), p == FollowDefect && hides,
		p == LieToWin && (m.Known || !m.Wins()):
		return Follows
	case p == CopyDefect && hides:
		return Copies
	case p == Abstain && (hides || !m.Wins()):
		return Abstains
	}
	return Lies
}

// Plurality returns the most frequent answer, the first of several; None: there is no answer.
func Plurality(all []synod.Answer) (top synod.Answer) {
	most := 0
	for _, a := range all {
		if n := votes(all, a); a != synod.None && n > most {
			top, most = a, n
		}
	}
	return top
}

// Favourite returns the most frequent answer that is not the right one, the first by its bytes of several; None: there
// is no such answer.
func Favourite(all []synod.Answer, right synod.Answer) synod.Answer {
	wrong := slices.DeleteFunc(slices.Sorted(slices.Values(all)), func(a synod.Answer) bool { return a == right })
	return Plurality(wrong)
}

// Leads reports whether b more votes make an answer at least as frequent as any other one.
func Leads(all []synod.Answer, a synod.Answer, b int) bool {
	own := votes(all, a) + b
	return !slices.ContainsFunc(all, func(x synod.Answer) bool {
		return x != synod.None && x != a && votes(all, x) > own
	})
}

func votes(all []synod.Answer, a synod.Answer) (n int) {
	for _, x := range all {
		if x == a {
			n++
		}
	}
	return n
}
