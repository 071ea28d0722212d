package bargain

import (
	"encoding/json"
	"math/big"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read"
)

// Move is a player's reply to Proposing: a value, or nil to abstain, with a
// reason for everybody and a note for itself. Both texts have been cleaned.
type Move struct {
	Value  *int
	Reason string
	Notes  string
}

// ReadMove reads a reply to Proposing. The value must be a whole number from low
// to high, written as a number or as a string, or the word abstain. Any other reply
// is unreadable.
func ReadMove(r *synod.Reply, low, high int) (p Move, ok bool) {
	switch {
	case r.Status != synod.OK:
		return Move{}, false
	case r.Typed:
		if r.Answer == synod.None {
			return Move{}, true
		}
		p.Value, ok = readWhole(string(r.Answer), low, high)
		return p, ok
	}
	body, ok := read.JSONObject(r)
	if !ok {
		return Move{}, false
	}
	value, ok := read.Member(body, "value")
	if !ok {
		return Move{}, false
	}
	p.Reason = clean.Line(read.TextMember(body, "public_reasoning"), MaxPublic)
	p.Notes = clean.Line(read.TextMember(body, "internal_strategy"), MaxNotes)
	text := string(value)
	if json.Unmarshal(value, &text) == nil && strings.EqualFold(strings.TrimSpace(text), string(Abstain)) {
		return p, true
	}
	p.Value, ok = readWhole(strings.TrimSpace(text), low, high)
	return p, ok
}

// ReadValue returns the number in a reply to Proposing, nil if the player abstains.
func ReadValue(r *synod.Reply, low, high int) (*int, bool) {
	p, ok := ReadMove(r, low, high)
	return p.Value, ok
}

// ReadVote reads a reply to Voting: {"decision": "stop" | "continue" | "abstain"}.
func ReadVote(r *synod.Reply) (Vote, bool) {
	text := string(r.Answer)
	switch {
	case r.Status != synod.OK:
		return "", false
	case !r.Typed:
		body, ok := read.JSONObject(r)
		if !ok {
			return "", false
		}
		text = read.TextMember(body, "decision")
	}
	for _, v := range []Vote{Stop, Continue, Abstain} {
		if strings.EqualFold(strings.TrimSpace(text), string(v)) {
			return v, true
		}
	}
	return "", false
}

// readWhole reads a whole number in a range. 25.0 is one, 25.5 is not.
func readWhole(text string, low, high int) (*int, bool) {
	if len(text) > 30 {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || strings.ContainsAny(text, "/_xXbBoOeEpP") || !r.IsInt() || !r.Num().IsInt64() {
		return nil, false
	}
	v := int(r.Num().Int64())
	return &v, v >= low && v <= high
}
