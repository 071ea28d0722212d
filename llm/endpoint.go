package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"synod.dev/synod"
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

// endpoint is a provider behind an HTTP API: where it is found, and the variables
// of the environment that say where instead and with which key ("": none).
func endpoint(name, summary, base, urlEnv, keyEnv string) Provider {
	where := base
	if urlEnv != "" {
		where = "$" + urlEnv + ", else " + base
	}
	return Provider{
		Entry: synod.Entry{Name: name, Summary: summary},
		About: fmt.Sprintf(`url          base of the API, with or without /v1 (default: %s)
model        the model's name at the server
key_env      the environment variable that holds the key (default: %s, where no url is given)
temperature, top_p, max_tokens, seed
logprobs     true: ask for token log-probabilities
private      true: the url's name may lead to a private address`, where, cmp.Or(keyEnv, "none")) + commonAbout,
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
		s.KeyEnv = cmp.Or(s.KeyEnv, keyEnv) // never to a server that only the council file names
		var err error
		if s.URL, err = defaultURL(o.env, base, urlEnv); err != nil {
			return nil, Common{}, err
		}
	}
	if u, err := url.Parse(s.URL); err == nil && u.User != nil {
		return nil, Common{}, errors.New("the url holds a password; put the key into an environment variable and name that as key_env")
	}
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
	if s.KeyEnv != "" && c.Key.IsZero() {
		return keyless{layered{m}, s.KeyEnv}, s.Common, nil
	}
	return m, s.Common, nil
}

// keyless stands for a model whose key is missing: it says so and sends nothing.
type keyless struct {
	layered
	env string
}

func (k keyless) Complete(context.Context, Request) (synod.Reply, error) {
	return failed(synod.Reply{}, &Failure{Status: synod.Auth, Err: fmt.Errorf("no key: %s is not set", k.env)})
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
