package llm

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"synod.dev/synod"
)

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

// models returns the address of the server's models, or of one of them.
func (m *OpenAI) models(path ...string) *url.URL {
	return m.endpoint.JoinPath(append([]string{"..", "..", "models"}, path...)...)
}
