// Package bargain has what protocols share whose members bargain for a number (synod.Bargains): the prompts that ask
// for a proposal and for a vote, what they show, and how replies are read.
//
// Adversaries of such protocols use it too, so that they need to know none of them: an adversary that finds a *Table in
// a prompt proposes and votes in its own way.
//
// The package has rank 2: it needs llm/prompt and llm/read.
package bargain

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/prompt"
)

// The purposes of the prompts. Both carry a *Table.
const (
	Proposing synod.Purpose = "propose" // a value, with a public reason and private notes (GM-2)
	Voting    synod.Purpose = "vote"    // whether the game is to end
)

// Vote is a player's vote about ending the game (GM-2).
type Vote string

// The votes. A player that abstains, or does not vote, has not voted to stop.
const (
	Stop     Vote = "stop"
	Continue Vote = "continue"
	Abstain  Vote = "abstain"
)

// Table is the game as one player may see it (GM-1, GM-5). It is the Detail of the
// game's prompts.
type Table struct {
	Self      synod.NodeID `json:"self"`
	Round     int          `json:"round"`  // from 1
	Rounds    int          `json:"rounds"` // at most
	Low       int          `json:"low"`    // of the values, which are whole numbers
	High      int          `json:"high"`
	Threshold string       `json:"threshold"`         // how many votes end the game, for the prompt
	Hostile   bool         `json:"hostile,omitempty"` // the player plays against the others; only an adversary sets it
	Initial   *int         `json:"initial,omitempty"` // the value that the player was given
	Value     *int         `json:"value,omitempty"`   // the value that it holds
	Now       []Proposal   `json:"now,omitempty"`     // of this round, ascending by player; only to Voting
	Past      []Past       `json:"past,omitempty"`    // earlier rounds as far as they are remembered, ascending
	Notes     []string     `json:"notes,omitempty"`   // the player's own notes, which no other player sees
}

// Proposal is what a player sent to everybody in a round.
type Proposal struct {
	By     synod.NodeID `json:"by"`
	Value  *int         `json:"value"`            // nil: it abstained
	Reason string       `json:"reason,omitempty"` // untrusted
}

// Past is an earlier round.
type Past struct {
	Round     int        `json:"round"`
	Proposals []Proposal `json:"proposals"`
}

// TableOf returns the table of a prompt, or nil if the prompt is not from a game.
func TableOf(p *synod.Prompt) *Table {
	t, _ := p.Detail.(*Table)
	return t
}

// Same reports whether the other detail is an equal table.
func (t *Table) Same(other synod.Detail) bool {
	o, ok := other.(*Table)
	return ok && reflect.DeepEqual(t, o)
}

func (t *Table) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "round %d of %d", t.Round, t.Rounds)
	if t.Value != nil {
		fmt.Fprintf(&s, " holding %d", *t.Value)
	}
	shown := t.Now
	if len(shown) == 0 && len(t.Past) > 0 {
		shown = t.Past[len(t.Past)-1].Proposals
	}
	for _, p := range shown {
		if p.Value == nil {
			fmt.Fprintf(&s, " n%d=–", p.By)
		} else {
			fmt.Fprintf(&s, " n%d=%d", p.By, *p.Value)
		}
	}
	return s.String()
}

// Lines lists proposals, one line each, for templates.
func (t *Table) Lines(all []Proposal) string {
	var s strings.Builder
	for _, p := range all {
		fmt.Fprintf(&s, "player %d: ", p.By)
		if p.Value == nil {
			s.WriteString("said nothing\n")
			continue
		}
		fmt.Fprintf(&s, "%d", *p.Value)
		if p.Reason != "" {
			s.WriteString(", because " + clean.Line(p.Reason, MaxPublic))
		}
		s.WriteByte('\n')
	}
	return s.String()
}

// How many bytes of a player's own notes and of a public reason are kept.
const (
	MaxNotes  = 400
	MaxPublic = 600
)

