package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
	"synod.dev/synod/llm/probe"
	"synod.dev/synod/llm/prompt"
)

var embeddedProvider = Provider{
	Kind: Embedded,
	Entry: synod.Entry{Name: "embedded",
		Summary: "a model in this program: llama.cpp on this machine, no key and no server"},
	About: `model        a name from "synod models list"
path         of a GGUF file, instead of model
library      folder with llama.cpp's libraries, instead of the pulled one
temperature  0 is greedy
top_p, max_tokens
answers      short: the model continues a few examples by one line, and options are sampled by their
             likelihood; written: as JSON with reasoning (better for a large model)
refine       choose: the likeliest of the shown answers; written: as JSON with reasoning
context      tokens of prompt and reply together
threads      of the engine; more than one rarely helps a small model
seqs         requests decoded together
probe        a file from "synod research probe train", for protocols that read a confidence from hidden
             states; it must have been trained on this model, engine and way of answering` + commonAbout,
	Settings: func() any { s := embeddedDefaults(); return &s },
	Uses: func(decode func(any) error) (lines []string) {
		var c embeddedConfig
		if decode(&c) != nil {
			return nil
		}
		for _, f := range [][2]string{
			{"reads the model file ", c.Path}, {"loads libraries from ", c.Library}, {"reads the probe ", c.Probe},
		} {
			if f[1] != "" {
				lines = append(lines, f[0]+f[1])
			}
		}
		return lines
	},
	Open: openEmbedded,
}

// embeddedConfig are the settings of an embedded model.
type embeddedConfig struct {
	Common  `yaml:",inline"`
	Model   string `yaml:"model" doc:"a model of this machine: synod models list" names:"models" example:"smollm2-135m-instruct"`
	Path    string `yaml:"path" doc:"a GGUF file, instead of model" example:"models/mine.gguf"`
	Library string `yaml:"library" doc:"folder with llama.cpp's libraries, instead of the pulled one"`
	Speech  `yaml:",inline"`
	Context int `yaml:"context" doc:"tokens of prompt and reply together" range:"1:" unit:"tokens"`
	Threads int `yaml:"threads" doc:"threads of the engine; more than one rarely helps a small model" range:"1:"`
	Seqs    int `yaml:"seqs" doc:"requests decoded together" range:"1:"`
}

// Speech are the settings of how a model whose texts can be weighed and whose states can be read is asked, wherever it
// runs.
type Speech struct {
	Temperature float64 `yaml:"temperature" doc:"sampling temperature; 0 is greedy" range:"0:100" example:"0.7"`
	TopP        float64 `yaml:"top_p" doc:"nucleus sampling" range:"0:1"`
	MaxTokens   int     `yaml:"max_tokens" doc:"tokens of one reply" range:"1:1048576" unit:"tokens"`
	Answers     string  `yaml:"answers" doc:"short: continue a few examples by one line, options by likelihood; written: JSON with reasoning" enum:"short|written"`
	Refine      string  `yaml:"refine" doc:"choose: the likeliest of the shown answers; written: JSON with reasoning" enum:"choose|written"`
	Probe       string  `yaml:"probe" doc:"file from synod research probe train, for protocols that read a confidence from hidden states"`
}

// How an embedded model gives its first answer and how it refines. A small model
// that is asked to converse and to reply as JSON writes nonsense about questions
// that it can answer (docs/use/models.md), so the defaults ask it for less. Models of all
// other providers do what written does.
const (
	short   = "short"   // the model continues a few examples by one line; options are sampled by their likelihood
	choose  = "choose"  // of the shown answers, the likeliest after the question
	written = "written" // a reply to the whole prompt, constrained by the grammar of its schema
)

func embeddedDefaults() embeddedConfig {
	return embeddedConfig{
		Common: Common{Timeout: embeddedTimeout}, Speech: speechDefaults(false), Context: 2048, Threads: 1, Seqs: 8,
	}
}

// speechDefaults returns the defaults, or those of the papers.
func speechDefaults(exact bool) Speech {
	if exact {
		return Speech{Temperature: paperTemperature, TopP: paperTopP, MaxTokens: paperTokens, Answers: written,
			Refine: written}
	}
	return Speech{Temperature: 0.6, TopP: 0.95, MaxTokens: 300, Answers: short, Refine: choose}
}

func (c *embeddedConfig) validate() error {
	if c.Model == "" && c.Path == "" {
		return errors.New("an embedded model needs a name (model) or a file (path)")
	}
	return c.Speech.validate()
}

