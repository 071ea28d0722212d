package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"time"

	"synod.dev/synod"
)

// NativeCommon are the keys of every model behind the API of its maker.
type NativeCommon struct {
	Common      `yaml:",inline"`
	URL         string   `yaml:"url" doc:"base of the API; default: the maker's" example:"https://proxy.example/v1"`
	Model       string   `yaml:"model" doc:"the model's name at the server" example:"claude-haiku-4-5"`
	KeyEnv      string   `yaml:"key_env" doc:"the environment variable that holds the key; never the key itself" example:"ANTHROPIC_API_KEY"`
	Temperature *float64 `yaml:"temperature" doc:"sampling temperature; default: the server's" range:"0:2" example:"0.2"`
	TopP        *float64 `yaml:"top_p" doc:"nucleus sampling; default: the server's" range:"0:1" example:"0.9"`
	MaxTokens   int      `yaml:"max_tokens" doc:"tokens of one reply, without the thoughts that thinking allows" range:"1:16777216" unit:"tokens" example:"1000"`
	Private     bool     `yaml:"private" doc:"the name in the url may lead to a private address"`
	Accepts     []string `yaml:"accepts" doc:"what the model takes beside text, as a list: image, file, audio; [] for text only; default: all that its API has" example:"[image]"`
}

func (s *NativeCommon) timeout() time.Duration { return cmp.Or(s.Timeout, DefaultTimeout) }

// anthropicSettings are the keys of provider anthropic.
type anthropicSettings struct {
	NativeCommon `yaml:",inline"`
	Thinking     *int `yaml:"thinking" doc:"tokens of thoughts before the answer, from 1024; 0: none; -1: the model decides; default: the server's" range:"-1:1048576" unit:"tokens" example:"2048"`
	PromptCache  bool `yaml:"prompt_cache" doc:"ask the server to keep the system prompt in its cache, which pays for long ones"`
}

// geminiSettings are the keys of provider gemini.
type geminiSettings struct {
	NativeCommon `yaml:",inline"`
	Thinking     *int   `yaml:"thinking" doc:"tokens of thoughts before the answer; 0: none; -1: the model decides; default: the server's" range:"-1:1048576" unit:"tokens" example:"0"`
	Seed         *int64 `yaml:"seed" doc:"sent to the server with prompts that have no seed of their own" example:"1234"`
}

func nativeDefaults() NativeCommon {
	return NativeCommon{Common: Common{Timeout: DefaultTimeout}, MaxTokens: paperTokens}
}

// exactly sets the sampling of the papers' reference code (SAC-9).
func (s *NativeCommon) exactly(o Opening) {
	if o.Exact {
		s.Temperature, s.TopP = new(paperTemperature), new(paperTopP)
	}
}

var anthropicProvider = nativeProvider(anthropic, "Claude models through Anthropic's own API",
	`thinking     tokens of thoughts before the answer (at least 1024); 0: none; -1: the model decides
prompt_cache true: ask the server to keep the system prompt in its cache`,
	func() any { return &anthropicSettings{NativeCommon: nativeDefaults()} },
	func(o Opening) (nativeConfig, error) {
		s := anthropicSettings{NativeCommon: nativeDefaults()}
		s.exactly(o)
		err := o.Decode(&s)
		if t := s.Thinking; err == nil && t != nil && *t > 0 && *t < 1024 {
			err = fmt.Errorf("thinking: %d: Anthropic's API takes 0, -1 (the model decides) or at least 1024 tokens",
				*t)
		}
		return nativeConfig{NativeCommon: s.NativeCommon, Thinking: s.Thinking, PromptCache: s.PromptCache}, err
	})

var geminiProvider = nativeProvider(gemini, "Gemini models through Google's own API",
	`thinking     tokens of thoughts before the answer; 0: none; -1: the model decides
seed         sent with prompts that have no seed of their own`,
	func() any { return &geminiSettings{NativeCommon: nativeDefaults()} },
	func(o Opening) (nativeConfig, error) {
		s := geminiSettings{NativeCommon: nativeDefaults()}
		s.exactly(o)
		if o.Exact {
			s.Seed = new(int64(paperSeed))
		}
		err := o.Decode(&s)
		return nativeConfig{NativeCommon: s.NativeCommon, Thinking: s.Thinking, Seed: s.Seed}, err
	})

// nativeProvider returns the provider of a maker's API. read decodes its settings.
func nativeProvider(k *maker, summary, keys string, settings func() any,
	read func(Opening) (nativeConfig, error)) Provider {
	return Provider{
		Kind:  Endpoint,
		Entry: synod.Entry{Name: k.name, Summary: summary},
		About: fmt.Sprintf(`url          base of the API (default: %s)
model        the model's name at the server, such as %s
key_env      the environment variable that holds the key (default: %s, where no url is given)
temperature, top_p, max_tokens
%s
private      true: the url's name may lead to a private address
accepts      what the model takes beside text: image, file, audio (default: all; [] for text only)`, k.base, examples[k.name], k.keyEnv, keys) +
			commonAbout,
		Settings: settings,
		Uses: func(decode func(any) error) []string {
			c, err := read(Opening{Decode: decode})
			if err != nil {
				return nil // it cannot be opened
			}
			to := "sends questions to " + cmp.Or(StripURL(c.URL), k.base)
			if c.URL == "" {
				to = "sends questions to " + k.base
			}
			if _, name := k.keyOf(&c.NativeCommon, Env{}); name != "" {
				to += " with the key in the environment variable " + name
			}
			return []string{to}
		},
		Open: func(o Opening) (Opened, error) {
			c, err := read(o)
			if err = cmp.Or(err, checkAccepts(c.Accepts)); err != nil {
				return Opened{}, err
			}
			return openNative(k, c, o.Env)
		},
	}
}

func openNative(k *maker, c nativeConfig, env Env) (Opened, error) {
	key, variable := k.keyOf(&c.NativeCommon, env)
	if u, err := url.Parse(c.URL); err == nil && u.User != nil {
		return Opened{}, errors.New("the url contains a password; put the key into an environment variable and name " +
			"that as key_env")
	}
	c.URL = cmp.Or(c.URL, k.base)
	m, err := newNative(k, c, key)
	if err != nil {
		return Opened{}, err
	}
	opened := Opened{Model: m, Common: c.Common, MaxTokens: c.tokens(), StoresPrompts: c.PromptCache}
	opened.Account = fmt.Sprintf("%s key=%s private=%t", StripURL(c.URL), key.identity(), c.Private)
	if variable != "" && key.IsZero() {
		opened.Model = keyless{layered{m}, variable}
		opened.Account += " missing=" + variable // it shares nothing with a model that needs no key
	}
	return opened, nil
}
