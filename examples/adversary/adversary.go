package main

import (
	"synod.dev/synod"
	"synod.dev/synod/adversary"
	"synod.dev/synod/core/param"
)

// insister sends one answer to all neighbours, whatever its honest machine sends.
type insister struct {
	Answer string `yaml:"answer"` // in canonical form, such as 41 or b
}

// Corrupt returns a machine that replaces the answer in every response.
func (a insister) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	return &adversary.MessageRewriter{
		Honest: honest,
		Response: func(s synod.Send, r synod.Response) []synod.Send {
			r.Answer, r.Confidence = synod.Answer(a.Answer), 1
			return []synod.Send{adversary.WithResponse(s, s.To, r)}
		},
	}
}

// Steady reports that its messages do not change by themselves, so a council with
// this adversary may stop early.
func (a insister) Steady() bool { return true }

// Insister is the entry of the catalogue of adversaries.
var Insister = adversary.Entry{
	Entry: synod.Entry{Name: "insister", Summary: "sends one answer with full confidence"},
	About: "answer  what it sends (41)",
	New: func(params map[string]any) (adversary.Adversary, error) {
		a := insister{Answer: "41"}
		return a, param.Decode(params, &a)
	},
}
