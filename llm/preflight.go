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
		return fmt.Sprintf("the server answers; it offers no list of models (HTTP %d), so key and model were not "+
			"checked", list.status), nil
	}
	names := modelNames(list.body)
	switch {
	case slices.Contains(names, m.cfg.Model), slices.Contains(names, m.cfg.Model+":latest"):
		return "the server answers and lists the model", nil
	case len(names) < 2:
		return "the server answers; its list of models does not tell whether it knows this one", nil
	}
	one, f := m.get(ctx, m.models(url.PathEscape(m.cfg.Model)), maxModelList)
	if f == nil && one.status == http.StatusOK {
		return "the server answers and knows the model", nil
	}
	return "", failure(synod.Unavailable, "the server knows no model called %q%s; it lists: %s", m.cfg.Model,
		synod.Hint(m.cfg.Model, names), m.redact(shorten(oneLine(strings.Join(names, ", ")))))
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

// Advice says what the owner of the council file can do about a failure that does not pass by
// itself; "" if there is nothing. model is the name of the model in the council file, and
// why the reason of the failure.
func Advice(status synod.Status, model, why string) string {
	missing := strings.Contains(why, "HTTP 404") || strings.Contains(why, "knows no model")
	switch {
	case status == synod.Auth && strings.Contains(why, "is not set"):
		return "set the variable, or name another one as models." + model + ".key_env"
	case status == synod.Auth:
		return "check the key that models." + model + ".key_env names, and what it may use"
	case status == synod.Unavailable && missing:
		return "correct models." + model + ".model or models." + model + ".url"
	case status == synod.Unavailable:
		return "start the server, or correct models." + model + ".url"
	case status == synod.RateLimited:
		return "wait, or set models." + model + ".per_minute"
	case status == synod.Timeout:
		return "give it more time with models." + model + ".timeout"
	}
	return ""
}

// AsPreflight reports whether an error of Preflight means that calls would fail too. A server
// that is slow or out of order now may be well in a moment.
func AsPreflight(err error) (*Failure, bool) {
	f, ok := errors.AsType[*Failure](err)
	return f, ok && (f.Status == synod.Auth || f.Status == synod.Unavailable)
}
