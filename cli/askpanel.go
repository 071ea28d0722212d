package cli

import (
	"fmt"
	"strings"

	"synod.dev/synod/council"
)

// electorate is how many there are to decide, and what they are if not all do.
func electorate(o council.Outcome) string {
	if o.Panel != nil {
		return fmt.Sprintf("%d evaluators", len(o.Panel.Evaluators))
	}
	return fmt.Sprint(len(o.Members))
}

// panel says which answers and marks count for nothing, and why, and the totals of
// the rest.
func panel(p *council.Panel) (lines []string) {
	if p == nil {
		return nil
	}
	var totals []string
	for _, a := range p.Answers {
		switch {
		case a.Bottom != "":
			lines = append(lines, fmt.Sprintf("  %s has no answer: %s", a.Worker, a.Bottom))
		case a.Total != nil && a.Answer != nil:
			total := fmt.Sprintf("%s %.1f (%q)", a.Worker, *a.Total, oneLine(string(*a.Answer)))
			if a.Converged != nil && !*a.Converged {
				total += " (not converged)"
			}
			totals = append(totals, total)
		}
	}
	if len(totals) > 0 {
		lines = append(lines, "  scores of 100: "+strings.Join(totals, ", "))
	}
	for _, e := range p.Evaluators {
		if e.Bottom == "" {
			continue
		}
		line := fmt.Sprintf("  %s gave no marks: %s", e.ID, e.Bottom)
		if e.Why != "" {
			line += "; " + oneLine(e.Why)
		}
		lines = append(lines, line)
	}
	if len(p.Suspects) > 0 {
		lines = append(lines, "  told different things to different members: "+strings.Join(p.Suspects, ", "))
	}
	if p.Unsafe {
		lines = append(lines, "  words came late: either delays were longer than a round, and evaluators may not agree, or a liar wants it to look so")
	}
	return lines
}
