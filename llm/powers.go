package llm

import (
	"context"
	"errors"

	"synod.dev/synod"
)

// ConfidenceModel is a Model that may be able to return a confidence read from its
// hidden states with an answer (CP-2).
type ConfidenceModel interface{ GivesHiddenConfidence() bool }

// SchemaRefuser is a Model that may know that its server takes no schema.
type SchemaRefuser interface{ RefusesSchema() bool }

// RefusesSchema asks the wrapped model.
func (l layered) RefusesSchema() bool {
	r, ok := l.Model.(SchemaRefuser)
	return ok && r.RefusesSchema()
}

// Instant is a model in this process that replies at once and sends nothing. Complete copies
// a request and a reply in every layer, which takes longer than such a model needs to reply.
type Instant interface {
	// Reply sets the reply to a request, as Complete does without a budget. It does not
	// keep the request.
	Reply(r *Request, reply *synod.Reply) error
}

// Weigher is a Model that may be able to give the log-likelihood of a given
// text, and so answer prompts whose purpose is Weighing (SAC-12).
type Weigher interface{ CanWeigh() bool }

// LikelihoodGiver is a Model that may be able to return, with an answer, the probability that it gave to it.
type LikelihoodGiver interface{ GivesLikelihood() bool }

// GivesLikelihood asks the wrapped model.
func (l layered) GivesLikelihood() bool {
	g, ok := l.Model.(LikelihoodGiver)
	return ok && g.GivesLikelihood()
}

// Adapter is a Model that reports which settings it left out because the server
// refuses them, one phrase each.
type Adapter interface{ Adapted() []string }

// layered is embedded by every layer. It forwards Info and the optional
// interfaces of the wrapped model, so that no layer hides them.
type layered struct{ Model }

// Close closes the wrapped model.
func (l layered) Close() error {
	if c, ok := l.Model.(Closer); ok {
		return c.Close()
	}
	return nil
}

// CanWeigh asks the wrapped model.
func (l layered) CanWeigh() bool {
	w, ok := l.Model.(Weigher)
	return ok && w.CanWeigh()
}

// GivesHiddenConfidence asks the wrapped model.
func (l layered) GivesHiddenConfidence() bool {
	c, ok := l.Model.(ConfidenceModel)
	return ok && c.GivesHiddenConfidence()
}

// Replies asks the wrapped model.
func (l layered) Replies(purpose synod.Purpose) bool { return Replies(l.Model, purpose) }

// Within returns the wrapped model.
func (l layered) Within() Model { return l.Model }

// Adapted asks the wrapped model.
func (l layered) Adapted() []string {
	if a, ok := l.Model.(Adapter); ok {
		return a.Adapted()
	}
	return nil
}

// PartTaker is a Model that takes images, files or sounds, or replies without reading the question. A
// model that is none takes text only.
type PartTaker interface {
	// TakesPart reports why a part cannot be passed on to the model; nil if it can.
	TakesPart(p *synod.Part) error
}

// TakesPart asks the wrapped model.
func (l layered) TakesPart(p *synod.Part) error { return TakesPart(l.Model, p) }

// TakesPart reports why a part cannot be passed on to a model; nil if it can.
func TakesPart(m Model, p *synod.Part) error {
	if t, ok := m.(PartTaker); ok {
		return t.TakesPart(p)
	}
	return errors.New("it takes text only")
}

// Preflighter is a Model that can be checked by a request that costs nothing.
type Preflighter interface {
	// Preflight returns what it found. The error is a *Failure that calls of the model would
	// have too; its Advice says what to do. A server that cannot be asked for free is no
	// failure.
	Preflight(ctx context.Context) (found string, err error)
}

// Preflight checks the wrapped model.
func (l layered) Preflight(ctx context.Context) (string, error) {
	if p, ok := l.Model.(Preflighter); ok {
		return p.Preflight(ctx)
	}
	return "", nil
}

// Replies reports whether a model can reply to prompts of a purpose: all can but recorded ones, whose recording may
// lack them.
func Replies(m Model, purpose synod.Purpose) bool {
	r, ok := m.(interface{ Replies(synod.Purpose) bool })
	return !ok || r.Replies(purpose)
}
