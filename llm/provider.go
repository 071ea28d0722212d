package llm

import (
	"os"
	"time"

	"synod.dev/synod"
)

// Env is what providers may know of the machine they run on.
type Env struct {
	Getenv func(string) string // nil: the process environment
	Models string              // folder of the model store; "": the user's own
	Cache  string              // folder of the reply cache, for models with cache: true
	Record *Recorder           // nil: replies are not recorded
	Prices Prices              // what models cost; nil: Published
	Truth  Truth               // what simulated members may know of the questions; may be nil
	Hidden bool                // open members so that their hidden states can be had, where they have any
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
	embeddedProvider,
	endpoint("openai", "any OpenAI-compatible server: OpenAI, vLLM, llama.cpp's server, gateways", "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
	endpoint("ollama", "a local Ollama", "http://127.0.0.1:11434", "OLLAMA_HOST", ""),
	Provider{
		Entry: synod.Entry{Name: "recorded", Summary: "real replies from a trace file, replayed by item, model and trial; always labelled as such"},
		About: `path       a JSONL file: benchmark, item_id, model, trial, response, perhaps question, answer, confidence
model      whose replies, as the file names it
benchmark  only rows of this benchmark
answers    response (read from the reply) or source (the row's answer, where it has one)

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
