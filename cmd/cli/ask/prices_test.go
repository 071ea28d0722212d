package ask

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
)

// Somebody at a terminal is asked for the prices that a limit in money needs.
func TestAskPrices(t *testing.T) {
	models := []outcome.Unpriced{{Model: "a", Server: "api.example", Served: "next"}}
	for input, want := range map[string]string{
		"2.5\n10\n": `- {server: api.example, model: next, prompt: 2.5, completion: 10}` + "\n",
		"free\n":    `"free" is no price`, "1\n-1\n": `"-1" is no price`, "": `"" is no price`,
		"1\nNaN\n": `"NaN" is no price`,
	} {
		var shown bytes.Buffer
		table, lines, err := askPrices(bufio.NewReader(strings.NewReader(input)), &shown, models)
		if err != nil {
			lines = err.Error()
		}
		if !strings.HasPrefix(lines, want) || !strings.Contains(shown.String(), "the price of next at api.example") {
			t.Errorf("%q: %s %s", input, lines, shown.String())
		}
		price, known := table.Of(llm.Info{Kind: llm.Endpoint, Server: "api.example", Model: "next"})
		if err == nil && (!known || price.Prompt != 2.5 || price.Completion != 10) {
			t.Errorf("%q: %+v", input, price)
		}
	}
}
