package llm_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/llm"
)

// shouter is a client of one's own: it replies to a question in capitals.
type shouter struct {
	Suffix     string `yaml:"suffix"`
	llm.Common `yaml:",inline"`
}

func (s shouter) Info() llm.Info {
	return llm.Info{Kind: llm.Endpoint, Name: "shouter", Identity: "shouter " + s.Suffix}
}

func (s shouter) Complete(_ context.Context, r llm.Request) (synod.Reply, error) {
	return synod.Reply{Text: strings.ToUpper(r.Prompt.Question.Text) + s.Suffix}, nil
}

// A program adds a provider before it starts. Its models then have the limits,
// retries, circuit breaker, cache and budget of every other model.
func ExampleProvider() {
	llm.Providers.Add(llm.Provider{
		Kind:     llm.Endpoint,
		Entry:    synod.Entry{Name: "shouter", Summary: "replies in capitals"},
		About:    "suffix  of every reply",
		Settings: func() any { return &shouter{} },
		Open: func(o llm.Opening) (llm.Opened, error) {
			s := shouter{Common: llm.Common{Timeout: time.Minute}}
			if err := o.Decode(&s); err != nil {
				return llm.Opened{}, err
			}
			return llm.Opened{Model: s, Common: s.Common, Account: "none"}, nil
		},
	})

	settings := func(into any) error { return yaml.Unmarshal([]byte("suffix: '!'\nconcurrency: 2"), into) }
	var pool llm.Pool
	m, err := pool.Open("shouter", settings, llm.Options{Hedge: 95})
	if err != nil {
		fmt.Println(err)
		return
	}
	question := &synod.Question{Text: "who is there?", Form: synod.Text}
	reply, err := m.Complete(context.Background(), llm.Request{Prompt: &synod.Prompt{Question: question}})
	fmt.Println(reply.Status, reply.Text, reply.Calls, err)
	// Output: ok WHO IS THERE?! 1 <nil>
}

// A budget bounds what all calls of a question spend together.
func ExampleBudget() {
	m, err := llm.NewSimulated(llm.NewSimulatedConfig(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Info().Kind)
	budget := llm.NewBudget(100, 50_000).WithMoney(0.50, llm.Published())
	fmt.Println(budget.Spent(), budget.Exhausted())
	// Output:
	// simulated
	// {0 0 0} false
}
