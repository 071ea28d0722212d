package council_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm"
)

// TestPricesOrderMembers: cascade asks the member that is cheap by the price table first, unless the council file gives
// prices; the journal has the prices, and an unknown price counts as the dearest one.
func TestPricesOrderMembers(t *testing.T) {
	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Quiet())
	text := func(protocol string) string {
		return fmt.Sprintf(`
protocol: %s
f: 1
graph: {family: complete}
models:
  dear: {provider: openai, url: %[2]q, model: dear}
  fair: {provider: openai, url: %[2]q, model: fair}
  brief: {provider: openai, url: %[2]q, model: dear, max_tokens: 15}
  unknown: {provider: openai, url: %[2]q, model: gpt-9}
  dice: {provider: simulated}
seats: [{id: d, model: dear}, {id: f, model: fair}, {id: b, model: brief}, {id: u, model: unknown}, {id: s, model: dice}]
`, protocol, s.URL)
	}
	env := llm.Env{Getenv: func(string) string { return "" }, Prices: llm.Prices{
		{Server: "127.0.0.1:*", Model: "dear", Price: llm.Price{Prompt: 5, Completion: 40}},
		{Server: "127.0.0.1:*", Model: "fair", Price: llm.Price{Prompt: 0.5, Completion: 4}}}}
	for _, c := range []struct {
		protocol string
		want     any
		first    string
	}{
		// 8 $ and 0.8 $ for a thousand calls; 2.6 $ with 15 tokens
		{"{name: cascade}", []float64{10, 1, 3.25, 10, 0.001}, "s"},
		{"{name: cascade, prices: [9, 9, 9, 1, 9]}", []any{uint64(9), uint64(9), uint64(9), uint64(1), uint64(9)}, "u"},
		{"{name: majority}", nil, ""},
	} {
		spec, err := plan.Parse([]byte(text(c.protocol)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := council.Convene(spec, env)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		if prices := got.Plan().Spec().Protocol["prices"]; !reflect.DeepEqual(prices, c.want) {
			t.Errorf("%s: prices are %#v, want %v", c.protocol, prices, c.want)
		}
		path := filepath.Join(t.TempDir(), "j")
		o := decide(t, got, council.Ask{Journal: path, Question: synod.Question{ID: "q", Text: "6 · 7?",
			Form: synod.Number}})
		if c.first != "" && (len(o.Asked) == 0 || o.Asked[0] != c.first) {
			t.Errorf("%s: asked %v, want %s first", c.protocol, o.Asked, c.first)
		}
	}
}

// TestNoPrices: without a known price, all endpoints count the same, and a council without endpoints has no prices.
func TestNoPrices(t *testing.T) {
	for provider, want := range map[string]any{
		"{provider: openai, url: \"http://127.0.0.1:1\", model: m}": []float64{1, 1, 1},
		"{provider: simulated}": nil,
	} {
		spec, err := plan.Parse([]byte("voices: seats\nprotocol: {name: cascade}\nf: 1\n" +
			"graph: {family: complete}\n" +
			"models: {m: " + provider + "}\nseats: [{id: a, model: m, count: 3}]\n"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := council.Convene(spec, llm.Env{Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if prices := c.Plan().Spec().Protocol["prices"]; !reflect.DeepEqual(prices, want) {
			t.Errorf("%s: prices are %v, want %v", provider, prices, want)
		}
	}
}
