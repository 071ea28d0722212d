package read

import (
	"encoding/json"
	"math/big"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/clean"
)

// Proposal is what a player replies to Proposing: a whole number, or nil to
// abstain, with a reason for all and a note for itself.
type Proposal struct {
	Value  *int
	Reason string // public, cleaned
	Notes  string // private, cleaned
}

// ProposalReply reads a reply to Proposing. The value must be a whole number from low
// to high, written as a number or in quotation marks, or the word abstain; a reply
// that is anything else is unreadable.
func ProposalReply(r *synod.Reply, low, high int) (Proposal, bool) {
	switch {
	case r.Status != synod.OK:
		return Proposal{}, false
	case r.Typed:
		if r.Answer == synod.None {
			return Proposal{}, true
		}
		v, ok := whole(string(r.Answer), low, high)
		return Proposal{Value: v}, ok
	}
	body, wants := jsonObject(spoken(r.Text))
	if !wants {
		return Proposal{}, false
	}
	value, ok := member(body, "value")
	if !ok {
		return Proposal{}, false
	}
	p := Proposal{Reason: clean.Line(text(body, "public_reasoning"), synod.MaxReason), Notes: clean.Line(text(body, "internal_strategy"), synod.MaxNotes)}
	words := string(value)
	if json.Unmarshal(value, &words) == nil && strings.EqualFold(strings.TrimSpace(words), string(synod.Abstain)) {
		return p, true
	}
	p.Value, ok = whole(strings.TrimSpace(words), low, high)
	return p, ok
}

// VoteReply reads a reply to Voting: {"decision": "stop" | "continue" | "abstain"}.
func VoteReply(r *synod.Reply) (synod.Vote, bool) {
	switch {
	case r.Status != synod.OK:
		return "", false
	case r.Typed:
		return voted(string(r.Answer))
	}
	body, wants := jsonObject(spoken(r.Text))
	if !wants {
		return "", false
	}
	return voted(text(body, "decision"))
}

func voted(word string) (synod.Vote, bool) {
	for _, v := range []synod.Vote{synod.Stop, synod.Continue, synod.Abstain} {
		if strings.EqualFold(strings.TrimSpace(word), string(v)) {
			return v, true
		}
	}
	return "", false
}

// whole reads a whole number in a range; 25.0 is one, and 25.5 is none.
func whole(words string, low, high int) (*int, bool) {
	if len(words) > 30 {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(words)
	if !ok || strings.ContainsAny(words, "/_xXbBoOeEpP") || !r.IsInt() || !r.Num().IsInt64() {
		return nil, false
	}
	v := int(r.Num().Int64())
	return &v, v >= low && v <= high
}

// text is a member of an object that is a string; "" where it is not.
func text(body, name string) (s string) {
	if raw, ok := member(body, name); ok {
		json.Unmarshal(raw, &s) // anything else stays ""
	}
	return s
}
