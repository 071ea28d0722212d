package llm

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"synod.dev/synod/core/param"
	"synod.dev/synod/internal/durable"

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

// Of returns the price of a model, and false if it is not known: the first row that matches or, of a server on this
// machine or in a private network, nothing. There only models that nobody can run at home have a price, because the
// server can only pass calls on: that of their maker. Embedded, recorded and simulated models cost nothing.
func (p Prices) Of(m Info) (price Price, known bool) {
	if m.Kind != Endpoint {
		return Price{}, true
	}
	if price, known := p.row(m.Server, m.Model); known {
		return price, true
	}
	if !private(m.Server) {
		return Price{}, false
	}
	if maker, name := soldOnly(m.Model); maker != "" {
		return p.row(maker, name)
	}
	return Price{}, true
}

// row returns the price in the first row that matches.
func (p Prices) row(server, model string) (Price, bool) {
	for _, t := range p {
		at, _ := path.Match(t.Server, server)
		is, _ := path.Match(t.Model, model)
		if at && is {
			return t.Price, true
		}
	}
	return Price{}, false
}

// private reports whether a server (host, with or without a port) is on this machine or in a private network.
func private(server string) bool {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		host = server
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local")
	}
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}

// soldBy are the names of models whose weights nobody else has, by the server of their maker.
var soldBy = map[string]*regexp.Regexp{
	"api.openai.com":                    regexp.MustCompile(`^(gpt-[3-9]|chatgpt-|o[134](-|$))`),
	"api.anthropic.com":                 regexp.MustCompile(`^claude-`),
	"generativelanguage.googleapis.com": regexp.MustCompile(`^gemini-`),
	"api.x.ai":                          regexp.MustCompile(`^grok-[3-9]`),
}

// soldOnly returns the server of the maker of a model that only its maker sells, and its name there, which may stand
// after a provider's (openai/gpt-4o); "" for other models.
func soldOnly(model string) (maker, name string) {
	name = model[strings.LastIndexByte(model, '/')+1:]
	for server, names := range soldBy {
		if names.MatchString(name) {
			return server, name
		}
	}
	return "", ""
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

// published is an extract of public list prices, see Published.
//
//go:embed published.csv
var published string

// Published returns list prices without discounts for batches, of about 130 models: those of 2026-11 as LiteLLM's price
// file lists them (release 1.110.2, read on 2026-11-24), the others from the makers' price pages at the dates given.
// Prices change, so a user's own file comes first. A model is listed only by its exact name, because dated versions may
// have other prices.
func Published() Prices { return slices.Clone(publishedRows()) }

var publishedRows = sync.OnceValue(func() (table Prices) {
	rows, err := csv.NewReader(strings.NewReader(published)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("llm: published.csv: %v", err))
	}
	for _, row := range rows[1:] {
		usd := make([]float64, 4)
		for i, cell := range row[2:6] {
			if usd[i], err = strconv.ParseFloat(cmp.Or(cell, "0"), 64); err != nil {
				panic(fmt.Sprintf("llm: published.csv: %s: %v", row[1], err))
			}
		}
		table = append(table, Tariff{row[0], row[1], listed(usd[0], usd[1], row[6]).cache(usd[2], usd[3])})
	}
	return table
})

// maxPrice bounds a price, in USD for a million tokens, so that no cost is infinite.
const maxPrice = 1e6

// maxPriceFile bounds a price file, in bytes. LiteLLM's has 3.5 MB.
const maxPriceFile = 32 << 20

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
// prompt). A row without server applies to any. The file may also be LiteLLM's model_prices_and_context_window.json, of
// which the rows of servers with a fixed address are taken. It fails if the file cannot be read or a row is not valid;
// the error names the row.
func ReadPrices(file string) (Prices, error) {
	b, err := durable.ReadFile(file, maxPriceFile)
	if err != nil {
		return nil, fmt.Errorf("llm: prices: %w", err)
	}
	parse := parsePrices
	if isLiteLLM(b) {
		parse = parseLiteLLM
	}
	table, err := parse(b)
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
