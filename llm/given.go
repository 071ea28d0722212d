package llm

import "strconv"

// Given returns a model that the program has made itself, with the layers of Open: it is retried, limited, counted and
// recorded like the model of a provider. It shares neither limits nor a breaker with other models. The caller closes
// the returned model, which closes m if m is a Closer.
func (p *Pool) Given(m Model, o Options) (Model, error) {
	opened := Opened{Model: m, Account: strconv.FormatInt(p.given.Add(1), 10)}
	return p.wrap("given", opened, o)
}
