package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/models"
)

// Env is what providers may know of the machine they run on.
type Env struct {
	Getenv func(string) string // nil: the process environment
	Models string              // folder of the model store; "": the user's own
	Cache  string              // folder of the reply cache, for models with cache: true
	Record *Recorder           // nil: replies are not recorded
	Truth  Truth               // what simulated members may know of the questions; may be nil
}

func (e Env) getenv(name string) string {
	if e.Getenv != nil {
		return e.Getenv(name)
	}
	return os.Getenv(name)
}

// Provider is a way to get a model: a line in the catalogue.
type Provider struct {
	synod.Entry
	About    string     // the keys of a model of this provider, for "synod explain"
	settings func() any // an empty struct with the keys it takes
	// open reads its settings, strictly, and returns the bare model.
	open func(o opening) (Model, Common, error)
}

// opening is what a provider opens a model with.
type opening struct {
	decode func(into any) error // lays the council file's keys over defaults
	exact  bool                 // the papers' sampling where nothing else is said
	env    Env
}

// Common are the settings that every provider's models share.
type Common struct {
	Timeout     time.Duration `yaml:"timeout"`     // of one call; a call that takes longer is no answer
	Concurrency int           `yaml:"concurrency"` // requests at once; 0: no limit
	PerMinute   int           `yaml:"per_minute"`  // requests started in a minute; 0: no limit
	Attempts    int           `yaml:"attempts"`    // requests for one call at most
	Cache       bool          `yaml:"cache"`       // keep replies on disk and use them again
	MaxTokens   int           `yaml:"-"`
}

const commonAbout = `
timeout      of one call, such as 30s
concurrency  requests at once
per_minute   requests started in a minute
attempts     requests for one call at most, with waits between them
cache        true: keep replies on disk and use them again`

// Check reads a model's settings as Open does, and opens nothing.
func Check(provider string, decode func(into any) error) error {
	p, err := Providers.Find(provider)
	if err != nil {
		return err
	}
	return decode(p.settings())
}

// Open opens a model of a provider with the layers of Standard around it.
func Open(provider string, decode func(into any) error, exact bool, env Env) (Model, error) {
	p, err := Providers.Find(provider)
	if err != nil {
		return nil, err
	}
	m, c, err := p.open(opening{decode, exact, env})
	if err != nil {
		return nil, err
	}
	o := Options{
		Record:    env.Record,
		MaxTokens: c.MaxTokens,
		Retry:     RetryConfig{Attempts: c.Attempts},
		Limit:     LimitConfig{Concurrency: c.Concurrency, PerMinute: c.PerMinute},
	}
	if c.Cache {
		if o.Cache, err = NewCache(env.Cache); err != nil {
			return nil, err
		}
	}
	return Standard(m, o), nil
}

