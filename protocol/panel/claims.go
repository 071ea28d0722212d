package panel

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/llm/read"
)

// Checking makes a prompt for verdicts on the parts of the text that is Candidate answerable.
type Checking struct {
	Parts  []string     `json:"parts"`            // in the order in which they are shown
	Before synod.Answer `json:"before,omitempty"` // the text that Candidate replaces; None: there is none
}

// Same implements synod.Detail.
func (d Checking) Same(other synod.Detail) bool {
	o, ok := other.(Checking)
	return ok && o.Before == d.Before && slices.Equal(o.Parts, d.Parts)
}

// String implements synod.Detail.
func (d Checking) String() string { return fmt.Sprintf("%d sentences", len(d.Parts)) }

// Key returns the name of the part with index i.
func (d Checking) Key(i int) string { return fmt.Sprintf("sentence_%d", i+1) }

// Faithful returns the name of the question whether the new text adds nothing.
func (d Checking) Faithful() string { return "nothing_new" }

// keys returns the names of the reply.
func (d Checking) keys() (keys []string) {
	for i := range d.Parts {
		keys = append(keys, d.Key(i))
	}
	if d.Before != synod.None {
		keys = append(keys, d.Faithful())
	}
	return keys
}

// Schema returns the schema of the reply.
func (d Checking) Schema(*synod.Prompt) json.RawMessage {
	var fields []prompt.Field
	for _, k := range d.keys() {
		fields = append(fields, prompt.Field{Name: k, Schema: map[string]any{"type": "string",
			"enum": []Verdict{Supported, Contradicted, CannotTell}}})
	}
	return prompt.Object(fields...)
}

// Reads implements synod.Readable.
func (d Checking) Reads(_ *synod.Prompt, r *synod.Reply) bool {
	_, _, err := verdictsIn(r, d)
	return err == nil
}

// Simulate draws the verdicts: the abler the member, the more sentences it supports. It says nothing about the
// sentences, which are invented too.
func (d Checking) Simulate(_ *synod.Prompt, m synod.Simulation) synod.Reply {
	verdicts := map[string]Verdict{}
	for i, k := range d.keys() {
		verdicts[k] = Supported
		if i < len(d.Parts) {
			switch u := m.Rand.Float64(); {
			case u > (1+m.Ability)/2:
				verdicts[k] = Contradicted
			case u > m.Ability:
				verdicts[k] = CannotTell
			}
		}
	}
	b, _ := json.Marshal(verdicts) // texts
	return synod.Reply{Status: synod.OK, Text: string(b)}
}

var errVerdicts = errors.New("the reply has no verdict, or an unknown one, on some sentence")

// verdictsIn reads a reply to a Checking: all verdicts or none.
func verdictsIn(r *synod.Reply, d Checking) (all []Verdict, faithful Verdict, err error) {
	if r.Status != synod.OK {
		return nil, "", fmt.Errorf("the call failed (%s)", r.Status)
	}
	body, ok := read.JSONObject(r)
	if !ok {
		return nil, "", errVerdicts
	}
	for _, k := range d.keys() {
		v := Verdict(strings.ToLower(strings.TrimSpace(read.TextMember(body, k))))
		if v != Supported && v != Contradicted && v != CannotTell {
			return nil, "", errVerdicts
		}
		all = append(all, v)
	}
	if d.Before != synod.None {
		faithful = all[len(d.Parts)]
	}
	return all[:len(d.Parts)], faithful, nil
}

// Rewriting makes a prompt for a text without some sentences answerable.
type Rewriting struct {
	Parts []string `json:"parts"` // what to leave out
}

// Same implements synod.Detail.
func (d Rewriting) Same(other synod.Detail) bool {
	o, ok := other.(Rewriting)
	return ok && slices.Equal(o.Parts, d.Parts)
}

// String implements synod.Detail.
func (d Rewriting) String() string { return fmt.Sprintf("without %d sentences", len(d.Parts)) }

// Simulate takes the sentences out of the text.
func (d Rewriting) Simulate(p *synod.Prompt, _ synod.Simulation) synod.Reply {
	text := string(p.Candidate)
	for _, c := range d.Parts {
		text = strings.ReplaceAll(text, c, "")
	}
	return synod.Reply{Status: synod.OK, Text: strings.TrimSpace(text)}
}
