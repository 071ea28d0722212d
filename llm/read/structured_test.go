package read_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

var invoice = &synod.Question{Text: "Read the invoice.", Form: synod.JSON, Schema: json.RawMessage(`{"type":"object",
	"required":["total"],"additionalProperties":false,"properties":{"total":{"type":"number","minimum":0},
	"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true},"answer":{"type":"string"}}}`)}

var calls = &synod.Question{Text: "What is the weather?", Form: synod.Action, Tools: []synod.Tool{
	{Name: "weather", Parameters: json.RawMessage(`{"type":"object","required":["city"],"properties":{
		"city":{"type":"string"},"unit":{"enum":["C","F"],"default":"C"}}}`)}, {Name: "stop"}}}

func TestStructuredAnswers(t *testing.T) {
	for _, c := range []struct {
		q           *synod.Question
		reply, want string // "": unreadable
	}{
		{invoice, `{"reasoning":"The sum is below.","answer":{"total":12.50,"tags":["b","a"]}}`, `{"tags":["a","b"],"total":12.5}`},
		{invoice, `{"total": 1}`, `{"total":1}`},
		{invoice, "Here it is:\n```json\n{\"total\": 1}\n```", `{"total":1}`},
		{invoice, `<think>{"total":5}</think>{"total":6}`, `{"total":6}`},
		{invoice, `{"total":1,"answer":"x"}`, `{"answer":"x","total":1}`}, // a member of the schema called answer
		{invoice, `{"answer":{"total":-1}}`, ""},                          // below the minimum
		{invoice, `{"answer":{"total":1,"total":2}}`, ""},                 // repeated
		{invoice, `{"answer":{"total":1}`, ""},                            // incomplete
		{invoice, `The total is 12.50.`, ""},
		{invoice, `{"total":1,"x":2}`, ""},
		{calls, `{"name":"weather","arguments":{"city":"Rome"}}`, `{"arguments":{"city":"Rome","unit":"C"},"name":"weather"}`},
		{calls, `{"answer":{"name":"weather","arguments":"{\"city\":\"Rome\",\"unit\":\"C\"}"}}`,
			`{"arguments":{"city":"Rome","unit":"C"},"name":"weather"}`},
		{calls, `{"name":"stop"}`, `{"arguments":{},"name":"stop"}`},
		{calls, `{"name":"weather","arguments":{}}`, ""},
		{calls, `{"name":"delete","arguments":{}}`, ""},
	} {
		a, _, ok := read.AnswerIn(c.q, c.reply)
		if string(a) != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %t; want %q", c.reply, a, ok, c.want)
		}
		if again, fine := read.Canonical(c.q, string(a)); ok && (!fine || again != a) {
			t.Errorf("%s: read again as %q, %t", a, again, fine)
		}
	}
}

// Samples and variations are answers, and variations differ.
func TestSamples(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		for _, q := range []*synod.Question{invoice, calls} {
			a := read.Sample(q, r)
			b := read.Vary(q, a, r)
			for _, x := range []synod.Answer{a, b} {
				if got, ok := read.Canonical(q, string(x)); !ok || got != x {
					t.Fatalf("seed %d: %q is read as %q, %t", seed, x, got, ok)
				}
			}
			if a == b {
				t.Fatalf("seed %d: %q is its own variation", seed, a)
			}
		}
	}
}
