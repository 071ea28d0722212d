package main

import (
	"context"

	"synod.dev/synod"
	"synod.dev/synod/llm"
)

// settings are the keys of a model with "provider: parrot" in a council file.
type settings struct {
	llm.Common `yaml:",inline"`
	Answer     string `yaml:"answer"` // what the parrot always answers
}

// parrot is a client of our own: it gives one answer to every question.
type parrot struct{ settings }

// Info identifies the model in outputs, caches and journals.
func (p parrot) Info() llm.Info {
	return llm.Info{Kind: llm.Simulated, Name: "parrot", Identity: "parrot/1 " + p.Answer}
}

// Complete answers a prompt with text, as a client of a real server does.
func (p parrot) Complete(_ context.Context, r llm.Request) (synod.Reply, error) {
	return synod.Reply{Text: "Answer: " + p.Answer, Calls: 1}, nil
}

// Provider is the entry of the catalogue of providers.
var Provider = llm.Provider{
	Kind:     llm.Simulated,
	Entry:    synod.Entry{Name: "parrot", Summary: "a member that always gives the same answer"},
	Settings: func() any { return &settings{} },
	Open: func(o llm.Opening) (llm.Opened, error) {
		s := settings{Answer: "42"}
		err := o.Decode(&s)
		return llm.Opened{Model: parrot{s}, Common: s.Common, Account: "parrot"}, err
	},
}
