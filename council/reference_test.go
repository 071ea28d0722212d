package council_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// twoTiers asks two cheap models, and a dear one where they differ.
func twoTiers(url, second, reference string) string {
	return strings.NewReplacer("URL", url, "SECOND", second).Replace(`protocol: {name: cascade, tiers: [[a, b], [c]]}
graph: {family: complete}
f: 0
models:
  cheap: {provider: openai, url: "URL", model: s42}
  other: {provider: openai, url: "URL", model: SECOND}
  dear:  {provider: openai, url: "URL", model: sdear42}
seats: [{id: a, model: cheap}, {id: b, model: other}, {id: c, model: dear}]
`) + reference
}

// What a question would have cost the reference model alone is by its own tokens where it was asked, else the mean of
// the council file, and null where neither is known.
func TestReference(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.With(llmtest.Usage(`{"prompt_tokens":200,"completion_tokens":20}`)))
	prices := llm.Prices{{Server: "127.0.0.1:*", Model: "sdear*", Price: llm.Price{Prompt: 10, Completion: 50}},
		{Server: "127.0.0.1:*", Model: "s4*", Price: llm.Price{Prompt: 1, Completion: 5}}}
	const cheap, dear = 0.0003, 0.003 // a call
	const unknown = -1
	for _, c := range []struct {
		name, text string
		usd, saved float64
		measured   bool
	}{
		{"not asked", twoTiers(s.URL, "s42", "reference: {model: dear, usd: 0.02}"), 0.02, 0.02 - 2*cheap, false},
		{"asked", twoTiers(s.URL, "s41", "reference: {model: dear, usd: 0.02}"), dear, -2 * cheap, true},
		{"a cheap one", twoTiers(s.URL, "s42", "reference: {model: cheap}"), cheap, -cheap, true},
		{"not asked, no mean", twoTiers(s.URL, "s42", "reference: {model: dear}"), unknown, unknown, false},
		{"of no seat", twoTiers(s.URL, "s42", "reference: {model: elsewhere, usd: 0.5}"), 0.5, 0.5 - 2*cheap, false},
		{"asked again and again", strings.Replace(twoTiers(s.URL, "s41", "reference: {model: dear}"),
			"cascade, tiers: [[a, b], [c]]", "debate, rounds: 2", 1), unknown, unknown, false},
		{"one price unknown", twoTiers(s.URL, "gpt-42", "reference: {model: cheap}"),
			cheap, unknown, true},
	} {
		o := tried(t, c.text, llm.Env{Prices: prices})
		r := o.Reference
		if r == nil {
			t.Errorf("%s: no reference", c.name)
			continue
		}
		same := func(got *float64, want float64) bool {
			return got == nil && want == unknown || got != nil && math.Abs(*got-want) < 1e-12
		}
		if !same(r.USD, c.usd) || !same(r.Saved, c.saved) || r.Measured != c.measured {
			t.Errorf("%s: %s, %+v, cost %+v", c.name, r.String(), r, o.Cost)
		}
	}
	if o := tried(t, twoTiers(s.URL, "s42", ""), llm.Env{Prices: prices}); o.Reference != nil {
		t.Errorf("%+v without the key", o.Reference)
	}
}

// The journal gives the same comparison; a run that pays for nothing compares nothing.
func TestReferenceOfJournal(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.With(llmtest.Usage(`{"prompt_tokens":200,"completion_tokens":20}`)))
	spec, err := plan.Parse([]byte(twoTiers(s.URL, "s41", "reference: {model: dear, usd: 0.02}")))
	if err != nil {
		t.Fatal(err)
	}
	prices := llm.Prices{{Server: "*", Model: "*", Price: llm.Price{Prompt: 1, Completion: 5}}}
	c, err := council.Convene(spec, llm.Env{Prices: prices})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := filepath.Join(t.TempDir(), "j.jsonl")
	o, err := c.Decide(t.Context(), council.Ask{Question: sum, Journal: path})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	run, err := journal.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	again := c.Recall(run, path)
	if o.Reference == nil || again.Reference == nil || *again.Reference.USD != *o.Reference.USD ||
		!again.Reference.Measured || o.Reference.String() != again.Reference.String() {
		t.Errorf("%+v, from the journal %+v", o.Reference, again.Reference)
	}
	for r, want := range map[*outcome.Reference]string{{Model: "m"}: "m alone: what that costs is not known",
		{Model: "m", USD: new(0.5)}:                                 "m alone: 0.500000 USD in the mean",
		{Model: "m", USD: new(0.5), Measured: true, Saved: new(.2)}: "by its own tokens, so 0.200000 saved",
		{Model: "m", USD: new(0.5), Saved: new(-.2)}:                "0.200000 less than the council"} {
		if got := r.String(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
