package llm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
)

// Every published price has a date and a server of its own, and is listed once.
func TestPublished(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Published() {
		key := p.Server + " " + p.Model
		_, day := time.Parse(time.DateOnly, p.Date)
		_, month := time.Parse("2006-01", p.Date)
		if seen[key] || strings.ContainsAny(key, "*?[") || p.Prompt <= 0 || p.Completion <= 0 || day != nil &&
			month != nil {
			t.Errorf("%+v", p)
		}
		seen[key] = true
	}
}

func TestReadPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.yaml")
	text := "prices:\n" +
		"- {server: api.openai.com, model: gpt-4o, prompt: 1, completion: 2, date: 2030-01-02}\n" +
		"- {server: \"127.0.0.1:*\", model: \"*\", prompt: 0, completion: 0}\n" +
		"- {model: \"own-*\", prompt: 3.5, completion: 4}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ReadPrices(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		info  Info
		want  Price
		known bool
	}{
		// the user's prices precede the built-in ones
		{Info{Kind: Endpoint, Server: "api.openai.com", Model: "gpt-4o"}, listed(1, 2, "2030-01-02"), true},
		{Info{Kind: Endpoint, Server: "api.openai.com", Model: "gpt-4o-mini"},
			listed(0.15, 0.60, "2026-11").cache(0.075, 0), true},
		// another version may have another price
		{Info{Kind: Endpoint, Server: "api.openai.com", Model: "gpt-4o-2024-05-13"}, Price{}, false},
		{Info{Kind: Endpoint, Server: "proxy.example", Model: "gpt-4o"}, Price{}, false},
		{Info{Kind: Endpoint, Server: "127.0.0.1:9000", Model: "gpt-4o"}, Price{}, true},
		{Info{Kind: Endpoint, Server: "any.example", Model: "own-7b"}, listed(3.5, 4, ""), true},
		{Info{Kind: Endpoint, Model: "gpt-4o"}, Price{}, false}, // an old run without the server
		{Info{Kind: Endpoint, Server: "192.168.1.7:8000", Model: "qwen3-8b"}, Price{}, true},
		{Info{Kind: Endpoint, Server: "203.0.113.7:8000", Model: "qwen3-8b"}, Price{}, false},
		// a server at home can only pass these on
		{Info{Kind: Endpoint, Server: "[::1]:4000", Model: "openai/gpt-4o-mini"},
			listed(0.15, 0.60, "2026-11").cache(0.075, 0), true},
		{Info{Kind: Endpoint, Server: "localhost:4000", Model: "claude-next"}, Price{}, false},
		{Info{Kind: Endpoint, Server: "localhost:4000", Model: "openai/gpt-oss-20b"}, Price{}, true},
		{Info{Kind: Simulated}, Price{}, true}, {Info{Kind: Embedded}, Price{}, true},
		{Info{Kind: Recorded}, Price{}, true},
	} {
		if got, known := p.Of(c.info); got != c.want || known != c.known {
			t.Errorf("%+v: %+v, %v; want %+v, %v", c.info, got, known, c.want, c.known)
		}
	}
}

