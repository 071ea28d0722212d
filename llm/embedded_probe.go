package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"synod.dev/synod/internal/durable"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/llm/probe"
)

// Prober is a Model that can return its hidden states with a reply (CP-2). See
// AsProber.
type Prober interface {
	// Subject starts the model, if it has not started, and describes it.
	Subject(ctx context.Context) (probe.Subject, error)
	// Probe completes a request and returns the hidden states of the answer,
	// captured while it was generated; nil if the model did not generate the
	// answer. The reply has its mean token log-probability.
	Probe(ctx context.Context, r Request, want engine.Capture) (synod.Reply, *engine.States, error)
}

// AsProber finds a Prober within the layers around a model. Calls to it bypass the
// layers: limits, budget, cache and record.
func AsProber(m Model) (Prober, bool) {
	for {
		if p, ok := m.(Prober); ok {
			return p, true
		}
		l, ok := m.(interface{ Within() Model })
		if !ok {
			return nil, false
		}
		m = l.Within()
	}
}

// GivesHiddenConfidence reports whether the model has a trained probe.
func (m *embedded) GivesHiddenConfidence() bool { return m.probe != nil }

// asksHidden reports whether a prompt asks for an answer with a hidden confidence.
func asksHidden(p *synod.Prompt) bool {
	return p.ConfidenceMode == synod.HiddenConfidence && (p.Purpose == synod.Answering || p.Purpose == synod.Refining)
}

// Subject starts the model and describes it.
func (m *embedded) Subject(ctx context.Context) (probe.Subject, error) {
	s := m.subject
	if err := m.host.identify(ctx, &s); err != nil {
		return probe.Subject{}, err
	}
	return s, nil
}

// Probe completes a request and returns the states of its answer.
func (m *embedded) Probe(ctx context.Context, r Request, want engine.Capture) (synod.Reply, *engine.States, error) {
	if m.timeout > 0 { // no layer bounds it
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, m.timeout, slowError{m.timeout})
		defer cancel()
	}
	return m.ask(ctx, r, &want)
}

// replyWithConfidence replies with the probe's confidence in the answer. An answer
// without tokens has no states, and so no confidence.
func (m *embedded) replyWithConfidence(ctx context.Context, r Request) (synod.Reply, error) {
	if m.probe == nil {
		return synod.Reply{}, failure(synod.Unavailable, "this model has no probe for a hidden confidence; "+
			"add probe: FILE to its settings (synod research probe train writes one)")
	}
	now, err := m.Subject(ctx)
	if err != nil {
		return synod.Reply{}, engineFailure(ctx, err)
	}
	now.Form = string(r.Prompt.Question.Form)
	if err := m.probe.Fits(now); err != nil {
		return synod.Reply{}, &Failure{Status: synod.Unavailable, Err: err}
	}
	at := engine.Position(m.probe.Position)
	reply, states, err := m.ask(ctx, r, &engine.Capture{Layers: []int{m.probe.Layer}, Positions: []engine.Position{at}})
	if err != nil {
		return reply, err
	}
	if states != nil {
		if h := states.At(m.probe.Layer, at); h != nil {
			confidence := m.probe.Confidence(h)
			reply.Confidence = &confidence
		}
	}
	return reply, nil
}

// describe sets the subject, as far as it is known before the model has started,
// and loads the probe.
func (m *embedded) describe(name string, at models.Location) error {
	m.subject = probe.Subject{Model: name, SHA256: at.SHA256, Answers: m.cfg.Answers}
	if !at.AnyLibrary {
		m.subject.Engine = "llama.cpp " + engine.LibraryVersion
	}
	if m.subject.SHA256 == "" { // a file that is not from the store
		f, err := os.Open(at.Model)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		m.subject.SHA256 = hex.EncodeToString(h.Sum(nil))
	}
	return m.loadProbe()
}

// maxProbe bounds the file of a probe, in bytes.
const maxProbe = 64 << 20

// loadProbe reads the probe, if there is one. It fails if the probe was trained on
// another model, engine or way of answering.
func (m *embedded) loadProbe() error {
	if m.cfg.Probe == "" {
		return nil
	}
	text, err := durable.ReadFile(m.cfg.Probe, maxProbe)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	p, err := probe.Decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", m.cfg.Probe, err)
	}
	if err := p.Fits(m.subject); err != nil {
		return fmt.Errorf("%s: %w; train one for this member with: synod research probe train", m.cfg.Probe, err)
	}
	m.probe = p
	weights := sha256.Sum256(fmt.Append(nil, p.Weights))
	m.info.Identity += fmt.Sprintf(" probe=%d/%s/%v/%x", p.Layer, p.Position, p.Bias, weights)
	return nil
}