// Schema returns the schema of the reply. Only a hostile player may abstain.
func (t *Table) Schema(p *synod.Prompt) json.RawMessage {
	if p.Purpose == Voting {
		votes := []Vote{Stop, Continue}
		if t.Hostile {
			votes = append(votes, Abstain)
		}
		return prompt.Object(prompt.Field{Name: "decision", Schema: map[string]any{"type": "string", "enum": votes}})
	}
	value := map[string]any{"type": "integer", "minimum": t.Low, "maximum": t.High}
	if t.Hostile && t.High-t.Low <= 100 {
		allowed := []any{}
		for v := t.Low; v <= t.High; v++ {
			allowed = append(allowed, v)
		}
		value = map[string]any{"enum": append(allowed, Abstain)}
	}
	return prompt.Object(
		prompt.Field{Name: "internal_strategy", Schema: map[string]any{"type": "string", "maxLength": MaxNotes / 2}},
		prompt.Field{Name: "value", Schema: value},
		prompt.Field{Name: "public_reasoning", Schema: map[string]any{"type": "string", "maxLength": MaxPublic / 2}},
	)
}

// Reads implements synod.Readable.
func (t *Table) Reads(p *synod.Prompt, r *synod.Reply) (ok bool) {
	if p.Purpose == Voting {
		_, ok = ReadVote(r)
	} else {
		_, ok = ReadMove(r, t.Low, t.High)
	}
	return ok
}

// Simulate is how a simulated player plays. It proposes the value that it holds with
// probability Stubbornness, else one of the last round's values, each with a weight of
// how many players proposed it to the power Sharpness. It votes to stop if all players
// except at most F proposed one value, and otherwise to go on; with probability Noise
// it votes the other way. One that Holds keeps its value. One that Stalls, or is Wary where
// the prompt mentions hostile players, votes to go on. A hostile one proposes any value and
// votes to go on.
func (t *Table) Simulate(p *synod.Prompt, m synod.Simulation) synod.Reply {
	r := synod.Reply{Status: synod.OK, Typed: true}
	if p.Purpose == Voting {
		r.Answer = synod.Answer(t.simulateVote(p, m))
	} else {
		r.Answer = synod.Answer(strconv.Itoa(t.simulateValue(m)))
	}
	return r
}

func (t *Table) simulateValue(m synod.Simulation) int {
	arbitrary := func() int { return t.Low + int(m.Rand.Uint64()%uint64(t.High-t.Low+1)) }
	if t.Hostile {
		return arbitrary()
	}
	own := arbitrary()
	if t.Value != nil {
		own = *t.Value
	}
	if uniform(m) < m.Stubbornness || m.Holds || len(t.Past) == 0 {
		return own
	}
	values, counts := tally(t.Past[len(t.Past)-1].Proposals)
	weight := func(i int) float64 {
		w := 1.0
		for range m.Sharpness {
			w *= float64(counts[i])
		}
		return w
	}
	sum := 0.0
	for i := range values {
		sum += weight(i)
	}
	left := uniform(m) * sum
	for i, v := range values {
		if left -= weight(i); left < 0 {
			return v
		}
	}
	return own
}

func (t *Table) simulateVote(p *synod.Prompt, m synod.Simulation) Vote {
	if t.Hostile || m.Stalls || m.Wary && p.Caution == synod.CautionMayExist {
		return Continue
	}
	_, counts := tally(t.Now)
	stop := len(counts) > 0 && slices.Max(counts)+p.F >= len(t.Now)
	if uniform(m) < m.Noise {
		stop = !stop
	}
	if stop {
		return Stop
	}
	return Continue
}

// uniform draws from [0,1).
func uniform(m synod.Simulation) float64 { return float64(m.Rand.Uint64()>>11) / (1 << 53) }

// tally lists the proposed values, ascending, and how many players proposed each.
func tally(all []Proposal) (values, counts []int) {
	for _, v := range Proposed(all) {
		if n := len(values); n > 0 && values[n-1] == v {
			counts[n-1]++
			continue
		}
		values, counts = append(values, v), append(counts, 1)
	}
	return values, counts
}

// Proposed lists the values of proposals, ascending.
func Proposed(all []Proposal) (values []int) {
	for _, p := range all {
		if p.Value != nil {
			values = append(values, *p.Value)
		}
	}
	slices.Sort(values)
	return values
}
