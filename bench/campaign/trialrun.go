package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
)

var runTrials = []ClaimTrial{
	{Claim: claimOf("DE-1"), councils: true, try: supported},
	{Claim: claimOf("RU-4k"), try: keysHidden},
}

// supported has a council decide whose members often err and among whom one lies.
func supported(t *ClaimTried) {
	n, support := 4+t.Rand.IntN(3), 2+t.Rand.IntN(2)
	protocol := t.protocol()
	c, ok := t.convene(protocol, n, fmt.Sprintf("provider: simulated, ability: 0.%d", 3+t.Rand.IntN(6)),
		fmt.Sprintf("rule: {name: plurality, support: %d}", support), llm.Env{})
	if !ok {
		return
	}
	defer func() { t.Need(c.Close()) }()
	for range 20 {
		ask := council.Ask{Seed: t.Rand.Uint64(), Program: "claims", Question: synod.Question{Form: synod.Number,
			Text: fmt.Sprintf("What is %d + %d?", t.Rand.IntN(100), t.Rand.IntN(100))}}
		o, err := c.Decide(context.Background(), ask)
		if !t.Need(err) {
			return
		}
		have := 0
		for _, m := range o.Members {
			if m.First != nil && *m.First == o.Decision {
				have++
			}
		}
		t.Check(o.Decision == synod.None || have >= support, "%q is decided with %d supporters of %d: %s", o.Decision,
			have, support, o.Protocol)
		if o.Decision != synod.None {
			t.Spare(float64(have - support))
		}
	}
}

// keysHidden writes a key in every form that fmt, encoding/json and log/slog have.
func keysHidden(t *ClaimTried) {
	text := fmt.Sprintf("sk-%016x", t.Rand.Uint64())
	held := struct {
		Name string
		Key  llm.Secret
		At   *llm.Secret
	}{Name: "account", Key: llm.NewSecret(text)}
	held.At = &held.Key
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		for _, what := range []any{held.Key, held.At, held, &held, []llm.Secret{held.Key},
			map[string]llm.Secret{"key": held.Key}} {
			t.Check(!shows(fmt.Sprintf(verb, what), text), "%s shows a key", verb)
		}
	}
	b, err := json.Marshal(held)
	t.Check(err != nil || !shows(string(b), text), "encoding/json shows a key")
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("call", "key", held.Key, "held", held)
	slog.New(slog.NewTextHandler(&log, nil)).Info("call", "key", held.Key, "held", held)
	t.Check(!shows(log.String(), text), "log/slog shows a key")
	t.Check(!shows(held.Key.Redact("Bearer "+text+" is not valid"), text), "an error of a server shows a key")
}

// shows reports whether a text has a key, as it is or in hexadecimal.
func shows(out, key string) bool {
	out = strings.ToLower(out)
	return strings.Contains(out, key) || strings.Contains(out, fmt.Sprintf("%x", key))
}
