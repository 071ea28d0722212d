// Package llm is where members get their words: providers, one file each, and
// the layers around them.
//
// A Model answers one Request. What can go wrong has a Status and travels as a
// *Failure; a failure is never an answer, a vote or a score (SAC-10). Layers
// (cache, record, limit, retry, breaker, spend) wrap a Model in a Model, so any
// of them fits any provider:
//
//	m := llm.Standard(provider, llm.Options{...})
//
// Providers that read text call Request.Chat; recorded and simulated ones act on
// the typed Prompt and never render it.
package llm

import (
	"context"
	"errors"
	"sync"

	"synod.dev/synod"
	"synod.dev/synod/prompt"
)

// Kind says what stands behind a member. It is shown wherever the member's words
// are: a recorded or simulated member must never pass for a live one.
type Kind string

// The kinds of member.
const (
	Endpoint  Kind = "endpoint"
	Embedded  Kind = "embedded"
	Recorded  Kind = "recorded"
	Simulated Kind = "simulated"
)

// Info identifies a model.
type Info struct {
	Kind     Kind
	Name     string // for people, e.g. "gpt-4o-mini"
	Identity string // everything about provider and settings that changes an answer; holds no secret
	Server   string // of an endpoint: host, with a port that is not the scheme's own
	Model    string // of an endpoint: what it is called there
}

// Request is one prompt on its way to a model.
type Request struct {
	Prompt *synod.Prompt
	Book   *prompt.Templates // renders Prompt for models that read text
	Seat   string            // the asking seat's id
	Sample int               // which repeat of the same question this is, from 0

	Words *Words // of Prompt in Book; nil: nobody has needed them yet
}

// Words is a rendered prompt, rendered when it is first needed. Requests that ask the same may share it;
// text with fences is rendered for each prompt, because its borders differ.
type Words struct {
	once sync.Once
	of   *synod.Prompt
	chat prompt.Chat
	err  error
}

// Chat is the request in words.
func (r Request) Chat() (prompt.Chat, error) {
	w := r.Words
	if w == nil {
		return r.render()
	}
	w.once.Do(func() {
		w.of = r.Prompt
		w.chat, w.err = r.render()
	})
	if w.chat.Fenced && w.of != r.Prompt {
		return r.render()
	}
	return w.chat, w.err
}

func (r Request) render() (prompt.Chat, error) {
	if r.Book == nil {
		return prompt.Chat{}, errNoBook
	}
	return r.Book.Render(r.Prompt)
}

var errNoBook = errors.New("llm: no book of templates to say the prompt with")

// rendered is the request with room for its words, for layers that look at them on
// the way: so they are rendered once.
func (r Request) rendered() Request {
	if r.Words == nil {
		r.Words = &Words{}
	}
	return r
}

// Model answers requests. It is safe for concurrent use. On error the error is a
// *Failure (or wraps one) and the Reply still carries the usage of what was spent.
type Model interface {
	Complete(ctx context.Context, r Request) (synod.Reply, error)
	Info() Info
}

// Closer is a Model that holds something to let go of: a child process, a file.
type Closer interface{ Close() error }

// Weigher is a Model that can give the log-likelihood of a given text, and so
// answer prompts whose purpose is Weighing (SAC-12).
type Weigher interface{ CanWeigh() bool }

// Layer wraps a model.
type Layer func(Model) Model

// Stack puts layers around a model, the first outermost.
func Stack(m Model, layers ...Layer) Model {
	for i := len(layers) - 1; i >= 0; i-- {
		m = layers[i](m)
	}
	return m
}
