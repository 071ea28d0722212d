package plan

import (
	"fmt"
	"maps"
	"strings"

	"synod.dev/synod/llm"
)

// withoutQueries returns models whose URLs have no query, which may contain a key and
// must not be recorded. In its place the settings name the environment variable that
// Queries returns, where a resumed run finds it.
func withoutQueries(models map[string]Params) map[string]Params {
	var out map[string]Params
	for _, name := range sortedKeys(models) {
		base, query := queryOf(models[name])
		if query == "" {
			continue
		}
		if out == nil {
			out = maps.Clone(models)
		}
		out[name] = maps.Clone(models[name])
		out[name]["url"], out[name]["query_env"] = base, queryEnv(name)
	}
	if out == nil {
		return models
	}
	return out
}

// WithoutQueries returns the spec as it may be recorded: the URLs of its models have no query.
func (s Spec) WithoutQueries() Spec {
	s.Models = withoutQueries(s.Models)
	return s
}

// Shown returns the spec as a person may see it: WithoutQueries, without passwords in URLs, which are refused when the
// council convenes, and without the path of the webhook, which often is its only secret.
func (s Spec) Shown() Spec {
	s.Models = maps.Clone(withoutQueries(s.Models))
	for name, m := range s.Models {
		if raw, _ := m["url"].(string); strings.Contains(raw, "@") {
			m = maps.Clone(m)
			m["url"] = llm.StripURL(raw)
			s.Models[name] = m
		}
	}
	if e := &s.Breakers.Escalate; e.Webhook != "" {
		e.Webhook = llm.Site(e.Webhook)
	}
	return s
}

// Queries returns the queries of the models' URLs by the names of the environment
// variables that a record of the spec names in their place.
func (s *Spec) Queries() map[string]string {
	all := map[string]string{}
	for name, m := range s.Models {
		if _, query := queryOf(m); query != "" {
			all[queryEnv(name)] = query
		}
	}
	return all
}

// WithQueries returns the spec that WithoutQueries was called for, from the result of
// Queries.
func (s Spec) WithQueries(queries map[string]string) Spec {
	if len(queries) == 0 {
		return s
	}
	s.Models = maps.Clone(s.Models)
	for name, m := range s.Models {
		base, _ := m["url"].(string)
		if query := queries[queryEnv(name)]; query != "" && m["query_env"] == queryEnv(name) {
			m = maps.Clone(m)
			m["url"] = base + "?" + query
			delete(m, "query_env")
			s.Models[name] = m
		}
	}
	return s
}

func queryOf(model Params) (base, query string) {
	raw, _ := model["url"].(string)
	if !strings.ContainsAny(raw, "?#") {
		return raw, ""
	}
	raw, _, _ = strings.Cut(raw, "#")
	_, query, _ = strings.Cut(raw, "?")
	return llm.StripURL(raw), query
}

// queryEnv names the environment variable with the query of a model's URL. Bytes other
// than letters and digits are written as their number.
func queryEnv(model string) string {
	var b strings.Builder
	b.WriteString("SYNOD_QUERY_")
	for _, c := range []byte(model) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02X", c)
		}
	}
	return b.String()
}
