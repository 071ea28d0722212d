package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/probe"
)

// Prober is a Model whose hidden states can be had with its replies (CP-2). Layers
// do not hide it: see AsProber.
type Prober interface {
	// Subject starts the model, if it has not started, and says whose states they are.
	Subject(ctx context.Context) (probe.Subject, error)
	// Probe completes a request and gives the hidden states of its answer, captured
	// while it was made; nil where the reply is no answer of the model's own. The reply
	// has its mean token log-probability.
	Probe(ctx context.Context, r Request, want engine.Capture) (synod.Reply, *engine.States, error)
}

// AsProber finds a Prober within the layers around a model. Calls to it go past the
// layers: past budget, cache and record.
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

// Confider is a Model that can read a confidence off its hidden states, and so answer
// prompts that want one (synod.ConfideHidden, CP-2).
type Confider interface{ CanConfide() bool }

// CanConfide reports whether the member has a trained probe.
func (m *embedded) CanConfide() bool { return m.probe != nil }

// asksHidden reports whether a prompt wants a hidden confidence in an answer.
func asksHidden(p *synod.Prompt) bool {
	return p.Confide == synod.ConfideHidden && (p.Purpose == synod.Answering || p.Purpose == synod.Refining)
}

// Subject starts the engine and describes it.
func (m *embedded) Subject(ctx context.Context) (probe.Subject, error) {
	c, err := m.engine.client(ctx)
	if err != nil {
		return probe.Subject{}, err
	}
	return m.running(c.Info()), nil
}

// running is the subject once the engine runs.
func (m *embedded) running(i engine.Info) probe.Subject {
	s := m.subject
	release, _, _ := strings.Cut(i.Library, "-") // its builds may call themselves 0.5.0-dev
	s.Engine, s.Layers, s.Width = "llama.cpp "+release, i.Layers, i.Width
	return s
}

// Probe completes a request and gives the states of its answer.
func (m *embedded) Probe(ctx context.Context, r Request, want engine.Capture) (synod.Reply, *engine.States, error) {
	if m.timeout > 0 { // no layer bounds it
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, m.timeout, slowError{m.timeout})
		defer cancel()
	}
	return m.ask(ctx, r, &want)
}

// confide replies with the probe's confidence in the answer. An answer without
// tokens has no states, and so no confidence.
func (m *embedded) confide(ctx context.Context, r Request) (synod.Reply, error) {
	if m.probe == nil {
		return synod.Reply{}, &Failure{Status: synod.Unavailable, Err: errors.New("this member has no probe for a hidden confidence; give it one with probe: FILE (synod probe train makes one)")}
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
			sure := m.probe.Confidence(h)
			reply.Confidence = &sure
		}
	}
	return reply, nil
}

// introduce says whose states the member has, as far as that is known before it has
// started, and loads its probe.
func (m *embedded) introduce(name string, at models.Location) error {
	m.subject = probe.Subject{Model: name, SHA256: at.SHA256, Answers: m.cfg.Answers}
	if !at.AnyLibrary {
		m.subject.Engine = "llama.cpp " + engine.LibraryVersion
	}
	if m.subject.SHA256 == "" { // a file of one's own
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

// loadProbe reads the member's probe, if it has one, and refuses one that was
// trained on another model, engine or way of answering.
func (m *embedded) loadProbe() error {
	if m.cfg.Probe == "" {
		return nil
	}
	text, err := os.ReadFile(m.cfg.Probe)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	p, err := probe.Decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", m.cfg.Probe, err)
	}
	if err := p.Fits(m.subject); err != nil {
		return fmt.Errorf("%s: %w; train one for this member with: synod probe train", m.cfg.Probe, err)
	}
	m.probe = p
	return nil
}

// generate asks for text, with its states and their mean log-probability where they
// are wanted.
func (x *exchange) generate(ctx context.Context, q engine.Request) (engine.Result, *float64, error) {
	q.Capture, q.Logprobs = x.want, x.want != nil
	out, err := x.Generate(ctx, q)
	x.states = out.States
	if err != nil || len(out.Logprobs) == 0 {
		return out, nil, err
	}
	mean := 0.0
	for _, l := range out.Logprobs {
		mean += l / float64(len(out.Logprobs))
	}
	return out, &mean, nil
}
