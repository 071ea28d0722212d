package plan

import (
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
)

// Merging reports whether the decision on a question is made field by field: the answer is a JSON value, and
// the protocol does not choose one member's answer by itself.
func Merging(p *Plan, q *synod.Question) bool {
	return q.Form == synod.JSON && (p.spec.Rule.Name != ByProtocol || mergesOwn(p))
}

// mergesOwn reports whether the protocol's own answers are merged field by field under rule: protocol.
func mergesOwn(p *Plan) bool {
	_, staged := p.protocol.(protocol.Staged)
	return staged || Weighting(p) != nil || Grading(p) != nil
}

// Grading returns the protocol if its members grade one another's first answers; nil for others.
func Grading(p *Plan) protocol.Grading {
	g, _ := p.protocol.(protocol.Grading)
	return g
}

// Weighting returns how the protocol weighs first answers; nil if it does not.
func Weighting(p *Plan) func(first *synod.Opinion) float64 {
	if w, ok := p.protocol.(protocol.Weighting); ok {
		return w.Weight
	}
	return nil
}

// FirstHand reports whether a merge takes the answers that members gave before they heard others.
func FirstHand(p *Plan) bool {
	return mergesOwn(p) || p.protocol.MaxRounds() == 0
}

// MergeNote says what is guaranteed of a JSON answer of this council, in a sentence.
func MergeNote(p *Plan) string {
	switch {
	case Grading(p) != nil:
		return fmt.Sprintf("each field is merged from independent answers, and texts with x-merge: prose are those of "+
			"one member, chosen by grades: if at most F=%d of all seats are Byzantine, an honest member gave every "+
			"other decided value, and every number lies between two honest ones", p.spec.F)
	case p.spec.Rule.Name == ByProtocol && !mergesOwn(p):
		return "the protocol's own step chooses one member's whole value; fields are not merged"
	case FirstHand(p):
		return fmt.Sprintf("each field is merged from independent answers: if at most F=%d of all seats are "+
			"Byzantine, an honest member gave every decided value, and every number lies between two honest ones",
			p.spec.F)
	}
	return fmt.Sprintf("each field is merged from the last answers, which members gave after they had heard others: "+
		"if at most F=%d of all seats are Byzantine, an honest member ended on every decided value, and every "+
		"number lies between two that honest members ended on", p.spec.F)
}

// acceptsJSON reports why the council cannot decide on a JSON value; nil if it can.
func acceptsJSON(p *Plan, q *synod.Question) error {
	s, err := read.Schema(q)
	if err != nil {
		return err
	}
	switch f := p.spec.F; {
	case s.Prose() != "" && Grading(p) == nil:
		return fmt.Errorf("the schema has x-merge: prose at %s, for which members grade one another's answers: use "+
			"protocol: {name: panel}, or leave x-merge out there, which decides by vote", s.Prose())
	case s.Prose() == "" && Grading(p) != nil:
		return fmt.Errorf("protocol %s grades answers, and the schema has no string with x-merge: prose: use "+
			"protocol: {name: majority}, which merges without grades", p.entry.Name)
	case Grading(p) != nil && p.spec.Claims:
		return errors.New("claims are judged of prose only: remove claims, or use form: prose")
	case p.spec.Exact != "":
		return fmt.Errorf("exact is %s, which reads answers as the papers do; none of them has JSON. Remove exact",
			p.spec.Exact)
	case p.spec.Rule.Name == ByProtocol && !mergesOwn(p):
		return nil
	case p.voters <= 2*f:
		return fmt.Errorf("f is %d, and %d seats vote: to merge fields with f: %d needs at least %d. Add seats, or "+
			"set f: %d", f, p.voters, f, 2*f+1, (p.voters-1)/2)
	case p.spec.Rule.Support > 0 && !FirstHand(p):
		return errors.New("rule.support counts first answers, and fields are merged from the last ones: remove " +
			"support, or use a protocol without rounds, such as majority")
	}
	return nil
}
