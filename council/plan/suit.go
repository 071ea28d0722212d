package plan

import (
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
