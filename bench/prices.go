package bench

import "synod.dev/synod/llm"

// prices returns the prices that the run is billed with.
func (r *Run) prices() llm.Prices {
	if r.Prices == nil {
		return llm.Published()
	}
	return r.Prices
}

// uses returns the models of the seats with no usage.
func (m *RunManifest) uses() []llm.Use {
	uses := make([]llm.Use, len(m.Seats))
	for i, s := range m.Seats {
		uses[i] = llm.Use{Model: s.Model, Info: llm.Info{Kind: s.Kind, Server: s.Server, Model: s.Served}}
	}
	return uses
}