func TestBadPrices(t *testing.T) {
	for text, want := range map[string]string{
		"prices: [{modle: x, prompt: 1, completion: 1}]":                  `did you mean "model"`,
		"prices:\n- {model: x, prompt: 1}":                                "completion",
		"prices: [{prompt: 1, completion: 1}]":                            "has no model",
		"prices: [{model: x, prompt: -1, completion: 1}]":                 "between 0 and 1000000",
		"prices: [{model: x, prompt: .nan, completion: 1}]":               "between 0 and 1000000",
		"prices: [{model: x, prompt: .inf, completion: 1}]":               "between 0 and 1000000",
		"prices: [{model: '[', prompt: 1, completion: 1}]":                "not a pattern",
		"prices: [{model: x, prompt: 1, completion: 1, date: yesterday}]": "not a date",
		"prices: [{model: x, prompt: dear, completion: 1}]":               "",
		"price: []": `did you mean "prices"`,
	} {
		if _, err := parsePrices([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzPrices(f *testing.F) {
	f.Add("prices: [{model: x, prompt: 1, completion: 1, date: 2026-01-01}]")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := parsePrices([]byte(text))
		for _, p := range table {
			if err == nil && !(p.Prompt >= 0 && p.Completion >= 0) {
				t.Errorf("%+v", p)
			}
		}
	})
}

// What is unknown is neither zero nor hidden in a sum.
func TestBill(t *testing.T) {
	prices := Prices{{"s", "paid", listed(2, 10, "2026-05")}, {"s", "old", listed(1, 1, "2025-01-01")},
		{"s", "gratis", Price{}}}
	at := func(name string) Info { return Info{Kind: Endpoint, Server: "s", Model: name} }
	use := func(name string, info Info, replies ...synod.Reply) Use {
		u := Use{Model: name, Info: info}
		for _, r := range replies {
			u.Add(&r)
		}
		return u
	}
	// counted costs 0.003 USD at 2 and 10
	counted := synod.Reply{Status: synod.OK, Calls: 1, Usage: synod.Usage{Prompt: 1000, Completion: 100}}
	uncounted := synod.Reply{Status: synod.OK, Calls: 1}
	failed := synod.Reply{Status: synod.Unavailable, Calls: 3}
	late := synod.Reply{Status: synod.Timeout, Calls: 1}                       // the server may have billed a reply
	needless := synod.Reply{Status: synod.Dropped, Calls: 1, Needless: true}   // likewise
	again := synod.Reply{Status: synod.OK, Usage: counted.Usage, Reused: true} // no request was sent
	for name, c := range map[string]struct {
		uses          []Use
		atLeast       float64
		unknown, free string
		asOf, text    string
	}{
		"known": {[]Use{use("a", at("paid"), counted, counted, failed, again)}, 0.006, "", "", "2026-05",
			"$0.0060 (prices of 2026-05)"},
		"oldest date": {[]Use{use("a", at("paid"), counted), use("b", at("old"), counted)}, 0.0041, "", "",
			"2025-01-01", "$0.0041 (prices of 2025-01-01)"},
		"unknown": {[]Use{use("b", at("other"), counted)}, 0, "b", "", "", "unknown for b"},
		"partly": {[]Use{use("a", at("paid"), counted), use("b", at("other"), counted),
			use("d", Info{Kind: Simulated}, counted)}, 0.003, "b", "d", "2026-05",
			"at least $0.0030 (prices of 2026-05), unknown for b"},
		"no token counts": {[]Use{use("a", at("paid"), counted, uncounted)}, 0.003, "a", "", "2026-05",
			"at least $0.0030 (prices of 2026-05), unknown for a"},
		"timed out": {[]Use{use("a", at("paid"), counted, late)}, 0.003, "a", "", "2026-05",
			"at least $0.0030 (prices of 2026-05), unknown for a"},
		"cancelled as needless": {[]Use{use("a", at("paid"), counted, needless)}, 0.003, "a", "", "2026-05",
			"at least $0.0030 (prices of 2026-05), unknown for a"},
		"gratis, uncounted": {[]Use{use("a", at("gratis"), uncounted)}, 0, "", "", "", "$0.00"},
		"never asked":       {[]Use{use("b", at("other"))}, 0, "", "", "", "$0.00"},
		"free": {[]Use{use("d", Info{Kind: Simulated}, uncounted), use("e", Info{Kind: Embedded}),
			use("d", Info{Kind: Simulated})}, 0, "", "d,e", "", "nothing (no member is paid for)"},
		"no calls": {nil, 0, "", "", "", "$0.00"},
	} {
		m := prices.Bill(c.uses)
		if d := m.AtLeast - c.atLeast; d > 1e-12 || d < -1e-12 || strings.Join(m.Unknown, ",") != c.unknown ||
			strings.Join(m.Free, ",") != c.free || m.AsOf != c.asOf || m.String() != c.text {
			t.Errorf("%s: %+v %q", name, m, m)
		}
		if cost := m.Cost(); (cost == nil) != (c.unknown != "") {
			t.Errorf("%s: cost %+v", name, cost)
		}
	}
	sum := prices.Bill([]Use{use("a", at("paid"), counted)}).Plus(prices.Bill([]Use{use("b", at("other"), counted),
		use("a", at("old"), counted)}))
	if sum.String() != "at least $0.0041 (prices of 2025-01-01), unknown for b" {
		t.Errorf("%s", sum)
	}
}
