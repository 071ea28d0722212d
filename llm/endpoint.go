package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"synod.dev/synod"
)

// endpointSettings are the keys of a model behind an HTTP API.
type endpointSettings struct {
	Common       `yaml:",inline"`
	URL          string                    `yaml:"url" doc:"base of the API, with or without /v1; default: the provider's" example:"http://127.0.0.1:8000/v1"`
	Model        string                    `yaml:"model" doc:"the model's name at the server" example:"gpt-4o-mini"`
	KeyEnv       string                    `yaml:"key_env" doc:"the environment variable that holds the key; never the key itself" example:"OPENAI_API_KEY"`
	QueryEnv     string                    `yaml:"query_env" doc:"the environment variable that holds the query of the url (what follows the ?), which may contain a key" example:"AZURE_QUERY"`
	Temperature  *float64                  `yaml:"temperature" doc:"sampling temperature; default: the server's" range:"0:100" example:"0.2"`
	Temperatures map[synod.Purpose]float64 `yaml:"temperatures" doc:"temperatures of prompts of one purpose, in place of temperature: answer, score, refine, grade, grade-all, propose, vote" example:"{vote: 0.3}"`
	TopP         *float64                  `yaml:"top_p" doc:"nucleus sampling; default: the server's" range:"0:1" example:"0.9"`
	Tokens       int                       `yaml:"max_tokens" doc:"tokens of one reply" range:"1:16777216" unit:"tokens" example:"1000"`
	Seed         *int64                    `yaml:"seed" doc:"sent to the server with each request" example:"1234"`
	Logprobs     bool                      `yaml:"logprobs" doc:"ask for token log-probabilities"`
	Private      bool                      `yaml:"private" doc:"the name in the url may lead to a private address"`
	Accepts      []string                  `yaml:"accepts" doc:"what the model takes beside text, as a list: image, file, audio; [] for text only; default: all that its API has" example:"[image]"`
}

// endpoint returns a provider behind an HTTP API: its default base URL, and the
// environment variables that hold another one and the key ("": none).
func endpoint(name, summary, base, urlEnv, keyEnv string) Provider {
	where := base
	if urlEnv != "" {
		where = "$" + urlEnv + ", else " + base
	}
	return Provider{
		Kind:  Endpoint,
		Entry: synod.Entry{Name: name, Summary: summary},
		About: fmt.Sprintf(`url          base of the API, with or without /v1 (default: %s)
model        the model's name at the server
key_env      the environment variable that holds the key (default: %s, where no url is given)
query_env    the environment variable that holds the query of the url, without the ?
temperature, top_p, max_tokens, seed
temperatures of prompts of one purpose, such as {propose: 0.5, vote: 0.3}
logprobs     true: ask for token log-probabilities, for probe: likelihood and synod calibrate
private      true: the url's name may lead to a private address
accepts      what the model takes beside text: image, file, audio (default: all; [] for text only)`, where, cmp.Or(keyEnv, "none")) + commonAbout,
		Settings: func() any { s := endpointDefaults(); return &s },
		Uses: func(decode func(any) error) []string {
			var s endpointSettings
			if decode(&s) != nil {
				return nil // it cannot be opened
			}
			if s.URL == "" {
				s.KeyEnv = cmp.Or(s.KeyEnv, keyEnv)
			} else {
				s.URL = StripURL(s.URL)
			}
			to := "sends questions to " + cmp.Or(s.URL, where)
			if s.QueryEnv != "" {
				to += " with the query in the environment variable " + s.QueryEnv
			}
			if s.KeyEnv != "" {
				to += " with the key in the environment variable " + s.KeyEnv
			}
			return []string{to}
		},
		Open: func(o Opening) (Opened, error) { return openEndpoint(o, base, urlEnv, keyEnv) },
	}
}

func endpointDefaults() endpointSettings {
	return endpointSettings{Common: Common{Timeout: DefaultTimeout}, Tokens: paperTokens}
}

