package display

import (
	"fmt"
	"io"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/protocol"
)

// DecisionText is a decision, or a leading answer, as it is printed: prose with its lines and with marks at its claims,
// and everything else on one line, as the members spelled it.
func DecisionText(o *outcome.Outcome, text string) string {
	switch o.Form {
	case synod.Prose:
	case synod.JSON, synod.Action:
		return jsonLine(synod.Answer(text))
	default:
		return app.OneLine(text)
	}
	return WithMarks(o, text)
}

// claimMarks stand after sentences.
var claimMarks = map[protocol.ClaimVerdict]string{protocol.Supported: "✓", protocol.Disputed: "✗", protocol.Open: "?"}

// markOf returns the mark of a sentence.
func markOf(c *outcome.Claim) string {
	if c.Unchecked {
		return "unchecked "
	}
	return claimMarks[c.Verdict]
}

// PrintClaims prints who supports and who contradicts which sentence.
func PrintClaims(w io.Writer, o *outcome.Outcome) {
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
			app.OneLine(c.Text), seatsOrNone(c.Supporters), seatsOrNone(c.Critics))
	}
}

func seatsOrNone(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// WithMarks is the answer with a mark and a number after each of its sentences.
func WithMarks(o *outcome.Outcome, text string) string {
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
