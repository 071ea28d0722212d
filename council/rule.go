package council

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
)

// The names of rules.
const (
	Plurality     = "plurality"     // more seats than any other answer
	Majority      = "majority"      // more than half of all seats
	Supermajority = "supermajority" // at least two thirds of all seats
	ByProtocol    = "protocol"      // the protocol's own last step, where it has one (protocol.Concluding, protocol.Accepting)
)

var ruleNames = []string{Plurality, Majority, Supermajority, ByProtocol}

// Rule says when final answers are a decision. It counts every seat alike, unless
// the protocol decides, and needs no knowledge of who is honest.
type Rule struct {
	Name    string `yaml:"name" json:"name" jsonschema:"enum=plurality,enum=majority,enum=supermajority,enum=protocol"`
	Support int    `yaml:"support" json:"support" jsonschema:"minimum=0,description=An answer also needs this many members who gave it independently in round 0."`
}

// Statuses of a decision.
const (
	Agreed    = "agreed"
	Degraded  = "degraded"  // fewer live members than the rule can do with
	Undecided = "undecided" // enough members, but no answer passes the rule
)

// Vote is one answer with those who end on it.
type Vote struct {
	Answer      synod.Answer `json:"answer"`
	Seats       []string     `json:"seats"`
	Independent int          `json:"independent"` // members that gave it in round 0
}

// Ballot is what the rule counts: final answers, by seat, and first ones, of whomever.
type Ballot struct {
	Seats        []string
	First, Final []synod.Answer
	Concluded    Conclusion // only ByProtocol looks at it
}

// Validate reports a rule that does not exist or cannot be met.
func (r Rule) Validate(seats int) error {
	if !slices.Contains(ruleNames, r.Name) {
		return fmt.Errorf("no rule is called %q%s; there are: %s", r.Name, synod.Hint(r.Name, ruleNames), strings.Join(ruleNames, ", "))
	}
	if r.Support < 0 || r.Support > seats {
		return fmt.Errorf("rule: support is %d; it must be between 0 and the number of seats that answer independently, %d", r.Support, seats)
	}
	return nil
}

// need is how many votes decide, and how many live members it takes at least.
func (r Rule) need(seats int) (votes, live int) {
	half := seats/2 + 1
	switch r.Name {
	case Plurality, ByProtocol:
		return 1, half
	case Supermajority:
		return (2*seats + 2) / 3, (2*seats + 2) / 3
	default:
		return half, half
	}
}

// Verdict is what the rule makes of a ballot.
type Verdict struct {
	Status string
	Answer synod.Answer // None unless agreed
	Reason string
	Votes  []Vote // most seats first, then more independent, then by answer
}

// Decide counts.
func (r Rule) Decide(b Ballot) Verdict {
	v := Verdict{Votes: count(b)}
	live := 0
	for _, vote := range v.Votes {
		live += len(vote.Seats)
	}
	n := len(b.Seats)
	votes, quorum := r.need(n)
	switch {
	case r.Name == ByProtocol && b.Concluded.Lacking:
		v.Status, v.Reason = Degraded, b.Concluded.Why
	case r.Name == ByProtocol && b.Concluded.Signed:
		r.concluded(&v, b)
	case live < quorum:
		v.Status = Degraded
		v.Reason = fmt.Sprintf("only %d of %d seats have an answer; %s takes %d", live, n, r.Name, quorum)
	case r.Name == ByProtocol:
		r.concluded(&v, b)
	case len(v.Votes[0].Seats) < votes:
		v.Status = Undecided
		v.Reason = fmt.Sprintf("no answer has %d of %d seats, which %s takes; the leading one has %d", votes, n, r.Name, len(v.Votes[0].Seats))
	case r.Name == Plurality && len(v.Votes) > 1 && len(v.Votes[1].Seats) == len(v.Votes[0].Seats):
		v.Status = Undecided
		v.Reason = fmt.Sprintf("a tie: the leading answers have %d seats each", len(v.Votes[0].Seats))
	case v.Votes[0].Independent < r.Support:
		v.Status = Undecided
		v.Reason = fmt.Sprintf("the leading answer was given independently by %d, and support takes %d", v.Votes[0].Independent, r.Support)
	default:
		v.Status = Agreed
		v.Answer = v.Votes[0].Answer
		v.Reason = fmt.Sprintf("%d of %d seats end on it; %s takes %d", len(v.Votes[0].Seats), n, r.Name, votes)
	}
	return v
}

func count(b Ballot) []Vote {
	at := map[synod.Answer]int{}
	var votes []Vote
	for i, a := range b.Final {
		if a == synod.None {
			continue
		}
		k, known := at[a]
		if !known {
			k = len(votes)
			at[a] = k
			votes = append(votes, Vote{Answer: a})
		}
		votes[k].Seats = append(votes[k].Seats, b.Seats[i])
	}
	for _, a := range b.First {
		if k, ok := at[a]; ok {
			votes[k].Independent++
		}
	}
	slices.SortFunc(votes, func(a, b Vote) int {
		return cmp.Or(cmp.Compare(len(b.Seats), len(a.Seats)), cmp.Compare(b.Independent, a.Independent), cmp.Compare(a.Answer, b.Answer))
	})
	return votes
}

// concluded is the verdict where the protocol's own last step decides.
func (r Rule) concluded(v *Verdict, b Ballot) {
	why := b.Concluded.Why
	i := slices.IndexFunc(v.Votes, func(vote Vote) bool { return vote.Answer == b.Concluded.Answer })
	switch {
	case i < 0:
		v.Status, v.Reason = Undecided, cmp.Or(why, "the protocol's own last step comes to no answer")
	case v.Votes[i].Independent < r.Support:
		v.Status = Undecided
		v.Reason = fmt.Sprintf("the protocol's answer was given independently by %d, and support takes %d", v.Votes[i].Independent, r.Support)
	default:
		v.Status, v.Answer = Agreed, b.Concluded.Answer
		v.Reason = cmp.Or(why, fmt.Sprintf("the protocol's own last step comes to it; %d of %d seats end on it", len(v.Votes[i].Seats), len(b.Seats)))
	}
}
