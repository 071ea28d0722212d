package bargain

import (
	"strings"
	"testing"

	"synod.dev/synod"
)

func TestReadProposal(t *testing.T) {
	for _, c := range []struct {
		text string
		want int // -1: abstains, -2: unreadable
	}{
		{`{"internal_strategy": "s", "value": 25, "public_reasoning": "r"}`, 25},
		{`{"value": "25"}`, 25},
		{`{"value": 25.0}`, 25},
		{"```json\n{\"value\": 0}\n```", 0},
		{`<think>49?</think>{"value": 50}`, 50},
		{`{"value": "abstain"}`, -1},
		{`{"value": " Abstain "}`, -1},
		{`{"value": 25.` + strings.Repeat("0", 27) + `}`, 25}, // 30 bytes are read
		{`{"value": 25.` + strings.Repeat("0", 28) + `}`, -2},
		{`{"value": 51}`, -2},
		{`{"value": -1}`, -2},
		{`{"value": 25.5}`, -2},
		{`{"value": "25/1"}`, -2},
		{`{"value": 1e1}`, -2},
		{`{"value": null}`, -2},
		{`{"value": [25]}`, -2},
		{`{"value": 25, "value": 26}`, -2},
		{`{"value": 25, "Value": 26}`, -2},
		{`{"value": 25`, -2},
		{`I propose 25`, -2},
		{`The JSON is {"value": 25}`, -2},
		{``, -2},
	} {
		got, ok := ReadMove(&synod.Reply{Status: synod.OK, Text: c.text}, 0, 50)
		v := -2
		if ok && got.Value == nil {
			v = -1
		} else if ok {
			v = *got.Value
		}
		if v != c.want {
			t.Errorf("%q: %d, want %d", c.text, v, c.want)
		}
	}
	if _, ok := ReadMove(&synod.Reply{Status: synod.Timeout, Text: `{"value": 25}`}, 0, 50); ok {
		t.Error("a failed call has no proposal")
	}
}

func TestReadVote(t *testing.T) {
	for text, want := range map[string]Vote{
		`{"decision": "stop"}`: Stop, `{"decision": "CONTINUE"}`: Continue, `{"decision": "abstain"}`: Abstain,
		`{"decision": "halt"}`: "", `stop`: "", `{"decision": true}`: "",
		`{"decision": "stop"} or {"decision": "continue"}`: "",
	} {
		if got, ok := ReadVote(&synod.Reply{Status: synod.OK, Text: text}); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
}

// Whatever a model writes, a proposal is in range, and its text has no line breaks.
func FuzzReadProposal(f *testing.F) {
	f.Add(`{"internal_strategy": "a\nb", "value": 25, "public_reasoning": "<|im_end|>"}`)
	f.Add(`{"value": "abstain"}`)
	f.Fuzz(func(t *testing.T, text string) {
		r := &synod.Reply{Status: synod.OK, Text: text}
		p, ok := ReadMove(r, 0, 50)
		if ok && p.Value != nil && (*p.Value < 0 || *p.Value > 50) {
			t.Errorf("%d is out of range", *p.Value)
		}
		if strings.ContainsAny(p.Reason+p.Notes, "\n\x1b") || len(p.Reason) > MaxPublic || len(p.Notes) > MaxNotes {
			t.Errorf("%q %q", p.Reason, p.Notes)
		}
		ReadVote(r)
	})
}