// Providers lists every provider.
var Providers = synod.NewCatalogue("provider",
	Provider{
		Entry: synod.Entry{Name: "embedded", Summary: "the model in the box: llama.cpp on this machine, no key and no server"},
		About: `model        a name from "synod models list"
path         a GGUF file instead
library      a folder with llama.cpp's libraries instead of the fetched one
temperature  0 is greedy
top_p, max_tokens
answers      short: the model continues a few examples by one line, and what has options it
             answers by their likelihood; written: as JSON with reasoning (better for a large model)
refine       choose: the likeliest of the answers on the table; written: as JSON with reasoning
context      tokens of prompt and reply together
threads      of the engine; more than one rarely helps a small model
seqs         requests decoded at once` + commonAbout,
		settings: func() any { return &embeddedSettings{} },
		open:     openEmbedded,
	},
	endpoint("openai", "any OpenAI-compatible server: OpenAI, vLLM, llama.cpp's server, gateways", "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
	endpoint("ollama", "a local Ollama", "http://127.0.0.1:11434", "OLLAMA_HOST", ""),
	Provider{
		Entry: synod.Entry{Name: "recorded", Summary: "real replies from a trace file, replayed by item, model and trial; always labelled as such"},
		About: `path       a JSONL file: benchmark, item_id, model, trial, response, perhaps question
model      whose replies, as the file names it
benchmark  only rows of this benchmark

It has first answers on tape and nothing else: asked to refine it keeps its answer, asked to score it
gives 1 to its own answer and 0 to every other.`,
		settings: func() any { return &RecordedConfig{} },
		open: func(o opening) (Model, Common, error) {
			var c RecordedConfig
			if err := o.decode(&c); err != nil {
				return nil, Common{}, err
			}
			m, err := NewTape(c)
			return m, Common{}, err
		},
	},
	Provider{
		Entry: synod.Entry{Name: "simulated", Summary: "a documented stochastic member, for research; always labelled as such"},
		About: `ability       share of questions it gets right alone
spread        of the questions' difficulty, in logits
skill         gap between its scores of right and wrong; by default that of a judge who compares with its own solution
noise         standard deviation of a score
stubbornness  chance to keep its answer whatever it is shown
sharpness     how much better scores weigh more when it refines
correlation   chance that its luck is the whole study's, so that members err together
wrong         wrong answers that a question has
seed, study   of the member, and of what members share`,
		settings: func() any { return &SimulatedConfig{} },
		open: func(o opening) (Model, Common, error) {
			c := NewSimulatedConfig()
			if err := o.decode(&c); err != nil {
				return nil, Common{}, err
			}
			m, err := NewDice(c, o.env.Truth)
			return m, Common{}, err
		},
	},
	endpoint("openrouter", "models of many makers through OpenRouter", "https://openrouter.ai/api/v1", "", "OPENROUTER_API_KEY"),
)

// endpointSettings are the keys of a model behind an HTTP API.
type endpointSettings struct {
	Common      `yaml:",inline"`
	URL         string   `yaml:"url"`
	Model       string   `yaml:"model"`
	KeyEnv      string   `yaml:"key_env"`
	Temperature *float64 `yaml:"temperature"`
	TopP        *float64 `yaml:"top_p"`
	Tokens      int      `yaml:"max_tokens"`
	Seed        *int64   `yaml:"seed"`
	Logprobs    bool     `yaml:"logprobs"`
	Private     bool     `yaml:"private"`
}

func endpoint(name, summary, base, urlEnv, keyEnv string) Provider {
	return Provider{
		Entry: synod.Entry{Name: name, Summary: summary},
		About: fmt.Sprintf(`url          base of the API, with or without /v1 (default: %s)
model        the model's name at the server
key_env      the environment variable that holds the key (default: %s)
temperature, top_p, max_tokens, seed
logprobs     true: ask for token log-probabilities
private      true: the url's name may lead to a private address`, cmp.Or(urlEnv+", else "+base), cmp.Or(keyEnv, "none")) + commonAbout,
		settings: func() any { return &endpointSettings{} },
		open:     func(o opening) (Model, Common, error) { return openEndpoint(o, base, urlEnv, keyEnv) },
	}
}

// The reference code's sampling, which "exact: paper" takes where the council
// file says nothing (SAC-9).
const (
	paperTemperature = 0.1
	paperTopP        = 0.9
	paperTokens      = 1000
	paperSeed        = 1234
)

func openEndpoint(o opening, base, urlEnv, keyEnv string) (Model, Common, error) {
	s := endpointSettings{Common: Common{Timeout: DefaultTimeout}, Tokens: paperTokens}
	if o.exact {
		temperature, topP, seed := paperTemperature, paperTopP, int64(paperSeed)
		s.Temperature, s.TopP, s.Seed = &temperature, &topP, &seed
	}
	if err := o.decode(&s); err != nil {
		return nil, Common{}, err
	}
	if s.URL == "" {
		var err error
		if s.URL, err = defaultURL(o.env, base, urlEnv); err != nil {
			return nil, Common{}, err
		}
	}
	if u, err := url.Parse(s.URL); err == nil && u.User != nil {
		return nil, Common{}, errors.New("the url holds a password; put the key into an environment variable and name that as key_env")
	}
	s.KeyEnv = cmp.Or(s.KeyEnv, keyEnv)
	c := OpenAIConfig{
		URL: s.URL, Model: s.Model, Temperature: s.Temperature, TopP: s.TopP,
		MaxTokens: s.Tokens, Seed: s.Seed, Timeout: s.Timeout, Logprobs: s.Logprobs, Private: s.Private,
	}
	if s.KeyEnv != "" {
		c.Key = NewSecret(o.env.getenv(s.KeyEnv))
	}
	m, err := NewOpenAI(c)
	if err != nil {
		return nil, Common{}, err
	}
	s.MaxTokens = s.Tokens
	return m, s.Common, nil
}

// defaultURL is where a provider is found if the council file does not say.
func defaultURL(env Env, base, urlEnv string) (string, error) {
	switch urlEnv {
	case "":
		return base, nil
	case "OLLAMA_HOST": // a host where Ollama listens, not a URL
		return OllamaURL(env.getenv(urlEnv))
	}
	return cmp.Or(env.getenv(urlEnv), base), nil
}

// embeddedSettings are the keys of a model in the box.
type embeddedSettings struct {
	Common         `yaml:",inline"`
	EmbeddedConfig `yaml:",inline"`
}

func openEmbedded(o opening) (Model, Common, error) {
	s := embeddedSettings{Common{Timeout: embeddedTimeout}, embeddedDefaults()}
	if o.exact {
		s.Temperature, s.TopP, s.EmbeddedConfig.MaxTokens = paperTemperature, paperTopP, paperTokens
		s.Answers, s.Refine = written, written
	}
	if err := o.decode(&s); err != nil {
		return nil, Common{}, err
	}
	if err := s.validate(); err != nil {
		return nil, Common{}, err
	}
	store := models.Store{Dir: o.env.Models, LibDir: s.Library}
	if store.Dir == "" {
		store.Dir = models.DefaultDir()
	}
	at, err := store.Resolve(cmp.Or(s.Path, s.Model))
	if err != nil {
		return nil, Common{}, err
	}
	m := &embedded{cfg: s.EmbeddedConfig, timeout: s.Timeout}
	m.engine = share(engine.Config{
		LibDir: at.LibDir, ModelPath: at.Model, AnyLibrary: at.AnyLibrary,
		Context: s.Context, Seqs: s.Seqs, Threads: s.Threads,
	})
	name := cmp.Or(s.Model, filepath.Base(s.Path))
	m.info = Info{Kind: Embedded, Name: name, Identity: fmt.Sprintf("embedded %s sha256:%s llama.cpp %s temperature=%v top_p=%v max_tokens=%d answers=%s refine=%s seqs=%d threads=%d context=%d",
		name, at.SHA256, engine.LibraryVersion, s.Temperature, s.TopP, s.EmbeddedConfig.MaxTokens, s.Answers, s.Refine, s.Seqs, s.Threads, s.Context)}
	s.Common.MaxTokens = s.EmbeddedConfig.MaxTokens
	return m, s.Common, nil
}
