package llm

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
)

var liteFile = flag.String("litellm", "", "LiteLLM's price file, which the published prices should agree with")

// LiteLLM's file is read as it is: its sample row and its rows without a price per token or without a server that is
// known are left out.
func TestLiteLLM(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	text := `{"sample_spec": {"input_cost_per_token": "how many USD", "litellm_provider": "one of the providers"},
		"gpt-4o": {"input_cost_per_token": 2.6e-06, "output_cost_per_token": 1.1e-05,
			"cache_read_input_token_cost": 1.3e-06, "litellm_provider": "openai", "mode": "chat", "max_tokens": 16384, "supports_vision": true},
		"tts-1": {"input_cost_per_character": 1.5e-05, "litellm_provider": "openai", "mode": "audio_speech"},
		"gemini-exp": {"input_cost_per_token": 3e-07, "output_cost_per_token": 2.5e-06, "litellm_provider": "gemini"},
		"gemini/gemini-exp": {"input_cost_per_token": 0, "output_cost_per_token": 0, "litellm_provider": "gemini"},
		"openrouter/qwen/qwen3[a]": {"input_cost_per_token": 1e-07, "output_cost_per_token": 2e-07,
			"litellm_provider": "openrouter"},
		"azure/gpt-4o": {"input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05, "litellm_provider": "azure"},
		"bedrock/x": {"input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06, "litellm_provider": "bedrock"}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ReadPrices(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		server, model string
		want          Price
		known         bool
	}{
		{"api.openai.com", "gpt-4o", listed(2.6, 11, "").cache(1.3, 0), true}, // it precedes the published price
		{"api.openai.com", "gpt-4o-mini", listed(0.15, 0.6, "2026-11").cache(0.075, 0), true},
		{"api.openai.com", "tts-1", Price{}, false},
		{"generativelanguage.googleapis.com", "gemini-exp", Price{}, true},
		{"openrouter.ai", "qwen/qwen3[a]", listed(0.1, 0.2, ""), true},
		{"openrouter.ai", "qwen/qwen3a", Price{}, false},
		{"mine.openai.azure.com", "gpt-4o", listed(2.5, 10, ""), true},
		{"bedrock.example", "x", Price{}, false},
	} {
		got, known := p.Of(Info{Kind: Endpoint, Server: c.server, Model: c.model})
		if got != c.want || known != c.known {
			t.Errorf("%s at %s: %+v, %v; want %+v, %v", c.model, c.server, got, known, c.want, c.known)
		}
	}
	for bad, want := range map[string]string{
		`{}`: "has no model", `{"gpt-4o": 7}`: "has no model",
		`{"m": {"litellm_provider": "openai", "input_cost_per_token": -1, "output_cost_per_token": 1}}`: "m: model m: " +
			"prompt",
	} {
		if _, err := parseLiteLLM([]byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
}

// TestPublishedAgrees compares the published prices with a newer file of LiteLLM: go test ./llm -run PublishedAgrees
// -litellm FILE.
func TestPublishedAgrees(t *testing.T) {
	if *liteFile == "" {
		t.Skip("SKIPPED: no file of LiteLLM; see -litellm")
	}
	b, err := os.ReadFile(*liteFile)
	if err != nil {
		t.Fatal(err)
	}
	lite, err := parseLiteLLM(b)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, row := range Published() {
		price, known := lite.row(row.Server, row.Model)
		if !known {
			t.Logf("%s at %s is not in the file", row.Model, row.Server)
			continue
		}
		found++
		if price.Date = row.Date; price != row.Price {
			t.Errorf("%s at %s: %+v; the file has %+v", row.Model, row.Server, row.Price, price)
		}
	}
	t.Logf("%d rows of the file, %d of %d published prices among them", len(lite), found, len(Published()))
}

// What a server says that it charges is the cost; what is no cost is ignored.
func TestBilled(t *testing.T) {
	for _, c := range []struct {
		usage, header string
		billed, bills int
	}{
		{`{"cost": 0.0012}`, "", 1200000, 1},
		{`{"cost": 0}`, "", 0, 1}, // a free model
		{`{"cost": 0.0001, "is_byok": true, "cost_details": {"upstream_inference_cost": 0.002}}`, "", 2100000, 1},
		{`{"cost": {"total_cost": 0.5}}`, "", 500000000, 1},
		{`{"estimated_cost": 1e-06}`, "", 1000, 1},
		{`{}`, "0.25", 250000000, 1},
		{`{}`, "", 0, 0},
		{`{"cost": -1}`, "", 0, 0}, {`{"cost": "free"}`, "", 0, 0}, {`{"cost": 1e300}`, "", 0, 0},
		{`{"cost": null}`, "NaN", 0, 0},
	} {
		h := http.Header{}
		if c.header != "" {
			h.Set("x-litellm-response-cost", c.header)
		}
		u := billed(synod.Usage{Prompt: 10, Completion: 1}, json.RawMessage(c.usage), h)
		if u.Billed != c.billed || u.Bills != c.bills || u.Prompt != 10 {
			t.Errorf("%s %s: %+v", c.usage, c.header, u)
		}
		if none := billed(synod.Usage{}, json.RawMessage(c.usage), h); none != (synod.Usage{}) {
			t.Errorf("%s without tokens: %+v", c.usage, none)
		}
	}
	use := Use{Model: "a", Info: Info{Kind: Endpoint, Server: "openrouter.ai", Model: "new/model"}}
	use.Add(&synod.Reply{Status: synod.OK, Calls: 2,
		Usage: synod.Usage{Prompt: 10, Completion: 5, Billed: 2e6, Bills: 1}})
	if m := Published().Bill([]Use{use}); m.AtLeast != 0.002 || len(m.Unknown) > 0 {
		t.Errorf("a price that only the server knows: %+v", m)
	}
	use.Add(&synod.Reply{Status: synod.Timeout, Calls: 1}) // nobody says what this one costs
	if m := Published().Bill([]Use{use}); m.AtLeast != 0.002 || len(m.Unknown) != 1 {
		t.Errorf("a call without a bill: %+v", m)
	}
}
