package council

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

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

// PriceError reports that a limit in money cannot be kept because prices are not known.
type PriceError struct{ Models []Unpriced }

// Error names the models, and the lines that a price file needs.
func (e *PriceError) Error() string {
	var names, lines []string
	for _, u := range e.Models {
		names = append(names, fmt.Sprintf("%s (%s at %s)", u.Model, u.Served, u.Server))
		lines = append(lines, "  "+u.Line())
	}
	return fmt.Sprintf("usd needs the price of every model, and this one is not known: %s; a price file (--prices "+
		"FILE, or prices.yaml in the configuration folder) sets it, in USD for a million tokens:\n  prices:\n%s",
		strings.Join(names, ", "), strings.Join(lines, "\n"))
}

// checkPrices fails for a limit in money if the price of a model is not known.
func (c *Council) checkPrices(limits Limits) error {
	if limits.USD == 0 {
		return nil
	}
	e := new(PriceError)
	seen := map[string]bool{}
	for _, name := range sortedKeys(c.models) {
		info := c.models[name].Info()
		if _, known := c.prices.Of(info); !known && !seen[info.Server+" "+info.Model] {
			seen[info.Server+" "+info.Model] = true
			e.Models = append(e.Models, Unpriced{name, info.Server, info.Model})
		}
	}
	if len(e.Models) == 0 {
		return nil
	}
	return &ConfigError{Section: "limits", Err: e}
}

// Unpriced lists the models of an outcome that are in no price table, each server's once.
func (o *Outcome) Unpriced(prices llm.Prices) (all []Unpriced) {
	seen := map[string]bool{}
	for i := range o.Models {
		m := &o.Models[i]
		_, known := prices.Of(llm.Info{Kind: m.Kind, Server: m.server, Model: m.Served})
		if key := m.server + " " + m.Served; !known && m.server != "" && m.Cost == nil && !seen[key] {
			seen[key] = true
			all = append(all, Unpriced{m.Model, m.server, m.Served})
		}
	}
	return all
}
