package llm

import (
	"time"

	"synod.dev/synod"
)

// Provider is a way to get a model: an entry of the catalogue Providers. A
// program of another module adds its own before it starts:
//
//	llm.Providers.Add(llm.Provider{
//		Kind:     llm.Endpoint,
//		Entry:    synod.Entry{Name: "mine", Summary: "my own client"},
//		Settings: func() any { return &settings{} },
//		Open: func(o llm.Opening) (llm.Opened, error) {
//			s := settings{Common: llm.Common{Timeout: time.Minute}}
//			if err := o.Decode(&s); err != nil {
//				return llm.Opened{}, err
//			}
//			return llm.Opened{Model: newClient(s), Common: s.Common, Account: s.URL}, nil
//		},
//	})
type Provider struct {
	synod.Entry
	Kind  Kind   // of every model of this provider; Info returns the same
	About string // the keys of the settings, one a line, for "synod explain"
	// Settings returns a pointer to a struct with the keys that the provider takes and their defaults, described by
	// tags (param.Fields).
	Settings func() any
	// Uses lists what a model with these settings sends where, and which files of this
	// machine it reads, for somebody who decides whether to trust them: lines such as
	// "sends questions to https://…". Nil: all settings are shown.
	Uses func(decode func(into any) error) []string
	// Open reads the settings and opens the model. It sends nothing. Errors are
	// for the author of the settings.
	Open func(o Opening) (Opened, error)
}

// Opening is what a provider opens a model with.
type Opening struct {
	Decode func(into any) error // writes the settings over the defaults in a struct; fails for unknown keys
	Exact  bool                 // use the papers' sampling where the settings give no others
	Env    Env
}

// Opened is an open model and how the pool is to treat it. Only Model is
// required.
type Opened struct {
	Model Model
	Common

	// Account names the address and the identity of the key, and holds no secret
	// itself. Users of models with equal provider, Account and Info.Model (or
	// Info.Name) share limits and circuit breakers; endpoints with equal, non-empty
	// Info.Identity and time limit share one of the models, and the others are
	// closed.
	Account   string
	MaxTokens int // tokens that a reply has at most, for budgets; 0: 1000

	StoresPrompts bool // the server is asked to keep prompts in its cache, which may cost more than reading them
}

// Common are the settings that all models which call somebody share. Struct
// tags: embed it with `yaml:",inline"`.
type Common struct {
	Timeout     time.Duration `yaml:"timeout" doc:"time limit of one request; a call that takes longer fails; 0s: none" range:"0s:24h" example:"30s"`
	Concurrency int           `yaml:"concurrency" doc:"requests at once, of all councils in the process that use the model; 0: no limit" range:"0:100000" example:"8"`
	PerMinute   int           `yaml:"per_minute" doc:"requests started in a minute, likewise; 0: no limit" range:"0:1000000" example:"60" unit:"requests a minute"`
	Attempts    int           `yaml:"attempts" doc:"the most requests for one call, with waits between them; 0: 5" range:"0:100" example:"3"`
	Cache       bool          `yaml:"cache" doc:"keep replies on disk and use them again"`
}

const commonAbout = `
timeout      of one request, such as 30s
concurrency  requests at once, of all councils in the process that use the model
per_minute   requests started in a minute, likewise
attempts     requests for one call at most, with waits between them
cache        true: keep replies on disk and use them again`