func (c *Speech) validate() error {
	switch {
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

func openEmbedded(o Opening) (Opened, error) {
	s := embeddedDefaults()
	s.Speech = speechDefaults(o.Exact)
	if err := o.Decode(&s); err != nil {
		return Opened{}, err
	}
	if err := s.validate(); err != nil {
		return Opened{}, err
	}
	store := models.Store{Dir: o.Env.Models, LibDir: s.Library}
	if store.Dir == "" {
		store.Dir = models.DefaultDir()
	}
	at, err := store.Resolve(cmp.Or(s.Path, s.Model))
	if err != nil {
		return Opened{}, err
	}
	m := &embedded{cfg: s.Speech, timeout: s.Timeout}
	name := cmp.Or(s.Model, filepath.Base(s.Path))
	m.info = Info{Kind: Embedded, Name: name, Identity: fmt.Sprintf("embedded %s sha256:%s llama.cpp %s "+
		"temperature=%v top_p=%v max_tokens=%d answers=%s refine=%s seqs=%d threads=%d context=%d",
		name, at.SHA256, engine.LibraryVersion,
		s.Temperature, s.TopP, s.MaxTokens, s.Answers, s.Refine, s.Seqs, s.Threads, s.Context)}
	if s.Probe != "" || o.Env.Hidden {
		if err := m.describe(name, at); err != nil {
			return Opened{}, err
		}
	}
	m.host = share(engine.Config{
		LibDir: at.LibDir, ModelPath: at.Model, AnyLibrary: at.AnyLibrary,
		Context: s.Context, Seqs: s.Seqs, Threads: s.Threads, Hidden: m.probe != nil || o.Env.Hidden,
	})
	return Opened{Model: m, Common: s.Common, Account: at.Model, MaxTokens: s.MaxTokens}, nil
}

// host is where a model runs: a process of this machine, or a server that shows hidden states.
type host interface {
	completer() completer
	// identify starts the model if need be, and completes what is known of it.
	identify(context.Context, *probe.Subject) error
	grammar(schema []byte) (string, error) // fails if the host cannot follow the schema
	release() error
}

// embedded is a model whose texts can be weighed and whose states can be read. Members of one model file share one
// engine, so that seats that call at the same time are decoded in one batch.
type embedded struct {
	cfg     Speech
	timeout time.Duration // of one request
	host    host
	info    Info
	subject probe.Subject // describes the model, as far as it is known before it has started
	probe   *probe.Probe  // nil: it gives no hidden confidence
	// without is why replies to the last schema without a grammar were not constrained; nil: all were.
	without atomic.Pointer[string]
}

// Adapted says that a schema of a user could not be made a grammar, and why.
func (m *embedded) Adapted() []string {
	if why := m.without.Load(); why != nil {
		return []string{"no grammar: " + *why}
	}
	return nil
}

func (m *embedded) Info() Info     { return m.info }
func (m *embedded) CanWeigh() bool { return true }
func (m *embedded) Close() error   { return m.host.release() }

// completer is what a call needs of an engine.
type completer interface {
	Generate(context.Context, engine.Request) (engine.Result, error)
	Weigh(ctx context.Context, prefix string, continuations []string, want *engine.Capture,
	) ([]engine.LogProb, []*engine.States, engine.Usage, error)
}

// exchange is one request under way.
type exchange struct {
	completer
	prompt *synod.Prompt
	want   *engine.Capture // the hidden states that are wanted with the answer; nil: none
	states *engine.States  // of the answer, at the end
}

// Complete replies in the way that the settings choose for the purpose.
func (m *embedded) Complete(ctx context.Context, r Request) (synod.Reply, error) {
	if asksHidden(r.Prompt) {
		return m.replyWithConfidence(ctx, r)
	}
	reply, _, err := m.ask(ctx, r, nil)
	return reply, err
}

// ask sends a request and returns the wanted states with the answer.
func (m *embedded) ask(ctx context.Context, r Request, want *engine.Capture) (synod.Reply, *engine.States, error) {
	chat, err := r.Chat()
	if err != nil {
		return synod.Reply{}, nil, &Failure{Status: synod.Unreadable, Err: err}
	}
	x := &exchange{completer: m.host.completer(), prompt: r.Prompt, want: want}
	reply, err := m.reply(ctx, x, chat)
	reply.Calls = 1
	if err != nil {
		return reply, nil, engineFailure(ctx, err)
	}
	return reply, x.states, nil
}

func (m *embedded) reply(ctx context.Context, x *exchange, chat prompt.Chat) (synod.Reply, error) {
	p := x.prompt
	lead := chat.Completion
	if p.Exact || p.Question.Form.Long() { // a line holds no JSON and no prose
		lead = ""
	}
	var reply synod.Reply
	var err error
	switch {
	case p.Purpose == synod.Weighing:
		return m.weigh(ctx, x, chat.User)
	case p.Purpose == synod.Answering && m.cfg.Answers == short && lead != "" && answersByLine(p):
		reply, err = m.answer(ctx, x, lead)
	case p.Purpose == synod.Refining && m.cfg.Refine == choose && lead != "" && p.Goal == "":
		reply, err = m.choose(ctx, x, lead)
	default:
		reply, err = m.write(ctx, x, chat)
	}
	if err != nil || p.Purpose != synod.Answering && p.Purpose != synod.Refining {
		return reply, err
	}
	return m.withConfidence(ctx, x, lead, reply)
}

// answersByLine reports whether one line can be the reply to a prompt for an answer. An adversary that is to persuade
// needs a solution, except where the members that it is to persuade go by the likelihood of options.
func answersByLine(p *synod.Prompt) bool {
	return p.Goal == "" || p.Goal == synod.Persuade && possibleAnswers(p.Question) != nil
}

// engineFailure returns an error of the engine as a Failure.
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

// weigh returns the mean log-probability of the candidate's text.
func (m *embedded) weigh(ctx context.Context, x *exchange, lead string) (synod.Reply, error) {
	scores, _, usage, err := x.Weigh(ctx, lead, []string{" " + asText(x.prompt, x.prompt.Candidate)}, nil)
	if err != nil {
		return synod.Reply{}, err
	}
	return synod.Reply{Typed: true, Value: math.Min(0, scores[0].Mean), Usage: used(usage)}, nil
}

// write replies to the prompt as a conversation, constrained by the grammar of the
// reply's schema if it has one.
func (m *embedded) write(ctx context.Context, x *exchange, chat prompt.Chat) (synod.Reply, error) {
	q := engine.Request{
		Messages: messagesOf(&chat),
		Seed:     x.prompt.Seed, Temperature: m.cfg.Temperature, TopP: m.cfg.TopP, MaxTokens: m.cfg.MaxTokens,
	}
	if chat.Schema != nil {
		var err error
		if q.Grammar, err = m.host.grammar(chat.Schema); err != nil {
			if f := x.prompt.Question.Form; f != synod.JSON && f != synod.Action {
				return synod.Reply{}, &Failure{Status: synod.Unreadable, Err: err}
			}
			why := strings.TrimPrefix(err.Error(), "engine: ")
			m.without.Store(&why)
			q.Messages[0].Content += schemaInWords(chat.Schema) // of a user's schema that no grammar follows
		}
	}
	out, logprob, err := x.generate(ctx, q)
	if err != nil {
		return synod.Reply{}, err
	}
	reply := synod.Reply{Text: out.Text, Usage: used(out.Usage), Logprob: logprob}
	if out.Finish == "length" && chat.Schema != nil {
		return reply, failure(synod.Unreadable, "the reply was cut at max_tokens=%d", m.cfg.MaxTokens)
	}
	return reply, nil
}

// messagesOf returns a chat as the engine takes it. The chat templates of small models know no tools, so their
// calls and results are text.
func messagesOf(c *prompt.Chat) []engine.Message {
	system, turns := conversation(c.System, c)
	all := []engine.Message{{Role: "system", Content: strings.Join(system, "\n\n")}}
	for _, t := range turns {
		m := engine.Message{Role: string(t.Role), Content: t.Text}
		if t.Role == synod.ByTool {
			m = engine.Message{Role: "user", Content: "Result of the tool: " + t.Text}
		}
		for _, call := range t.Calls {
			m.Content += "\nCall of the tool " + call.Name + ": " + string(arguments(&call))
		}
		all = append(all, m)
	}
	return all
}

func used(u engine.Usage) synod.Usage {
	return synod.Usage{Prompt: u.PromptTokens, Completion: u.CompletionTokens}
}

// embeddedTimeout bounds one call unless the settings do: a batch of many seats on
// one slow core takes minutes.
const embeddedTimeout = 5 * time.Minute
