package lab

import "synod.dev/synod/llm"

func (r *Run) prices() llm.Prices {
	if r.Prices == nil {
		return llm.Published()
	}
	return r.Prices
}

// uses are the seats' models, asked for nothing yet.
func (r *Run) uses() []llm.Use {
	uses := make([]llm.Use, len(r.Seats))
	for i, s := range r.Seats {
		uses[i] = llm.Use{Model: s.Model, Info: llm.Info{Kind: s.Kind, Server: s.Server, Model: s.Served}}
	}
	return uses
}
