package llm

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"time"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/param"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
)

// Price is the price of tokens.
type Price struct {
	Prompt     float64 // USD for a million tokens
	Completion float64 // USD for a million tokens
	Date       string  // when it was published, as 2006-01-02 or 2006-01; "": unknown
	Cached     float64 // USD for a million prompt tokens that the server read from its cache; 0: Prompt
	Stored     float64 // USD for a million prompt tokens that the server wrote to its cache; 0: Prompt
}

// Tariff is a row of a price table. Server (host, with a port that is not the
// scheme's default) and Model (its name at the server) are patterns of path.Match.
type Tariff struct {
	Server string
	Model  string
	Price
}

// Prices is a price table. The first row that matches applies.
type Prices []Tariff

// Of returns the price of a model, and false if no row matches. Embedded, recorded
// and simulated models cost nothing.
func (p Prices) Of(m Info) (price Price, known bool) {
	if m.Kind != Endpoint {
		return Price{}, true
	}
	for _, t := range p {
		server, _ := path.Match(t.Server, m.Server)
		model, _ := path.Match(t.Model, m.Model)
		if server && model {
			return t.Price, true
		}
	}
	return Price{}, false
}

// of returns the cost of tokens in USD.
func (p Price) of(u synod.Usage) float64 {
	cached := min(u.Cached, u.Prompt)
	stored := min(u.Stored, u.Prompt-cached)
	return (p.Prompt*float64(u.Prompt-cached-stored) + cmp.Or(p.Cached, p.Prompt)*float64(cached) +
		cmp.Or(p.Stored, p.Prompt)*float64(stored) + p.Completion*float64(u.Completion)) / 1e6
}

func listed(prompt, completion float64, date string) Price {
	return Price{Prompt: prompt, Completion: completion, Date: date}
}

// cache returns the price with those of tokens from and to the server's cache.
func (p Price) cache(cached, stored float64) Price {
	p.Cached, p.Stored = cached, stored
	return p
}

// Published returns list prices without discounts for batches. They
// come from surveys of the makers' price pages that agree with one another, at the
// dates given; prices change, so a user's own file comes first. A model is listed
// only by its exact name, because dated versions may have other prices.
func Published() Prices {
	return Prices{
		{"api.openai.com", "gpt-4o", listed(2.50, 10, "2026-05")},
		{"api.openai.com", "gpt-4o-mini", listed(0.15, 0.60, "2026-05")},
		{"api.openai.com", "gpt-3.5-turbo", listed(0.50, 1.50, "2026-05")},
		{"api.openai.com", "gpt-4.1", listed(2, 8, "2026-04")},
		{"api.openai.com", "gpt-4.1-mini", listed(0.40, 1.60, "2026-04")},
		{"api.openai.com", "gpt-4.1-nano", listed(0.10, 0.40, "2026-04")},
		{"api.openai.com", "gpt-5", listed(1.25, 10, "2026-03")},
		{"api.openai.com", "gpt-5-mini", listed(0.25, 2, "2026-03")},
		{"api.anthropic.com", "claude-sonnet-4-5", listed(3, 15, "2026-07-11").cache(0.30, 3.75)},
		{"api.anthropic.com", "claude-haiku-4-5", listed(1, 5, "2026-07-11").cache(0.10, 1.25)},
		{"generativelanguage.googleapis.com", "gemini-2.5-flash", listed(0.30, 2.50, "2026-07-11")},
		{"openrouter.ai", "anthropic/claude-sonnet-4.5", listed(3, 15, "2026-07-11")},
		{"openrouter.ai", "anthropic/claude-haiku-4.5", listed(1, 5, "2026-07-11")},
		{"openrouter.ai", "google/gemini-2.5-flash", listed(0.30, 2.50, "2026-07-11")},
	}
}

// maxPrice bounds a price, in USD for a million tokens, so that no cost is infinite.
const maxPrice = 1e6

// priceRow is a row of a price file.
type priceRow struct {
	Server     string   `yaml:"server"`
	Model      string   `yaml:"model"`
	Prompt     *float64 `yaml:"prompt"`
	Completion *float64 `yaml:"completion"`
	Cached     float64  `yaml:"cached"`
	Stored     float64  `yaml:"stored"`
	Date       string   `yaml:"date"`
}

// ReadPrices reads a price file and returns its rows before those of Published:
//
//	prices:
//	  - {server: api.openai.com, model: gpt-4o, prompt: 2.5, completion: 10, date: 2026-11-01}
//	  - {server: "127.0.0.1:*", model: "*", prompt: 0, completion: 0}
//
// Prices are USD per million tokens. A row may also have cached and stored, the prices of
// prompt tokens that the server reads from its cache and writes to it (default: that of
// prompt). A row without server applies to any. It fails
// if the file cannot be read or a row is not valid; the error names the row.
func ReadPrices(file string) (Prices, error) {
	b, err := durable.ReadFile(file, param.MaxText)
	if err != nil {
		return nil, fmt.Errorf("llm: prices: %w", err)
	}
	table, err := parsePrices(b)
	if err != nil {
		return nil, fmt.Errorf("llm: prices: %s: %w", file, err)
	}
	return append(table, Published()...), nil
}

func parsePrices(b []byte) (table Prices, err error) {
	var file struct {
		Prices []priceRow `yaml:"prices"`
	}
	if err := param.UnmarshalAny(b, &file, yaml.Strict()); err != nil {
		var unknown *yaml.UnknownFieldError
		if errors.As(err, &unknown) {
			at := unknown.Token
			keys := []string{"prices", "server", "model", "prompt", "completion", "cached", "stored", "date"}
			return nil, fmt.Errorf("line %d: unknown key %q%s", at.Position.Line, at.Value, synod.Hint(at.Value, keys))
		}
		return nil, errors.New(yaml.FormatError(err, false, true))
	}
	for i, line := range file.Prices {
		t, err := line.tariff()
		if err != nil {
			return nil, fmt.Errorf("price %d of the list: %w", i+1, err)
		}
		table = append(table, t)
	}
	return table, nil
}

func (l priceRow) tariff() (Tariff, error) {
	t := Tariff{Server: l.Server, Model: l.Model, Price: Price{Date: l.Date}}
	if t.Server == "" {
		t.Server = "*"
	}
	for _, pattern := range []string{t.Server, t.Model} {
		if _, err := path.Match(pattern, ""); err != nil {
			return t, fmt.Errorf("%q is not a pattern", pattern)
		}
	}
	switch {
	case l.Model == "":
		return t, errors.New("it has no model")
	case l.Prompt == nil || l.Completion == nil:
		return t, fmt.Errorf("model %s: it needs prompt and completion, in USD per million tokens", l.Model)
	}
	t.Prompt, t.Completion, t.Cached, t.Stored = *l.Prompt, *l.Completion, l.Cached, l.Stored
	for _, p := range []struct {
		key string
		usd float64
	}{{"prompt", t.Prompt}, {"completion", t.Completion}, {"cached", t.Cached}, {"stored", t.Stored}} {
		if !(p.usd >= 0 && p.usd <= maxPrice) {
			return t, fmt.Errorf("model %s: %s is %v; it must be between 0 and %.0f USD per million tokens, such as "+
				"2.5",
				l.Model, p.key, p.usd, float64(maxPrice))
		}
	}
	if _, err := time.Parse(time.DateOnly, l.Date); l.Date != "" && err != nil {
		if _, err := time.Parse("2006-01", l.Date); err != nil {
			return t, fmt.Errorf("model %s: %q is not a date such as 2026-11-01", l.Model, l.Date)
		}
	}
	return t, nil
}
