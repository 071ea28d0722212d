package bench

import (
	"fmt"
	"strings"
	"sync"

	"synod.dev/synod/council/outcome"
)

// Budget bounds what a run, or all runs of a grid together, use. 0 is no bound. Work begins no question when a bound is
// reached; the questions in progress end, so a bound may be exceeded by as much as they use.
type Budget struct {
	Calls  int     `yaml:"calls" json:"calls,omitempty" doc:"model calls; 0: no bound" range:"0:" example:"20000"`
	Tokens int     `yaml:"tokens" json:"tokens,omitempty" doc:"tokens of prompts and replies; 0: no bound" range:"0:" example:"5000000"`
	USD    float64 `yaml:"usd" json:"usd,omitempty" doc:"US dollars, of calls whose price is known; 0: no bound" range:"0:" example:"25"`
}

// BudgetError reports that a run or a grid has used its budget.
type BudgetError struct {
	Budget
	Used Budget
}

func (e *BudgetError) Error() string {
	var of []string
	if e.Calls > 0 {
		of = append(of, fmt.Sprintf("%d of %d calls", e.Used.Calls, e.Calls))
	}
	if e.Tokens > 0 {
		of = append(of, fmt.Sprintf("%d of %d tokens", e.Used.Tokens, e.Tokens))
	}
	if e.USD > 0 {
		of = append(of, fmt.Sprintf("%.4f of %.4f USD", e.Used.USD, e.USD))
	}
	return "the budget is used: " + strings.Join(of, ", ")
}

// meter counts what the runs of a grid have used.
type meter struct {
	budget Budget

	mu   sync.Mutex
	base Budget            // before the work began
	now  map[string]Budget // by question of a run in the work now
}

func (b Budget) plus(c Budget) Budget {
	return Budget{b.Calls + c.Calls, b.Tokens + c.Tokens, b.USD + c.USD}
}

// add counts an attempt at a question. An outcome has the calls of earlier attempts too, so it replaces them.
func (m *meter) add(question string, o *outcome.Outcome) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now[question] = Budget{o.Calls.Made, o.Tokens.Prompt + o.Tokens.Completion, o.Money.AtLeast}
}

// check returns an error if the budget is used.
func (m *meter) check() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	used := m.base
	for _, u := range m.now {
		used = used.plus(u)
	}
	b := m.budget
	if b.Calls > 0 && used.Calls >= b.Calls || b.Tokens > 0 && used.Tokens >= b.Tokens ||
		b.USD > 0 && used.USD >= b.USD {
		return &BudgetError{b, used}
	}
	return nil
}
