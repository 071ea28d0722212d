package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
)

// EmbeddedConfig are the settings of a member that is the model in the box.
type EmbeddedConfig struct {
	Model       string  `yaml:"model"`       // a name from "synod models list"
	Path        string  `yaml:"path"`        // a GGUF file instead of a model by name
	Library     string  `yaml:"library"`     // a folder with llama.cpp's libraries instead of the pulled one
	Temperature float64 `yaml:"temperature"` // 0 is greedy
	TopP        float64 `yaml:"top_p"`
	MaxTokens   int     `yaml:"max_tokens"`
	Choices     string  `yaml:"choices"` // how a choice question is answered first: likelihood | written
	Context     int     `yaml:"context"` // tokens of prompt and reply together
	Threads     int     `yaml:"threads"`
	Seqs        int     `yaml:"seqs"` // requests decoded at once
}

func embeddedDefaults() EmbeddedConfig {
	return EmbeddedConfig{Temperature: 0.6, TopP: 0.95, MaxTokens: 300, Choices: "likelihood", Context: 2048, Threads: 1, Seqs: 8}
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
	case c.Choices != "likelihood" && c.Choices != "written":
		return fmt.Errorf("choices is %q; it must be likelihood or written", c.Choices)
	}
	return nil
}

// embedded is a member of the model in the box. Members of one model file share
// one engine, so that seats which ask at once are decoded in one batch.
type embedded struct {
	cfg     EmbeddedConfig
	engine  *sharedEngine
	timeout time.Duration // of one call; 0: none but the run's
	info    Info
}

func (m *embedded) Info() Info     { return m.info }
func (m *embedded) CanWeigh() bool { return true }
func (m *embedded) Close() error   { return m.engine.release() }

// Complete weighs text where the prompt is for that, or where it is a choice to
// be made first; else it generates under the grammar of the wanted reply.
func (m *embedded) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if m.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.timeout)
		defer cancel()
	}
	client, err := m.engine.client(ctx)
	if err != nil {
		return synod.Reply{}, &Failure{Status: synod.Unavailable, Err: err}
	}
	var reply synod.Reply
	switch p := r.Prompt; {
	case p.Purpose == synod.Weighing:
		reply, err = m.weigh(ctx, client, r)
	case p.Purpose == synod.Answering && p.Question.Form == synod.Choice && m.cfg.Choices == "likelihood" && !p.Exact:
		reply, err = m.choose(ctx, client, p)
	default:
		reply, err = m.write(ctx, client, r)
	}
	reply.Calls = 1
	if err != nil {
		return reply, engineFailure(ctx, err)
	}
	return reply, nil
}

func engineFailure(ctx context.Context, err error) error {
	var done *Failure
	switch {
	case errors.As(err, &done):
		return done
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Status: synod.Timeout, Err: errors.New("the model in the box took too long")}
	case ctx.Err() != nil:
		return &Failure{Status: synod.Dropped, Err: ctx.Err()}
	case errors.Is(err, engine.ErrRequest):
		return &Failure{Status: synod.Unreadable, Err: err}
	}
	return &Failure{Status: synod.Unavailable, Err: err, Retryable: errors.Is(err, engine.ErrEngineDied)}
}

func (m *embedded) weigh(ctx context.Context, c *engine.Client, r Request) (synod.Reply, error) {
	chat, err := r.Chat()
	if err != nil {
		return synod.Reply{}, &Failure{Status: synod.Unreadable, Err: err}
	}
	scores, usage, err := c.Likelihood(ctx, chat.User, []string{" " + inWords(r.Prompt)})
	if err != nil {
		return synod.Reply{}, err
	}
	return synod.Reply{Typed: true, Value: math.Min(0, scores[0].Mean), Usage: used(usage)}, nil
}

// inWords is the candidate as it would stand in a text: an option's own words
// and not its label.
func inWords(p *synod.Prompt) string {
	for _, o := range p.Question.Options {
		if strings.EqualFold(o.Label, string(p.Candidate)) {
			return o.Text
		}
	}
	return p.Spelled(p.Candidate)
}

// choose answers a choice question by the likelihood of each option's words after
// the bare question, which small models are far better at than at writing a
// label. It samples: option i with probability ∝ exp(mean log-probability / t).
func (m *embedded) choose(ctx context.Context, c *engine.Client, p *synod.Prompt) (synod.Reply, error) {
	texts := make([]string, len(p.Question.Options))
	for i, o := range p.Question.Options {
		texts[i] = " " + o.Text
	}
	scores, usage, err := c.Likelihood(ctx, "Question: "+p.Question.Text+"\nAnswer:", texts)
	if err != nil {
		return synod.Reply{}, err
	}
	best := 0
	for i := range scores {
		if scores[i].Mean > scores[best].Mean {
			best = i
		}
	}
	pick := best
	if m.cfg.Temperature > 0 {
		pick = sample(scores, scores[best].Mean, m.cfg.Temperature, p.Seed)
	}
	label := p.Question.Options[pick].Label
	return synod.Reply{Typed: true, Answer: synod.Answer(label), Text: label, Usage: used(usage)}, nil
}

func sample(scores []engine.Score, top, temperature float64, seed uint64) int {
	weights, sum := make([]float64, len(scores)), 0.0
	for i, s := range scores {
		weights[i] = math.Exp((s.Mean - top) / temperature)
		sum += weights[i]
	}
	at := rand.New(rand.NewPCG(seed, 0xc401ce)).Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(scores) - 1
}

func (m *embedded) write(ctx context.Context, c *engine.Client, r Request) (synod.Reply, error) {
	chat, err := r.Chat()
	if err != nil {
		return synod.Reply{}, &Failure{Status: synod.Unreadable, Err: err}
	}
	q := engine.Request{
		Messages: []engine.Message{{Role: "system", Content: chat.System}, {Role: "user", Content: chat.User}},
		Seed:     r.Prompt.Seed, Temperature: m.cfg.Temperature, TopP: m.cfg.TopP, MaxTokens: m.cfg.MaxTokens,
	}
	if chat.Schema != nil {
		if q.Grammar, err = engine.Grammar(chat.Schema); err != nil {
			return synod.Reply{}, &Failure{Status: synod.Unreadable, Err: err}
		}
	}
	out, err := c.Generate(ctx, q)
	if err != nil {
		return synod.Reply{}, err
	}
	reply := synod.Reply{Text: out.Text, Usage: used(out.Usage)}
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
