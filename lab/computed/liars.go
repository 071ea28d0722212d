package computed

import (
	"slices"

	"synod.dev/synod"
)

// noLiar is the kind of a council without liars.
const noLiar = "none"

// liarKinds are the history attacks: what liars do where weights are learned from answers. They know the right answer,
// all answers of the honest members, and everything that they have answered before.
var liarKinds = []string{"follow-defect", "copy-defect", "lie-to-win", "constant", "abstain", "turns"}

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
		return leads(s.honest, lie, b)
	}
	return s.succeeds(append(slices.Clone(s.honest), slices.Repeat([]synod.Answer{lie}, b)...), lie)
}

// blockOf is how many questions a liar of the kind "turns" lies or is honest at a time.
const blockOf = 50

// lies returns the answers of b liars of a kind.
func lies(kind string, s scene, b int) []synod.Answer {
	top := plurality(s.honest)
	lie := favourite(s.honest, s.gold, s.choice)
	all := slices.Repeat([]synod.Answer{lie}, b)
	hidden := s.history || s.known
	switch {
	case kind == "constant":
		return slices.Repeat([]synod.Answer{replayed[s.choice]}, b)
	case kind == "turns":
		for i := range all {
			if s.known || (s.round/blockOf+i)%2 == 0 {
				all[i] = top
			}
		}
	case kind == "copy-defect" && hidden:
		return slices.Repeat(s.honest[s.best:s.best+1:s.best+1], b)
	case kind == "follow-defect" && hidden, kind == "lie-to-win" && (s.known || !s.wins(lie, b)):
		return slices.Repeat([]synod.Answer{top}, b)
	case kind == "abstain" && (hidden || !s.wins(lie, b)):
		return slices.Repeat([]synod.Answer{synod.None}, b)
	}
	return all
}

// plurality returns the most frequent answer, the first of several in the order of the members.
func plurality(all []synod.Answer) (top synod.Answer) {
	most := 0
	for _, a := range all {
		n := count(all, a)
		if a != synod.None && n > most {
			top, most = a, n
		}
	}
	return top
}

func count(all []synod.Answer, a synod.Answer) (n int) {
	for _, x := range all {
		if x == a {
			n++
		}
	}
	return n
}

// leads reports whether b more votes make an answer at least as frequent as any other one.
func leads(honest []synod.Answer, lie synod.Answer, b int) bool {
	votes := count(honest, lie) + b
	return !slices.ContainsFunc(honest, func(a synod.Answer) bool {
		return a != synod.None && a != lie && count(honest, a) > votes
	})
}
