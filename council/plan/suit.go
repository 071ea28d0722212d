package plan

import (
	"errors"
	"fmt"
	"maps"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// Chosen says what the user of a council has chosen, and must stay.
type Chosen struct{ Protocol, F bool }

// Suit chooses the protocol for a form of question where the user has chosen none: spec.Protocol is then that of the
// form, if a protocol is the default for it. Where F is not chosen either, it is lowered to what
// the protocol tolerates with so many seats. Suit reports whether the council decides the form with its seats, graph
// and F.
func (s *Spec) Suit(form synod.Form, chosen Chosen) bool {
	for _, e := range catalog.Protocols.All() {
		if !chosen.Protocol && form == e.Default && form != "" {
			s.Protocol = Params{"name": e.Name}
			maps.Copy(s.Protocol, e.Settings)
		}
	}
	e, settings, err := s.protocol()
	if err != nil || form == synod.Prose && !decidesProse(e.New()) {
		return false
	}
	p := e.New()
	if param.Decode(settings, p) != nil { // making a plan says why
		return false
	}
	if a, ok := p.(protocol.AllToAll); ok && a.AllToAll() && s.Graph["family"] != "complete" {
		return false
	}
	c, ok := p.(protocol.CastChecker)
	if !ok {
		return true
	}
	cast := make([]synod.Role, s.seats())
	for f := s.F; f >= 0; f-- {
		if c.CheckCast(cast, f) == nil {
			if s.F = f; s.Patience.spare() > f {
				s.Patience.Spare = &f
			}
			return true
		}
		if chosen.F {
			return false
		}
	}
	return false
}

// seats is the number of seats.
func (s *Spec) seats() (n int) {
	for _, x := range s.Seats {
		n += max(x.Count, 1)
	}
	return n
}

// ForProse returns the council that decides a question that was guessed to want prose, and whether there is one. It has
// the default protocol of prose, whatever protocol the council names for answers that can be counted; its claim is
// about the F of that protocol. A protocol that the council names stays if it decides prose in one round, and if the
// default cannot play on the graph.
func (s *Spec) ForProse(named bool) (Spec, bool) {
	kept := *s
	keeps := kept.Suit(synod.Prose, Chosen{Protocol: true, F: true}) && kept.opens()
	if keeps && (s.Exact != "" || named && kept.oneRound()) || s.Exact != "" { // a paper's protocol is not replaced
		return kept, keeps
	}
	other := *s
	other.Same, other.Rule = "", Rule{}
	if other.Suit(synod.Prose, Chosen{}) && other.opens() {
		return other, true
	}
	return kept, keeps
}

// oneRound reports whether members exchange no more than once.
func (s *Spec) oneRound() bool {
	p, err := New(*s)
	return err == nil && p.protocol.MaxRounds() <= 1
}

// opens reports whether a plan can be made.
func (s *Spec) opens() bool {
	_, err := New(*s)
	return err == nil
}

// AtLeast returns the least probability that an answer needs to be a decision; 0: none is asked for.
func (s Spec) AtLeast() float64 {
	if n, whole := wholeNumber(s.Protocol["at_least"]); whole {
		return float64(n)
	}
	p, _ := s.Protocol["at_least"].(float64)
	return p
}

// WithAtLeast returns the council in which an answer that is right with a probability below p is no decision. A council
// file that wants more stays as it is. It fails if the council does not know how likely its answers are right.
func (s Spec) WithAtLeast(p float64) (Spec, error) {
	if !(p > 0 && p <= 1) {
		return s, fmt.Errorf("at_least is %v; it must be above 0 and at most 1 (example: 0.9)", p)
	}
	if s.Runner.Capabilities().Owned || s.Protocol["tiers"] == nil {
		return s, errors.New("at_least needs a probability, and this council states none: it has no tiers " +
			"(synod calibrate --write FILE makes a council with tiers)")
	}
	own := s.AtLeast()
	s.Protocol = maps.Clone(s.Protocol)
	s.Protocol["at_least"] = max(p, own)
	made, err := New(s)
	if err == nil && made.spec.Protocol["odds"] == nil {
		err = fmt.Errorf("at_least needs a probability, and there is none without labels: at least %d graded "+
			"questions that all members answered (synod calibrate --learn)", LeastLabels)
	}
	return s, err
}
