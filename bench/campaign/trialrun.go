package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

var runTrials = []Trial{
	{Claim: Claim{ID: "DE-1", Property: "with a support rule nothing is decided that fewer members answered before " +
		"they heard others", Model: Any, Source: "finding F7", Margin: "supporters beyond the rule",
		Protocols: []string{"sac", "debate", "majority"}}, try: supported},
	{Claim: Claim{ID: "RU-4k", Property: "a key is in no form that a log, an error or a record writes it in",
		Model: Any, Source: "own (RU-4, SC-30)"}, try: keysHidden},
}

// supported has a council decide whose members often err and among whom one lies.
func supported(t *Tried) {
	protocols := []string{"{name: majority}", "{name: sac, rounds: 2}", "{name: debate, rounds: 1}"}
	n, support := 4+t.rand.IntN(3), 2+t.rand.IntN(2)
	spec, err := plan.Parse(fmt.Appendf(nil, "protocol: %s\ngraph: {family: complete}\nf: 1\nrule: {name: "+
		"plurality, support: %d}\nmodels: {m: {provider: simulated, ability: 0.%d}}\n"+
		"seats: [{id: m, model: m, count: %d}]\n",
		protocols[t.rand.IntN(len(protocols))], support, 3+t.rand.IntN(6), n))
	if !t.need(err) {
		return
	}
	c, err := council.Convene(spec, llm.Env{})
	if !t.need(err) {
		return
	}
	defer func() { t.need(c.Close()) }()
	for range 20 {
		ask := council.Ask{Seed: t.rand.Uint64(), Program: "claims", Question: synod.Question{Form: synod.Number,
			Text: fmt.Sprintf("What is %d + %d?", t.rand.IntN(100), t.rand.IntN(100))}}
		o, err := c.Decide(context.Background(), ask)
		if !t.need(err) {
			return
		}
		have := 0
		for _, m := range o.Members {
			if m.First != nil && *m.First == o.Decision {
				have++
			}
		}
		t.check(o.Decision == synod.None || have >= support, "%q is decided with %d supporters of %d: %s", o.Decision,
			have, support, o.Protocol)
		if o.Decision != synod.None {
			t.margin(float64(have - support))
		}
	}
}

// keysHidden writes a key in every form that fmt, encoding/json and log/slog have.
func keysHidden(t *Tried) {
	text := fmt.Sprintf("sk-%016x", t.rand.Uint64())
	held := struct {
		Name string
		Key  llm.Secret
		At   *llm.Secret
	}{Name: "account", Key: llm.NewSecret(text)}
	held.At = &held.Key
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		for _, what := range []any{held.Key, held.At, held, &held, []llm.Secret{held.Key},
			map[string]llm.Secret{"key": held.Key}} {
			t.check(!shows(fmt.Sprintf(verb, what), text), "%s shows a key", verb)
		}
	}
	b, err := json.Marshal(held)
	t.check(err != nil || !shows(string(b), text), "encoding/json shows a key")
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("call", "key", held.Key, "held", held)
	slog.New(slog.NewTextHandler(&log, nil)).Info("call", "key", held.Key, "held", held)
	t.check(!shows(log.String(), text), "log/slog shows a key")
	t.check(!shows(held.Key.Redact("Bearer "+text+" is not valid"), text), "an error of a server shows a key")
}

// shows reports whether a text has a key, as it is or in hexadecimal.
func shows(out, key string) bool {
	out = strings.ToLower(out)
	return strings.Contains(out, key) || strings.Contains(out, fmt.Sprintf("%x", key))
}
