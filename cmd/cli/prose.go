package cli

import (
	"fmt"
	"io"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
)

// suit fits form and protocol to one another. Where the form is guessed and the question wants prose, the council
// decides prose, by the default protocol for it if its own counts equal answers. Small models in the box write none
// that is worth reading, so for them it stays text, and so it does in a council that cannot decide prose. Where no
// protocol is named, prose that is asked for is decided by the default protocol too.
func (f *askFlags) suit(q *synod.Question, spec *plan.Spec, from plan.Origin) {
	chosen := plan.Chosen{F: from["f"] != "" && from["f"] != modelsLayer && from["f"] != defaultLayer}
	for key := range from {
		chosen.Protocol = chosen.Protocol || key == "protocol" || strings.HasPrefix(key, "protocol.")
	}
	guessed := f.form == "" && spec.Form == "" && q.Form != synod.JSON && q.Form != synod.Action
	if guessed && (f.claims || f.drop || spec.Claims) {
		q.Form, q.Options, q.Guessed, guessed = synod.Prose, nil, false, false
	}
	switch {
	case guessed && (spec.Runner.Nodes() || inBox(spec)):
		prose := q.Form == synod.Prose && spec.Runner.Nodes() && nodesDecideProse(spec)
		if council.Briefly(q); prose {
			q.Form = synod.Prose
		}
	case guessed && q.Form == synod.Prose:
		if other, ok := spec.ForProse(chosen.Protocol); ok {
			*spec = other
		} else {
			council.Briefly(q)
		}
	case q.Form == synod.Prose, q.Form == synod.JSON && mergesProse(q):
		spec.Suit(synod.Prose, chosen)
	}
	if f.drop {
		spec.Claims = true
		protocol := plan.Params{"drop-disputed": true}
		for k, v := range spec.Protocol {
			protocol[k] = v
		}
		spec.Protocol = protocol
	}
	if f.claims {
		spec.Claims = true
	}
}

// mergesProse reports whether a part of a JSON question is decided as prose.
func mergesProse(q *synod.Question) bool {
	s, err := read.Schema(q)
	return err == nil && s.Prose() != ""
}

// nodesDecideProse reports whether the council of a roster decides prose and has no form of its own. Another protocol
// cannot be chosen: its members have signed theirs.
func nodesDecideProse(spec *plan.Spec) bool {
	p, err := plan.New(*spec)
	if err != nil { // opening the council says why
		return false
	}
	of := p.Spec()
	return of.Form == "" && of.Suit(synod.Prose, plan.Chosen{Protocol: true, F: true})
}

// inBox reports whether all seats have embedded models.
func inBox(spec *plan.Spec) bool {
	for _, s := range spec.Seats {
		name, _ := spec.Models[s.Model]["provider"].(string)
		if p, err := llm.Providers.Find(name); err != nil || p.Kind != llm.Embedded {
			return false
		}
	}
	return len(spec.Seats) > 0
}

// decisionText is a decision, or a leading answer, as it is printed: prose with its lines and with marks at its claims,
// and everything else on one line, as the members spelled it.
func decisionText(o *counciloutcome.Outcome, text string) string {
	switch o.Form {
	case synod.Prose:
	case synod.JSON, synod.Action:
		return jsonLine(synod.Answer(text))
	default:
		return oneLine(text)
	}
	return withMarks(o, text)
}

// claimMarks stand after sentences.
var claimMarks = map[protocol.ClaimVerdict]string{protocol.Supported: "✓", protocol.Disputed: "✗", protocol.Open: "?"}

// markOf returns the mark of a sentence.
func markOf(c *counciloutcome.Claim) string {
	if c.Unchecked {
		return "unchecked "
	}
	return claimMarks[c.Verdict]
}

// printClaims prints who supports and who contradicts which sentence.
func printClaims(w io.Writer, o *counciloutcome.Outcome) {
	if len(o.Claims) == 0 {
		return
	}
	counts, unchecked := map[protocol.ClaimVerdict]int{}, 0
	for _, c := range o.Claims {
		counts[c.Verdict]++
		if c.Unchecked {
			unchecked++
		}
	}
	fmt.Fprintf(w, "%d sentences: %d supported, %d disputed, %d open, %d of these unchecked (F=%d)\n", len(o.Claims),
		counts[protocol.Supported], counts[protocol.Disputed], counts[protocol.Open], unchecked, o.Bound.F)
	for i := range o.Claims {
		c := &o.Claims[i]
		fmt.Fprintf(w, "  %s %s %s: %s (for: %s; against: %s)\n", strings.TrimSpace(markOf(c)), c.ID, c.Verdict,
			oneLine(c.Text), seatsOrNone(c.Supporters), seatsOrNone(c.Critics))
	}
}

func seatsOrNone(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// withMarks is the answer with a mark and a number after each of its sentences.
func withMarks(o *counciloutcome.Outcome, text string) string {
	marks := map[int]string{} // by the end of the sentence
	for i := range o.Claims {
		if c := &o.Claims[i]; c.End > 0 && c.End <= len(text) {
			marks[c.End] += fmt.Sprintf(" [%s%s]", markOf(c), c.ID)
		}
	}
	var s strings.Builder
	for i := range len(text) + 1 {
		s.WriteString(marks[i])
		if i < len(text) {
			s.WriteByte(text[i])
		}
	}
	return s.String()
}
