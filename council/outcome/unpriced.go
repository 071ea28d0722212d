package outcome

import (
	"fmt"
	"regexp"
	"strconv"

	"synod.dev/synod/llm"
)

// Unpriced is a model whose price is in no table, and where it is.
type Unpriced struct {
	Model  string // its name in the council
	Server string
	Served string // its name at the server
}

// Line is the line of a price file that sets the price, with USD where the amounts belong.
func (u Unpriced) Line() string { return u.Row("USD", "USD") }

// Row is the line of a price file with these prices, in USD per million tokens of prompts and replies.
func (u Unpriced) Row(prompt, completion string) string {
	return fmt.Sprintf("- {server: %s, model: %s, prompt: %s, completion: %s}", scalar(u.Server),
		scalar(u.Served), prompt, completion)
}

// plain matches what YAML reads as a text without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/@-]*(:[A-Za-z0-9._-]+)*$`)

// scalar writes a text for YAML.
func scalar(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// Unpriced lists the models of an outcome that are in no price table, each server's once.
func (o *Outcome) Unpriced(prices llm.Prices) (all []Unpriced) {
	seen := map[string]bool{}
	for i := range o.Models {
		m := &o.Models[i]
		_, known := prices.Of(llm.Info{Kind: m.Kind, Server: m.Server, Model: m.Served})
		if key := m.Server + " " + m.Served; !known && m.Server != "" && m.Cost == nil && !seen[key] {
			seen[key] = true
			all = append(all, Unpriced{m.Model, m.Server, m.Served})
		}
	}
	return all
}
