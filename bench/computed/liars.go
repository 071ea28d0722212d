package computed

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/adversary"
)

// noLiar is the kind of a council without liars.
const noLiar = "none"

// liarKinds are the history attacks: what liars do where weights are learned from answers. They know the right answer,
// all answers of the honest members, and everything that they have answered before.
var liarKinds = []adversary.Poison{adversary.FollowDefect, adversary.CopyDefect, adversary.LieToWin, adversary.Constant,
	adversary.Abstain, adversary.Turns}

// scene is what liars see when they answer.
type scene struct {
	honest  []synod.Answer // of the members of the council that do not lie
	gold    synod.Answer
	best    int  // the honest member that is most often right
	history bool // weights are learned from this question, and nothing is decided that matters to the liars
	known   bool // they are asked where a decision stands already: an audit of which they know
	round   int  // of the question, from 0
	choice  bool
	// succeeds says whether the answers by seat, in which liars give a lie, make it the decision; nil: they count
	// votes.
	succeeds func(first []synod.Answer, lie synod.Answer) bool
}

// wins reports whether a lie of b liars becomes the decision.
func (s *scene) wins(lie synod.Answer, b int) bool {
	if s.succeeds == nil {
		return adversary.Leads(s.honest, lie, b)
	}
	return s.succeeds(append(slices.Clone(s.honest), slices.Repeat([]synod.Answer{lie}, b)...), lie)
}

// blockOf is how many questions a liar of the kind "turns" lies or is honest at a time.
const blockOf = 50

// lies returns the answers of b liars of a kind.
func lies(kind adversary.Poison, s scene, b int) []synod.Answer {
	lie := favourite(s.honest, s.gold, s.choice)
	all := make([]synod.Answer, b)
	for i := range all {
		switch kind.Deed(adversary.Moment{Learning: s.history, Known: s.known, Block: s.round / blockOf, Member: i,
			Wins: func() bool { return s.wins(lie, b) }}) {
		case adversary.Lies:
			all[i] = lie
		case adversary.Follows:
			all[i] = adversary.Plurality(s.honest)
		case adversary.Copies:
			all[i] = s.honest[s.best]
		case adversary.Repeats:
			all[i] = replayed[s.choice]
		}
	}
	return all
}
