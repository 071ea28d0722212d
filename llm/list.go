package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

// lister is a model whose server lists its models for free.
type lister interface {
	list(ctx context.Context) ([]string, error)
}

// maxListed is how many names of a server's list are returned.
const maxListed = 5000

// ListModels asks the server of a provider for the names of its models, in the server's order and each once. settings
// are those of a model without its name, such as url and key_env. It sends the key that the settings name, or the
// provider's own, and costs nothing. The result's Info has the server, also where the list could not be had. The error
// is a *Failure if the server cannot be asked, refuses, or has no list.
func ListModels(ctx context.Context, provider string, settings map[string]any, env Env) (Info, []string, error) {
	p, err := Providers.Find(provider)
	if err != nil {
		return Info{}, nil, err
	}
	given := map[string]any{"model": "any"}
	for key, value := range settings {
		given[key] = value
	}
	opened, err := p.Open(Opening{Env: env, Decode: func(into any) error { return param.Decode(given, into) }})
	if err != nil {
		return Info{}, nil, err
	}
	if c, ok := opened.Model.(Closer); ok {
		defer c.Close()
	}
	l, ok := opened.Model.(lister)
	if !ok {
		return opened.Model.Info(), nil, fmt.Errorf("llm: provider %s has no list of models", provider)
	}
	names, err := l.list(ctx)
	return opened.Model.Info(), names, err
}

func (k keyless) list(context.Context) ([]string, error) {
	return nil, failure(synod.Auth, "no key: %s is not set", k.env)
}

func (m *OpenAI) list(ctx context.Context) ([]string, error) {
	res, f := m.get(ctx, m.models(), maxModelList)
	if f != nil {
		return nil, f
	}
	if res.status != http.StatusOK {
		return nil, m.refusal(res)
	}
	return m.listed(modelNames(res.body))
}

func (m *native) list(ctx context.Context) ([]string, error) {
	at := m.describes.JoinPath("..")
	res, f := m.get(ctx, &url.URL{Scheme: at.Scheme, Host: at.Host, Path: strings.TrimSuffix(at.Path, "/"),
		RawQuery: m.maker.most}, maxModelList)
	if f != nil {
		return nil, f
	}
	if res.status != http.StatusOK {
		return nil, m.refusal(res)
	}
	return m.listed(m.maker.all(res.body))
}

// listed returns the names of a list that can be a model's name: text of one line without secrets, at most 200 bytes.
func (m *httpClient) listed(names []string) ([]string, error) {
	seen, kept := map[string]bool{}, []string{}
	for _, name := range names {
		if name == "" || len(name) > 200 || oneLine(name) != name || m.redact(name) != name || seen[name] {
			continue
		}
		seen[name] = true
		kept = append(kept, name)
	}
	if len(kept) == 0 {
		return nil, &Failure{Status: synod.Unreadable, Err: errors.New("the server's list of models is empty or " +
			"cannot be read")}
	}
	return kept[:min(len(kept), maxListed)], nil
}
