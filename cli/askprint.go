package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
)

// announce says, before anything is asked, how the answer will be read and what
// the graph guarantees.
func (a *app) announce(cmd *cobra.Command, c *council.Council, q synod.Question, whole bool) {
	if a.quiet {
		return
	}
	b := c.Bound()
	w := cmd.ErrOrStderr()
	fmt.Fprintf(w, "form: %s · at most %d calls\n", q.Form, c.Planned())
	if b.Guarantee == council.None {
		fmt.Fprintf(w, "no guarantee: %s\n", strings.TrimPrefix(b.Note, "no guarantee: "))
	} else if a.verbose || whole {
		fmt.Fprintf(w, "guarantee %s: %s\n", b.Guarantee, b.Note)
	}
}

// print writes the outcome: JSON, or the answer alone on stdout and the summary
// on stderr.
func (a *app) print(cmd *cobra.Command, f askFlags, o council.Outcome, c *council.Council) error {
	if f.asJSON {
		if err := writeJSON(cmd.OutOrStdout(), o); err != nil {
			return fail(exitError1, err)
		}
		return nil
	}
	if !a.quiet {
		a.summary(cmd, o)
	}
	switch {
	case o.Answer != nil:
		fmt.Fprintln(cmd.OutOrStdout(), oneLine(string(*o.Answer)))
	case f.fallback == "best-effort" && len(o.Votes) > 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: what follows is the leading answer, not a decision\n", o.Status)
		fmt.Fprintln(cmd.OutOrStdout(), oneLine(string(o.Votes[0].Answer)))
	}
	return nil
}

// summary is the line that says what the answer is worth, with every member that
// is not a live model named as such.
func (a *app) summary(cmd *cobra.Command, o council.Outcome) {
	w := cmd.ErrOrStderr()
	parts := []string{o.Status}
	if len(o.Votes) > 0 {
		parts[0] = fmt.Sprintf("%s %d/%s after %s", o.Status, len(o.Votes[0].Seats), electorate(o), rounds(len(o.Rounds)-1))
		parts = append(parts, fmt.Sprintf("first given independently by %d", o.Votes[0].Independent))
	}
	switch {
	case o.Panel != nil:
		parts = append(parts, fmt.Sprintf("bound: up to F=%d Byzantine evaluators (claim %s)", o.Bound.F, o.Bound.Guarantee))
	case o.Bound.Guarantee == council.None:
		parts = append(parts, fmt.Sprintf("no guarantee at F=%d (graph r=%d)", o.Bound.F, o.Bound.R))
	default:
		parts = append(parts, fmt.Sprintf("bound: up to F=%d Byzantine neighbours each (graph r=%d, claim %s)", o.Bound.F, o.Bound.R, o.Bound.Guarantee))
	}
	parts = append(parts, fmt.Sprintf("%d calls of %d", o.Calls.Made, o.Calls.Planned), fmt.Sprintf("%.1f s", o.Seconds), "cost: "+oneLine(o.Money.String()))
	fmt.Fprintln(w, strings.Join(parts, " · "))
	dissent(cmd, o)
	for _, line := range panel(o.Panel) {
		fmt.Fprintln(w, line)
	}
	labels(cmd, o)
	if o.Status != council.Degraded { // else the error says it
		for _, line := range unwell(o) {
			fmt.Fprintln(w, line)
		}
	}
	if a.verbose {
		fmt.Fprintf(w, "seed %d · journal %s · digest %s\n", o.Seed, o.Journal, o.Digest)
	}
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", max(n, 0))
}

// dissent names the other answers and who ends on them.
func dissent(cmd *cobra.Command, o council.Outcome) {
	for i, v := range o.Votes {
		if i == 0 && o.Answer != nil {
			continue
		}
		if i == 4 {
			fmt.Fprintf(cmd.ErrOrStderr(), "  … and %d more answers\n", len(o.Votes)-i)
			break
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "  %d say %q (%s)\n", len(v.Seats), oneLine(string(v.Answer)), strings.Join(v.Seats, ", "))
	}
}

// labels says which members are not live models, and what a small one is worth.
func labels(cmd *cobra.Command, o council.Outcome) {
	w := cmd.ErrOrStderr()
	for _, kind := range []llm.Kind{llm.Simulated, llm.Recorded} {
		if ids := ofKind(o, kind); len(ids) > 0 {
			fmt.Fprintf(w, "%s members, not live models: %s\n", kind, strings.Join(ids, ", "))
		}
	}
	var liars []string
	said := map[string]bool{}
	for _, m := range o.Members {
		if len(m.Adapted) > 0 && !said[m.Model] {
			said[m.Model] = true
			fmt.Fprintf(w, "%s is asked otherwise than set, for its server refuses that: %s\n", m.Model, strings.Join(m.Adapted, "; "))
		}
		if m.Adversary != nil {
			liars = append(liars, m.ID+" ("+*m.Adversary+")")
		}
	}
	if len(liars) > 0 {
		fmt.Fprintf(w, "adversaries put there for the experiment: %s\n", strings.Join(liars, ", "))
	}
	if ids := ofKind(o, llm.Embedded); len(ids) == len(o.Members) {
		fmt.Fprintln(w, "every seat is the small model in the box: good for seeing the machinery, not for relying on the answer, and its votes are not independent.\nSeat better ones: synod ask --model openai:gpt-4o-mini --model ollama:llama3.2 …")
	}
}

func ofKind(o council.Outcome, kind llm.Kind) (ids []string) {
	for _, m := range o.Members {
		if m.Kind == kind {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// unwell says which members had failed calls.
func unwell(o council.Outcome) (lines []string) {
	for _, m := range o.Members {
		var failed []string
		for _, s := range synod.Statuses() {
			if n := m.Calls[s]; n > 0 && s != synod.OK {
				failed = append(failed, fmt.Sprintf("%d %s", n, s))
			}
		}
		if len(failed) == 0 {
			continue
		}
		line := fmt.Sprintf("  %s (%s): %s", m.ID, m.Model, strings.Join(failed, ", "))
		if m.Trouble != "" {
			line += ": " + oneLine(m.Trouble)
		}
		lines = append(lines, line)
	}
	return lines
}

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
