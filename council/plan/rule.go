package plan

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
)

// The names of rules.
const (
	Plurality     = robust.Plurality     // more seats than any other answer
	Majority      = robust.Majority      // more than half of all seats
	Supermajority = robust.Supermajority // at least two thirds of all seats
	ByProtocol    = "protocol"           // the protocol's own decision step (protocol.Concluding, protocol.Accepting)
)

var ruleNames = []string{Plurality, Majority, Supermajority, ByProtocol}

// Rule determines when final answers are a decision. It counts every voting seat alike,
// unless the protocol decides, and does not know who is honest.
type Rule struct {
	Name    string `yaml:"name" json:"name" example:"majority" doc:"how many of the last answers must agree; default: majority, or protocol where members reply to a user" enum:"plurality|majority|supermajority|protocol"`
	Support int    `yaml:"support" json:"support" doc:"members that must have given the answer before they heard others; 0: not asked for" range:"0:" unit:"members" example:"4"`
}

// Validate returns an error for a rule that does not exist, or that cannot be met by this number of
// seats that answer independently.
func (r Rule) Validate(seats int) error {
	if !slices.Contains(ruleNames, r.Name) {
		return fmt.Errorf("no rule is called %q%s; there are: %s", r.Name, synod.Hint(r.Name, ruleNames),
			strings.Join(ruleNames, ", "))
	}
	if r.Support < 0 || r.Support > seats {
		return fmt.Errorf("rule: support is %d; it must be between 0 and the number of seats that answer "+
			"independently, %d", r.Support, seats)
	}
	return nil
}

// Decider names in a sentence what counts the answers.
func (r Rule) Decider() string {
	if r.Name == ByProtocol {
		return "the protocol"
	}
	return r.Name
}

// Need returns how many votes of the given number of seats decide, and how many live members the
// rule needs at least.
func (r Rule) Need(seats int) (votes, live int) {
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
