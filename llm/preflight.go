package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"synod.dev/synod"
)

// Preflighter is a Model that can be checked by a request that costs nothing.
type Preflighter interface {
	// Preflight returns what it found. The error is a *Failure that calls of the model would
	// have too; its Advice says what to do. A server that cannot be asked for free is no
	// failure.
	Preflight(ctx context.Context) (found string, err error)
}

// Preflight checks the wrapped model.
func (l layered) Preflight(ctx context.Context) (string, error) {
	if p, ok := l.Model.(Preflighter); ok {
		return p.Preflight(ctx)
	}
	return "", nil
}

// Preflight fails: the key is missing.
func (k keyless) Preflight(ctx context.Context) (string, error) {
	_, err := k.Complete(ctx, Request{})
	return "", err
}

// maxModelList is the longest list of models that is read, in bytes.
const maxModelList = 4 << 20

// Preflight gets the server's list of models, as every OpenAI-compatible server offers it for
// free. A model that is not listed is looked up by itself. Servers with one model often
// answer to any name, so there it is no failure.
func (m *OpenAI) Preflight(ctx context.Context) (string, error) {
	list, f := m.get(ctx, m.models(), maxModelList)
	switch {
	case f != nil:
		return "", f
	case list.status == http.StatusUnauthorized || list.status == http.StatusForbidden:
		return "", m.refusal(list)
	case list.status != http.StatusOK:
		if f := m.probe(ctx); f != nil {
			return "", f
		}
		return fmt.Sprintf("the server answers; it offers no list of models (HTTP %d), so key and model were not "+
			"checked", list.status), nil
	}
	names := modelNames(list.body)
	switch {
	case slices.Contains(names, m.cfg.Model), slices.Contains(names, m.cfg.Model+":latest"):
		return "the server answers and lists the model", nil
	case len(names) < 2:
		if f := m.probe(ctx); f != nil {
			return "", f
		}
		return "the server answers; its list of models does not tell whether it knows this one", nil
	}
	one, f := m.get(ctx, m.models(url.PathEscape(m.cfg.Model)), maxModelList)
	if f == nil && one.status == http.StatusOK {
		return "the server answers and knows the model", nil
	}
	return "", failure(synod.Unavailable, "the server knows no model called %q%s; it lists: %s", m.cfg.Model,
		synod.Hint(m.cfg.Model, names), m.redact(shorten(oneLine(strings.Join(names, ", ")))))
}

// probe asks nothing at the path of calls. A server that has the path refuses an empty request, which costs nothing;
// one that has another says so.
func (m *OpenAI) probe(ctx context.Context) *Failure {
	reply, f := m.exchange(ctx, http.MethodPost, m.endpoint, strings.NewReader("{}"), 1<<16)
	if f != nil || reply.status != http.StatusNotFound && reply.status != http.StatusMethodNotAllowed {
		return nil // what else is wrong, the calls say
	}
	if text := strings.ToLower(string(reply.body)); strings.Contains(text, "model") { // no model, but the path
		return nil
	}
	return failure(synod.Unavailable, "no such path: POST %s (HTTP %d)", m.endpoint.EscapedPath(), reply.status)
}

// modelNames reads a list of models. It is empty if the body is none.
func modelNames(body []byte) (names []string) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names
}

// models returns the address of the server's models, or of one of them.
func (m *OpenAI) models(path ...string) *url.URL {
	return m.endpoint.JoinPath(append([]string{"..", "..", "models"}, path...)...)
}

// Settings are those of a model that are written in a council file: its name and keys.
type Settings struct {
	Name string
	Keys map[string]any
}

// places are where a setting comes from if a model has no key for it, by provider.
var places = map[string]map[string]string{
	"url": {"openai": "OPENAI_BASE_URL", "ollama": "OLLAMA_HOST"},
	"key_env": {"openai": "OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY", "anthropic": "ANTHROPIC_API_KEY",
		"gemini": "GEMINI_API_KEY"},
}

// at names where a setting is written, or else the environment variable that has it.
func (s Settings) at(key string) string {
	path := "models." + s.Name + "." + key
	provider, _ := s.Keys["provider"].(string)
	if _, written := s.Keys[key]; written || s.Keys == nil || places[key] == nil {
		return path
	}
	if variable := places[key][provider]; variable != "" {
		return variable
	}
	return path
}

// Advice says what the owner of a council can do about a failure of a model that does not pass by itself; "" if there
// is nothing. server is the model's server, "" if it is not known, and why the reason of the failure.
func Advice(status synod.Status, s Settings, server, why string) string {
	missing := strings.Contains(why, "HTTP 404") || strings.Contains(why, "knows no model") ||
		strings.Contains(why, "no such path")
	switch {
	case status == synod.Auth && strings.Contains(why, "is not set") && s.Keys != nil && s.Keys["key_env"] == nil:
		return "set the variable"
	case status == synod.Auth && strings.Contains(why, "is not set"):
		return "set the variable, or name another one as models." + s.Name + ".key_env"
	case status == synod.Auth:
		return "check the key in " + strings.Replace(s.at("key_env"), "models.", "the variable of models.", 1) +
			", and what it may use"
	case status == synod.Unavailable && missing:
		return "correct " + s.at("model") + " or " + s.at("url")
	case status == synod.Unavailable && strings.Contains(why, "cannot be resolved"):
		return "correct the name of the server in " + s.at("url") + ", or check the network"
	case status == synod.Unavailable && server != "":
		return "start the server at " + server + ", or correct " + s.at("url")
	case status == synod.Unavailable:
		return "start the server, or correct " + s.at("url")
	case status == synod.RateLimited:
		return "wait, or set models." + s.Name + ".per_minute"
	case status == synod.Timeout:
		return "give it more time with models." + s.Name + ".timeout"
	}
	return ""
}

// AsPreflight reports whether an error of Preflight means that calls would fail too. A server
// that is slow or out of order now may be well in a moment.
func AsPreflight(err error) (*Failure, bool) {
	f, ok := errors.AsType[*Failure](err)
	return f, ok && (f.Status == synod.Auth || f.Status == synod.Unavailable)
}
