package llm

import "path"

// Price is what a million tokens cost, in USD.
type Price struct {
	Prompt     float64
	Completion float64
	Date       string // when it was seen, as 2006-01-02 or 2006-01
}

// Tariff is a line of a price table. Server (host, with a port that is not the
// scheme's own) and Model (the name it goes by there) are patterns as of path.Match.
type Tariff struct {
	Server string
	Model  string
	Price
}

// Prices is a price table. The first line that fits counts.
type Prices []Tariff

// Of is the price of a model; not known where no line fits. Members that run here,
// are on tape or are simulated cost nothing.
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

// of is what so many tokens cost, in USD.
func (p Price) of(prompt, completion int) float64 {
	return (p.Prompt*float64(prompt) + p.Completion*float64(completion)) / 1e6
}

// Published are list prices without discounts for caching or batches. They were
// seen at second hand, in surveys of the makers' price pages that agree with one
// another, at the dates beside them; prices change, so a file of one's own comes
// first. A model is here only by its exact name: dated versions may cost otherwise.
func Published() Prices {
	return Prices{
		{"api.openai.com", "gpt-4o", Price{2.50, 10, "2026-05"}},
		{"api.openai.com", "gpt-4o-mini", Price{0.15, 0.60, "2026-05"}},
		{"api.openai.com", "gpt-3.5-turbo", Price{0.50, 1.50, "2026-05"}},
		{"api.openai.com", "gpt-4.1", Price{2, 8, "2026-04"}},
		{"api.openai.com", "gpt-4.1-mini", Price{0.40, 1.60, "2026-04"}},
		{"api.openai.com", "gpt-4.1-nano", Price{0.10, 0.40, "2026-04"}},
		{"api.openai.com", "gpt-5", Price{1.25, 10, "2026-03"}},
		{"api.openai.com", "gpt-5-mini", Price{0.25, 2, "2026-03"}},
		{"api.anthropic.com", "claude-sonnet-4-5", Price{3, 15, "2026-07-11"}},
		{"api.anthropic.com", "claude-haiku-4-5", Price{1, 5, "2026-07-11"}},
		{"generativelanguage.googleapis.com", "gemini-2.5-flash", Price{0.30, 2.50, "2026-07-11"}},
		{"openrouter.ai", "anthropic/claude-sonnet-4.5", Price{3, 15, "2026-07-11"}},
		{"openrouter.ai", "anthropic/claude-haiku-4.5", Price{1, 5, "2026-07-11"}},
		{"openrouter.ai", "google/gemini-2.5-flash", Price{0.30, 2.50, "2026-07-11"}},
	}
}
