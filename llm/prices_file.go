package llm

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"time"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
)

// priced is a line of a price file.
type priced struct {
	Server     string   `yaml:"server"`
	Model      string   `yaml:"model"`
	Prompt     *float64 `yaml:"prompt"`
	Completion *float64 `yaml:"completion"`
	Date       string   `yaml:"date"`
}

// ReadPrices reads a price file, whose lines come before those of Published:
//
//	prices:
//	  - {server: api.openai.com, model: gpt-4o, prompt: 2.5, completion: 10, date: 2026-11-01}
//	  - {server: "127.0.0.1:*", model: "*", prompt: 0, completion: 0}
//
// Prices are USD per million tokens. A server that is not named is any.
func ReadPrices(file string) (Prices, error) {
	b, err := os.ReadFile(file)
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
	defer func() { // the decoder panics on some odd input, and the file may come from anywhere
		if r := recover(); r != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", r)
		}
	}()
	var file struct {
		Prices []priced `yaml:"prices"`
	}
	if err := yaml.UnmarshalWithOptions(b, &file, yaml.Strict()); err != nil {
		var unknown *yaml.UnknownFieldError
		if errors.As(err, &unknown) {
			at := unknown.Token
			return nil, fmt.Errorf("line %d: unknown key %q%s", at.Position.Line, at.Value, synod.Hint(at.Value, []string{"prices", "server", "model", "prompt", "completion", "date"}))
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

func (l priced) tariff() (Tariff, error) {
	t := Tariff{Server: l.Server, Model: l.Model, Price: Price{Date: l.Date}}
	if t.Server == "" {
		t.Server = "*"
	}
	for _, pattern := range []string{t.Server, t.Model} {
		if _, err := path.Match(pattern, ""); err != nil {
			return t, fmt.Errorf("%q is no pattern", pattern)
		}
	}
	switch {
	case l.Model == "":
		return t, errors.New("it names no model")
	case l.Prompt == nil || l.Completion == nil:
		return t, fmt.Errorf("model %s: it needs prompt and completion, in USD per million tokens", l.Model)
	}
	t.Prompt, t.Completion = *l.Prompt, *l.Completion
	if !(t.Prompt >= 0 && t.Completion >= 0) || math.IsInf(t.Prompt+t.Completion, 0) {
		return t, fmt.Errorf("model %s: a price is a number from 0 on", l.Model)
	}
	if _, err := time.Parse(time.DateOnly, l.Date); l.Date != "" && err != nil {
		if _, err := time.Parse("2006-01", l.Date); err != nil {
			return t, fmt.Errorf("model %s: %q is no date such as 2026-11-01", l.Model, l.Date)
		}
	}
	return t, nil
}
