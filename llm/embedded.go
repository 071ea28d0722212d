package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/probe"
	"synod.dev/synod/prompt"
)

// EmbeddedConfig are the settings of a member that is the model in the box.
type EmbeddedConfig struct {
	Model       string  `yaml:"model"`       // a name from "synod models list"
	Path        string  `yaml:"path"`        // a GGUF file instead of a model by name
	Library     string  `yaml:"library"`     // a folder with llama.cpp's libraries instead of the pulled one
	Temperature float64 `yaml:"temperature"` // 0 is greedy
	TopP        float64 `yaml:"top_p"`
	MaxTokens   int     `yaml:"max_tokens"`
	Answers     string  `yaml:"answers"` // short | written
	Refine      string  `yaml:"refine"`  // choose | written
	Context     int     `yaml:"context"` // tokens of prompt and reply together
	Threads     int     `yaml:"threads"`
	Seqs        int     `yaml:"seqs"`  // requests decoded at once
	Probe       string  `yaml:"probe"` // a trained probe, for prompts that want a hidden confidence
}

// How a member of the model in the box gives its first answer and how it
// refines. A small model asked to converse and to reply as JSON writes nonsense
// about questions that it can answer (docs/box.md), so the defaults ask it for
// less. Written is what members of every other provider do.
const (
	short   = "short"   // the model continues a few examples by one line; what has options is sampled by their likelihood
	choose  = "choose"  // of the answers on the table, the likeliest after the question
	written = "written" // a reply to the whole prompt, under the grammar of its schema
)

func embeddedDefaults() EmbeddedConfig {
	return EmbeddedConfig{Temperature: 0.6, TopP: 0.95, MaxTokens: 300, Answers: short, Refine: choose, Context: 2048, Threads: 1, Seqs: 8}
}

func (c EmbeddedConfig) validate() error {
	switch {
	case c.Model == "" && c.Path == "":
		return errors.New("an embedded model needs a name (model) or a file (path)")
	case !(c.Temperature >= 0 && c.Temperature <= 5):
		return fmt.Errorf("temperature is %v; it must be between 0 and 5", c.Temperature)
	case !(c.TopP > 0 && c.TopP <= 1):
		return fmt.Errorf("top_p is %v; it must be above 0 and at most 1", c.TopP)
	case c.MaxTokens < 1:
		return fmt.Errorf("max_tokens is %d; it must be at least 1", c.MaxTokens)
	case c.Answers != short && c.Answers != written:
		return fmt.Errorf("answers is %q; it must be short or written", c.Answers)
	case c.Refine != choose && c.Refine != written:
		return fmt.Errorf("refine is %q; it must be choose or written", c.Refine)
	}
	return nil
}

// embedded is a member of the model in the box. Members of one model file share
// one engine, so that seats which ask at once are decoded in one batch.
type embedded struct {
	cfg     EmbeddedConfig
	engine  *sharedEngine
	timeout time.Duration // of one call to Probe; 0: none
	info    Info
	subject probe.Subject // what is known of the model before it has started
	probe   *probe.Probe  // nil: it cannot give a hidden confidence
}

func (m *embedded) Info() Info     { return m.info }
func (m *embedded) CanWeigh() bool { return true }
func (m *embedded) Close() error   { return m.engine.release() }

// completer is what a member needs of an engine.
type completer interface {
	Generate(context.Context, engine.Request) (engine.Result, error)
	Weigh(ctx context.Context, prefix string, continuations []string, want *engine.Capture) ([]engine.Score, []*engine.States, engine.Usage, error)
}

// exchange is one request under way: with whom, about what, and the hidden states
// that are wanted with the answer.
type exchange struct {
	completer
	prompt *synod.Prompt
	want   *engine.Capture // nil: none
	states *engine.States  // of the answer that was given, at the end
}

// Complete gives the reply in the way that the settings have for the purpose.
func (m *embedded) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if asksHidden(r.Prompt) {
		return m.confide(ctx, r)
	}
	reply, _, err := m.ask(ctx, r, nil)
	return reply, err
}

