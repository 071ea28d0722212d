// Package reference computes once more, slowly, what a council decides. Each function is a twin of a decision: it is
// written from the text of a paper or from our documents, not from the code of the protocol, and takes the direct way
// where the protocol takes a fast one. Campaigns compare the two in every execution (bench/campaign), so a mistake must
// be made twice, in two ways, to stay unseen.
//
//	v := reference.Council(reference.Rule{Name: "majority"}, reference.Step{}, last, first)
//	fmt.Println(v.Status, v.Answer, v.Supporters)
//
// The functions are pure, and know no type of a protocol: those who check an execution translate its records. Where a
// result hangs on the last bits of a floating-point number, they say so (Near), and nothing is compared.
//
// The rank is 1: the folders of protocols import it, and it imports only the vocabulary of the root package.
package reference

import (
	"slices"

	"synod.dev/synod"
)

// The statuses of a verdict.
const (
	Agreed    = "agreed"
	Degraded  = "degraded"  // fewer members than the rule needs have an answer
	Undecided = "undecided" // enough have one, and no answer meets the rule
)

// Verdict is what a council decides.
type Verdict struct {
	Status     string
	Answer     synod.Answer   // None unless agreed
	Supporters []synod.NodeID // whose last answer it is, ascending, of those that vote
}

// Same reports whether two verdicts are equal.
func (v Verdict) Same(o Verdict) bool {
	return v.Status == o.Status && v.Answer == o.Answer && slices.Equal(v.Supporters, o.Supporters)
}

// holders returns the seats with an answer, ascending.
func holders(answers []synod.Answer, a synod.Answer) (ids []synod.NodeID) {
	for i, other := range answers {
		if other == a && a != synod.None {
			ids = append(ids, synod.NodeID(i))
		}
	}
	return ids
}

// distinct returns the answers that somebody gave, in the order of their bytes.
func distinct(answers []synod.Answer) []synod.Answer {
	all := slices.Clone(answers)
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(a synod.Answer) bool { return a == synod.None })
}
