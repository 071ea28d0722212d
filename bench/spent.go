package bench

import (
	"fmt"

	"synod.dev/synod/llm"
)

// Spent returns what the finished questions of the folder have used.
func (w *Writer) Spent() (s llm.Spent, err error) {
	counts, err := w.store.Count()
	if err != nil {
		return s, fmt.Errorf("bench: %w", err)
	}
	for _, r := range w.runs {
		c := counts[r.cell]
		s.Calls, s.Tokens, s.USD = s.Calls+c.Calls, s.Tokens+c.Prompt+c.Completion, s.USD+c.USD
	}
	return s, nil
}
