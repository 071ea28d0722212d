package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
)

// said is what a member's model replied first, before it heard others.
type said struct {
	Prose   template.HTML // "": a number or a grade alone
	Seconds float64       // that the call took; 0: that is not known
}

// heard notes a reply of a seat's model.
func (t *runState) heard(seat synod.NodeID, r *synod.Reply) {
	t.trials[seat].count(r)
	if t.said[seat] == nil && r.Status == synod.OK {
		t.said[seat] = &said{markdown(spoken(r)), float64(r.Took) / 1000}
	}
}

// lastLine is the line with the value alone, which the page shows as a chip.
var lastLine = regexp.MustCompile(`(?i)\n\s*\**answer:.*\s*$`)

// spoken is what a reply says to a person: of an object with an answer its reasoning and the answer, and nothing of
// one with grades.
func spoken(r *synod.Reply) string {
	if r.Typed {
		return cmp.Or(r.Text, string(r.Answer))
	}
	text := strings.TrimSpace(r.Text)
	if !strings.HasPrefix(text, "{") {
		return lastLine.ReplaceAllString(text, "")
	}
	var o struct {
		Reasoning string
		Answer    any
	}
	if json.Unmarshal([]byte(text), &o) != nil {
		return text
	}
	if o.Answer == nil {
		return o.Reasoning
	}
	return strings.TrimSpace(fmt.Sprintf("%s\n\n%v", o.Reasoning, o.Answer))
}

// Share is a part of the members that hold one answer, for a bar.
type Share struct{ From, Width, Colour int }

// Shares are the parts of the bar that shows how far the members agree.
func (b *board) Shares() (all []Share) {
	at := 0
	for _, a := range b.Answers {
		if n := len(a.Seats); n > 0 {
			all = append(all, Share{at, n, a.Colour})
			at += n
		}
	}
	return all
}

// alone says what one call of the dearest member costs, for comparison; "" if no cost is known, or it is nothing.
func alone(models []outcome.ModelResult) string {
	most, name := 0.0, ""
	for _, m := range models {
		if m.Cost == nil || m.Calls == 0 {
			continue
		}
		if usd := m.Cost.USD / float64(m.Calls); usd > most {
			most, name = usd, m.Model
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("one call of %s alone: about %s", line(name), dollars(most))
}
