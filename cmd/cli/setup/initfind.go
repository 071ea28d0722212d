package setup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/seating"
	"synod.dev/synod/llm"
)

// source is a server that synod init asks for its models.
type source struct {
	what     string // for people
	provider string
	url      string // in the council file; "": the provider's own
	keyEnv   string // the variable whose key is sent; "": none
	named    bool   // the user or a key names it, so an error is shown

	info  llm.Info
	names []string // its models
	err   error
}

// accounts are the hosted APIs that a key in the environment opens.
var accounts = []source{
	{what: "OpenAI", provider: "openai", keyEnv: "OPENAI_API_KEY"},
	{what: "Anthropic", provider: "anthropic", keyEnv: "ANTHROPIC_API_KEY"},
	{what: "Google", provider: "gemini", keyEnv: "GEMINI_API_KEY"},
	{what: "OpenRouter", provider: "openrouter", keyEnv: "OPENROUTER_API_KEY"},
	{what: "Groq", provider: "openai", url: "https://api.groq.com/openai/v1", keyEnv: "GROQ_API_KEY"},
	{what: "Mistral", provider: "openai", url: "https://api.mistral.ai/v1", keyEnv: "MISTRAL_API_KEY"},
	{what: "Together", provider: "openai", url: "https://api.together.xyz/v1", keyEnv: "TOGETHER_API_KEY"},
	{what: "DeepSeek", provider: "openai", url: "https://api.deepseek.com/v1", keyEnv: "DEEPSEEK_API_KEY"},
	{what: "xAI", provider: "openai", url: "https://api.x.ai/v1", keyEnv: "XAI_API_KEY"},
}

// usualServers are where vLLM, llama.cpp and LM Studio listen if nobody says otherwise.
var usualServers = []string{"127.0.0.1:8000", "127.0.0.1:8080", "127.0.0.1:1234"}

// findSources lists the servers to ask: those of keys in the environment, Ollama, and servers on this machine.
func findSources(servers []string, named bool) ([]source, error) {
	var all []source
	for _, s := range accounts {
		s.named = true
		openAI := s.keyEnv == "OPENAI_API_KEY" && os.Getenv("OPENAI_BASE_URL") != ""
		if openAI {
			s.what = "OPENAI_BASE_URL"
		}
		if os.Getenv(s.keyEnv) != "" {
			all = append(all, s)
		} else if openAI { // a server of one's own often wants no key
			s.url, s.keyEnv = os.Getenv("OPENAI_BASE_URL"), ""
			all = append(all, s)
		}
	}
	if _, err := llm.OllamaURL(os.Getenv("OLLAMA_HOST")); err != nil {
		return nil, app.Fail(app.ExitUsage, err, "example: OLLAMA_HOST=127.0.0.1:11434")
	}
	all = append(all, source{what: "Ollama", provider: "ollama", named: os.Getenv("OLLAMA_HOST") != ""})
	for _, at := range servers {
		base := at
		if !strings.Contains(at, "://") {
			if _, _, err := net.SplitHostPort(at); err != nil {
				return nil, app.Fail(app.ExitUsage, fmt.Errorf("--server is %q; it must be HOST:PORT or a URL, such "+
					"as 127.0.0.1:8000", at))
			}
			base = "http://" + at
		}
		u, err := url.Parse(base)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" {
			return nil, app.Fail(app.ExitUsage, fmt.Errorf("--server is %q; it must be HOST:PORT or a URL without "+
				"password and query, such as http://127.0.0.1:8000/v1", llm.StripURL(base)))
		}
		all = append(all, source{what: "server " + u.Host, provider: "openai", url: base, named: named})
	}
	return all, nil
}

// longestProbe is how long a server may take for its list of models.
const longestProbe = 5 * time.Second

// probeSources asks all servers at once for their models. It returns those that have some and those whose error is
// worth showing; of two that are the same server the first.
func probeSources(a *app.App, ctx context.Context, all []source) []source {
	ctx, cancel := context.WithTimeout(ctx, longestProbe)
	defer cancel()
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { all[i].ask(ctx, a.Env()) })
	}
	wait.Wait()
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(s source) bool {
		if s.err == nil && seen[s.info.Server] {
			return true
		}
		seen[s.info.Server] = s.err == nil || seen[s.info.Server]
		return s.err != nil && !s.named
	})
}

// settings are those of a model at the server.
func (s *source) settings() map[string]any {
	m := map[string]any{}
	if s.url != "" {
		m["url"] = s.url
		if s.keyEnv != "" {
			m["key_env"] = s.keyEnv
		}
	}
	return m
}

// gateway is how the names of a synod gateway's pass-through models begin.
const gateway = "solo:"

func (s *source) ask(ctx context.Context, env llm.Env) {
	s.info, s.names, s.err = llm.ListModels(ctx, s.provider, s.settings(), env)
	if s.err != nil {
		s.err = errors.New(reason(s.err))
		return
	}
	if slices.ContainsFunc(s.names, func(name string) bool { return strings.HasPrefix(name, gateway) }) {
		s.err = errors.New("it is a gateway of synod, and a council cannot be its own member")
	}
}

// reason says why a server could not be asked.
func reason(err error) string {
	if f, ok := errors.AsType[*llm.Failure](err); ok {
		return f.Reason()
	}
	return err.Error()
}

// local reports whether the server is on this machine or in a private network and wants no key. One that wants a key
// may be a proxy to models that cost something.
func (s *source) local() bool {
	if s.keyEnv != "" {
		return false
	}
	host := s.info.Server
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && (at.IsLoopback() || at.IsPrivate())
}

// candidates are the models of all servers with what is known of their prices.
func candidates(a *app.App, all []source) (list []seating.Candidate) {
	for i := range all {
		s := &all[i]
		for _, name := range s.names {
			c := seating.Candidate{Name: name, Source: i, Local: s.local()}
			if p, known := priceOf(a, s, name); known {
				c.USD = new(p.Prompt + p.Completion)
			}
			list = append(list, c)
		}
		list = append(list, aliases(a, i, s)...)
	}
	return list
}

func priceOf(a *app.App, s *source, name string) (llm.Price, bool) {
	info := s.info
	info.Model = name
	prices := a.Prices
	if prices == nil {
		prices = llm.Published()
	}
	price, known := prices.Of(info)
	if s.keyEnv != "" && price == (llm.Price{}) { // it may be a proxy to models that cost something
		return price, false
	}
	return price, known
}

// aliases are the names without a date of Anthropic's models, whose list has only dated ones and whose price
// is listed for the alias: claude-haiku-4-5 of claude-haiku-4-5-20251001.
func aliases(a *app.App, at int, s *source) (list []seating.Candidate) {
	if s.provider != "anthropic" {
		return nil
	}
	for _, name := range s.names {
		i := strings.LastIndexByte(name, '-')
		if i < 0 || len(name)-i != len("-20251001") {
			continue
		}
		if p, known := priceOf(a, s, name[:i]); known && !slices.Contains(s.names, name[:i]) {
			list = append(list, seating.Candidate{Name: name[:i], Source: at, USD: new(p.Prompt + p.Completion)})
		}
	}
	return list
}
