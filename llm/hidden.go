package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"

	"synod.dev/synod"
	"synod.dev/synod/llm/probe"
)

const (
	hiddenURL   = "http://127.0.0.1:8350"
	hiddenToken = "SYNOD_HIDDEN_TOKEN"
)

var hiddenProvider = Provider{
	Kind: Endpoint,
	Entry: synod.Entry{Name: "hidden",
		Summary: "any open model behind llm/hidden/server.py, which shows hidden states"},
	About: fmt.Sprintf(`url          of the server (default: %s)
model        the name of the model that the server must serve, as it prints it
revision     the commit that the server must serve, or the beginning of the SHA-256 of its files
key_env      the environment variable with the server's token (default: %s, where no url is given)
temperature, top_p, max_tokens, answers, refine, probe
             as of provider embedded; replies follow a schema if it does not contain itself
private      true: the url's name may lead to a private address`, hiddenURL, hiddenToken) + commonAbout,
	Settings: func() any { s := hiddenDefaults(false); return &s },
	Uses: func(decode func(any) error) []string {
		s := hiddenDefaults(false)
		if decode(&s) != nil {
			return nil // it cannot be opened
		}
		to := "sends questions to " + StripURL(cmp.Or(s.URL, hiddenURL))
		if s.token() != "" {
			to += " with the token in the environment variable " + s.token()
		}
		if s.Probe == "" {
			return []string{to}
		}
		return []string{to, "reads the probe " + s.Probe}
	},
	Open: openHidden,
}

// hiddenSettings are the settings of a model behind a server that shows hidden states.
type hiddenSettings struct {
	Common   `yaml:",inline"`
	URL      string `yaml:"url" doc:"of llm/hidden/server.py; default: port 8350 of this machine" example:"http://127.0.0.1:8350"`
	Model    string `yaml:"model" doc:"name of the model that the server must serve" example:"meta-llama/Llama-3.1-8B-Instruct"`
	Revision string `yaml:"revision" doc:"the commit that the server must serve, or the beginning of the SHA-256 of its files"`
	KeyEnv   string `yaml:"key_env" doc:"the environment variable that holds the server's token; never the token itself" example:"SYNOD_HIDDEN_TOKEN"`
	Private  bool   `yaml:"private" doc:"the name in the url may lead to a private address"`
	Speech   `yaml:",inline"`
}

func hiddenDefaults(exact bool) hiddenSettings {
	return hiddenSettings{Common: Common{Timeout: embeddedTimeout, Concurrency: 4}, Speech: speechDefaults(exact)}
}

// token names the variable with the token: never the standard one for a server that only the council file names.
func (s *hiddenSettings) token() string {
	if s.URL == "" {
		return cmp.Or(s.KeyEnv, hiddenToken)
	}
	return s.KeyEnv
}

func openHidden(o Opening) (Opened, error) {
	s := hiddenDefaults(o.Exact)
	if err := o.Decode(&s); err != nil {
		return Opened{}, err
	}
	if s.Model == "" {
		return Opened{}, errors.New("no model is named; the server prints the name of its model")
	}
	if err := s.validate(); err != nil {
		return Opened{}, err
	}
	raw, err := normalizeAPI(cmp.Or(s.URL, hiddenURL), "v1", "")
	if err != nil {
		return Opened{}, err
	}
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || u.RawQuery != "" {
		return Opened{}, errors.New("the url has a password or a query; put the token into an environment variable " +
			"and name that as key_env")
	}
	var key Secret
	if s.token() != "" {
		key = NewSecret(o.Env.getenv(s.token()))
	}
	server, err := newStateServer(&s, u, key)
	if err != nil {
		return Opened{}, err
	}
	m := &embedded{cfg: s.Speech, timeout: s.Timeout, host: server,
		subject: probe.Subject{Model: s.Model, Answers: s.Answers}}
	m.info = Info{Kind: Endpoint, Name: s.Model, Server: u.Host, Model: s.Model, Identity: fmt.Sprintf(
		"hidden/1 %s model=%q revision=%q temperature=%v top_p=%v max_tokens=%d answers=%s refine=%s", u, s.Model,
		s.Revision, s.Temperature, s.TopP, s.MaxTokens, s.Answers, s.Refine)}
	if err := m.loadProbe(); err != nil {
		return Opened{}, err
	}
	opened := Opened{Model: served{m, server}, Common: s.Common, MaxTokens: s.MaxTokens,
		Account: fmt.Sprintf("%s key=%s private=%t", u, key.identity(), s.Private)}
	if s.KeyEnv != "" && key.IsZero() {
		opened.Model = keyless{layered{opened.Model}, s.KeyEnv}
		opened.Account += " missing=" + s.KeyEnv
	}
	return opened, nil
}