func openEndpoint(o Opening, base, urlEnv, keyEnv string) (Opened, error) {
	s := endpointDefaults()
	if o.Exact {
		temperature, topP, seed := paperTemperature, paperTopP, int64(paperSeed)
		s.Temperature, s.TopP, s.Seed = &temperature, &topP, &seed
	}
	if err := o.Decode(&s); err != nil {
		return Opened{}, err
	}
	if s.URL == "" {
		s.KeyEnv = cmp.Or(s.KeyEnv, keyEnv) // never to a server that only the council file names
		var err error
		if s.URL, err = defaultURL(o.Env, base, urlEnv); err != nil {
			return Opened{}, err
		}
	}
	if err := cmp.Or(s.checkURL(o.Env), checkAccepts(s.Accepts), checkTemperatures(s.Temperatures)); err != nil {
		return Opened{}, err
	}
	c := OpenAIConfig{
		URL: s.URL, Model: s.Model, Temperature: s.Temperature, Temperatures: s.Temperatures,
		TopP:      s.TopP,
		MaxTokens: s.Tokens, Seed: s.Seed, Timeout: s.Timeout, Logprobs: s.Logprobs, Private: s.Private,
		Accepts: s.Accepts,
	}
	if s.KeyEnv != "" {
		c.Key = NewSecret(o.Env.getenv(s.KeyEnv))
	}
	m, err := NewOpenAI(c)
	if err != nil {
		return Opened{}, err
	}
	opened := Opened{Model: m, Common: s.Common, MaxTokens: s.Tokens}
	opened.Account = fmt.Sprintf("%s key=%s private=%t", StripURL(s.URL), c.Key.identity(), s.Private)
	if s.KeyEnv != "" && c.Key.IsZero() {
		opened.Model = keyless{layered{m}, s.KeyEnv}
		opened.Account += " missing=" + s.KeyEnv // it shares nothing with a model that needs no key
	}
	return opened, nil
}

// purposes are those of prompts whose replies are sampled.
var purposes = []string{"answer", "score", "refine", "grade", "grade-all", "propose", "vote"}

func checkTemperatures(by map[synod.Purpose]float64) error {
	for _, purpose := range slices.Sorted(maps.Keys(by)) {
		switch t := by[purpose]; {
		case !slices.Contains(purposes, string(purpose)):
			return fmt.Errorf("temperatures: no prompt has the purpose %q%s; they are %s", purpose,
				synod.Hint(string(purpose), purposes), strings.Join(purposes, ", "))
		case !(t >= 0 && t <= 100):
			return fmt.Errorf("temperatures: %s is %v; it must be between 0 and 100", purpose, t)
		}
	}
	return nil
}

// checkURL refuses a URL with a password, and adds the query that an environment variable
// holds.
func (s *endpointSettings) checkURL(env Env) error {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil // NewOpenAI says so, without the URL
	}
	if u.User != nil {
		return errors.New("the url contains a password; put the key into an environment variable and name that as " +
			"key_env")
	}
	if s.QueryEnv == "" {
		return nil
	}
	query := strings.TrimPrefix(strings.TrimSpace(env.getenv(s.QueryEnv)), "?")
	switch {
	case u.RawQuery != "":
		return errors.New("the url has a query, and query_env names another; give one of them")
	case query == "":
		return fmt.Errorf("query_env: %s is not set; it must hold the query of the url, which is not recorded: what "+
			"follows the ?, such as api-version=2026-01-01", s.QueryEnv)
	}
	u.RawQuery = query
	s.URL = u.String()
	return nil
}

// keyless is a model whose key is missing. Every call fails and nothing is sent.
type keyless struct {
	layered
	env string
}

func (k keyless) Complete(context.Context, Request) (synod.Reply, error) {
	return failed(synod.Reply{}, failure(synod.Auth, "no key: %s is not set", k.env))
}

// defaultURL returns the base of the API where the settings have no url.
func defaultURL(env Env, base, urlEnv string) (string, error) {
	switch urlEnv {
	case "":
		return base, nil
	case "OLLAMA_HOST": // a host where Ollama listens, not a URL
		return OllamaURL(env.getenv(urlEnv))
	}
	return cmp.Or(env.getenv(urlEnv), base), nil
}

// Preflight fails: the key is missing.
func (k keyless) Preflight(ctx context.Context) (string, error) {
	_, err := k.Complete(ctx, Request{})
	return "", err
}