// ask sends a request and wants the given states with the answer.
func (m *embedded) ask(ctx context.Context, r Request, want *engine.Capture) (synod.Reply, *engine.States, error) {
	chat, err := r.Chat()
	if err != nil {
		return synod.Reply{}, nil, &Failure{Status: synod.Unreadable, Err: err}
	}
	client, err := m.engine.client(ctx)
	if err != nil {
		return synod.Reply{}, nil, AsFailure(err)
	}
	x := &exchange{completer: client, prompt: r.Prompt, want: want}
	reply, err := m.reply(ctx, x, chat)
	reply.Calls = 1
	if err != nil {
		return reply, nil, engineFailure(ctx, err)
	}
	m.engine.works(client)
	return reply, x.states, nil
}

func (m *embedded) reply(ctx context.Context, x *exchange, chat prompt.Chat) (synod.Reply, error) {
	p := x.prompt
	open := chat.Completion != "" && !p.Exact
	switch {
	case p.Purpose == synod.Weighing:
		return m.weigh(ctx, x, chat.User)
	case p.Purpose == synod.Answering && m.cfg.Answers == short && open:
		reply, err := m.answer(ctx, x, chat.Completion)
		if err != nil {
			return reply, err
		}
		return m.stated(ctx, x, chat.Completion, reply)
	case p.Purpose == synod.Refining && m.cfg.Refine == choose && open:
		reply, err := m.choose(ctx, x, chat.Completion)
		if err != nil {
			return reply, err
		}
		return m.stated(ctx, x, chat.Completion, reply)
	}
	return m.write(ctx, x, chat)
}

// engineFailure classifies an error of the engine.
func engineFailure(ctx context.Context, err error) error {
	var done *Failure
	switch {
	case errors.As(err, &done):
		return done
	case ctx.Err() != nil:
		return ended(ctx, "waiting for the embedded model")
	case errors.Is(err, engine.ErrRequest):
		return &Failure{Status: synod.Unreadable, Err: err}
	}
	return &Failure{Status: synod.Unavailable, Err: err, Retryable: errors.Is(err, engine.ErrEngineDied)}
}

// weigh gives the mean log-probability of the candidate's words.
func (m *embedded) weigh(ctx context.Context, x *exchange, lead string) (synod.Reply, error) {
	scores, _, usage, err := x.Weigh(ctx, lead, []string{" " + inWords(x.prompt, x.prompt.Candidate)}, nil)
	if err != nil {
		return synod.Reply{}, err
	}
	return synod.Reply{Typed: true, Value: math.Min(0, scores[0].Mean), Usage: used(usage)}, nil
}

// write replies to the prompt as a conversation, under the grammar of the wanted
// reply if it has one.
func (m *embedded) write(ctx context.Context, x *exchange, chat prompt.Chat) (synod.Reply, error) {
	q := engine.Request{
		Messages: []engine.Message{{Role: "system", Content: chat.System}, {Role: "user", Content: chat.User}},
		Seed:     x.prompt.Seed, Temperature: m.cfg.Temperature, TopP: m.cfg.TopP, MaxTokens: m.cfg.MaxTokens,
	}
	if chat.Schema != nil {
		var err error
		if q.Grammar, err = engine.Grammar(chat.Schema); err != nil {
			return synod.Reply{}, &Failure{Status: synod.Unreadable, Err: err}
		}
	}
	out, logprob, err := x.generate(ctx, q)
	if err != nil {
		return synod.Reply{}, err
	}
	reply := synod.Reply{Text: out.Text, Usage: used(out.Usage), Logprob: logprob}
	if out.Finish == "length" && chat.Schema != nil {
		return reply, &Failure{Status: synod.Unreadable, Err: fmt.Errorf("the reply was cut at max_tokens=%d", m.cfg.MaxTokens)}
	}
	return reply, nil
}

func used(u engine.Usage) synod.Usage {
	return synod.Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens}
}

// embeddedTimeout bounds one call where the council's file does not: a batch of
// seats on one slow core takes its time.
const embeddedTimeout = 5 * time.Minute
