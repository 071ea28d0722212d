package ask

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// announce prints with -v or --dry-run, before any model is asked, the form of the answer, the planned calls and the
// guarantee.
func announce(a *app.App, cmd *cobra.Command, c *council.Council, q synod.Question, whole bool) {
	if !a.Verbose && !whole {
		return
	}
	b := c.Plan().Bound()
	w := cmd.ErrOrStderr()
	app.PrintLine(w, fmt.Sprintf("form: %s · at most %d calls", q.Form, c.Plan().Calls()))
	if q.Form == synod.JSON {
		app.PrintLine(w, plan.MergeNote(c.Plan()))
	}
	if b.Guarantee == plan.None {
		app.PrintLine(w, "no guarantee: "+strings.TrimPrefix(b.Note, "no guarantee: "))
	} else {
		app.PrintLine(w, fmt.Sprintf("guarantee %s: %s", b.Guarantee, b.Note))
	}
	if h := c.Plan().Harm(); h != nil {
		app.PrintLine(w, fmt.Sprintf("%s; %s", h, h.Reach()))
	}
	app.PrintLine(w, defencesOf(c.Plan()))
	for _, line := range display.OverTime(b) {
		app.PrintLine(w, line)
	}
}

// defencesOf says which defences a council has and which it has not.
func defencesOf(p *plan.Plan) string {
	var on, off []string
	for _, d := range plan.Defences(p) {
		if d.On {
			on = append(on, d.Name)
		} else {
			off = append(off, d.Name)
		}
	}
	return fmt.Sprintf("defences: %s; off: %s", cmp.Or(strings.Join(on, ", "), "none"),
		cmp.Or(strings.Join(off, ", "), "none"))
}

// printOutcome writes the outcome: JSON, or the answer on stdout and a summary on stderr.
func printOutcome(a *app.App, cmd *cobra.Command, f askFlags, o outcome.Outcome, c *council.Council) error {
	if f.asJSON {
		if err := app.WriteJSON(cmd.OutOrStdout(), o); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
		return nil
	}
	switch {
	case o.Answer != nil:
		fmt.Fprintln(cmd.OutOrStdout(), display.DecisionText(&o, o.Text))
	case f.fallback == "best-effort" && len(o.Votes) > 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: the following is the leading answer, not a decision\n", o.Status)
		fmt.Fprintln(cmd.OutOrStdout(), display.DecisionText(&o, o.Votes[0].Text))
	case o.Words != nil && !a.Quiet: // the guess may be wrong; stdout is for decisions
		w := cmd.ErrOrStderr()
		app.PrintLine(w, fmt.Sprintf("%s: the members did not agree on a value, which was guessed to be asked for. "+
			"The following is the text of %s alone, not a decision:", o.Status, app.OneLine(o.Words.Member)))
		fmt.Fprintln(w, display.WithMarks(&o, o.Words.Text))
	}
	if a.Quiet || o.Stopped == outcome.Preflight { // no question was asked; the error says why
		return nil
	}
	w := cmd.ErrOrStderr()
	if a.Verbose {
		summary(cmd, o)
		printVotes(a, w, c)
	} else {
		twoLines(w, &o, f.form == "" && c.Plan().Spec().Form == "")
		display.PrintClaims(w, &o)
	}
	nameUnpriced(a, w, &o)
	if err := display.ShowMore(w, &o, a.Verbose, f.show); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	return nil
}

// summary prints with -v all of what the answer is worth: votes, guarantee, cost, other answers, and
// members that are not live models.
func summary(cmd *cobra.Command, o outcome.Outcome) {
	w := cmd.ErrOrStderr()
	app.Paint(w, statusColour(o.Status), o.Status)
	line := table.Wrap(strings.Join(headline(&o), " · "), table.Columns(w))
	fmt.Fprintln(w, strings.TrimPrefix(line, o.Status))
	if o.Reference != nil {
		app.PrintLine(w, "  "+app.OneLine(o.Reference.String()))
	}
	app.PrintLine(w, "  "+display.Withstands(o))
	if p := display.Probability(o); p != "" {
		app.PrintLine(w, "  "+p)
	}
	if display.PrintFields(w, o); o.Fields == nil {
		dissent(cmd, o)
	}
	if o.Presented != nil {
		for _, line := range o.Presented.Lines {
			app.PrintLine(w, "  "+app.OneLine(line))
		}
	}
	joined(w, &o)
	display.PrintClaims(w, &o)
	for _, line := range conduct(&o) {
		app.PrintLine(w, "  "+app.OneLine(line))
	}
	display.PrintLabels(w, o)
	if o.Answered() || o.Status != outcome.Degraded { // else the error contains it
		for _, line := range failedCalls(o) {
			app.PrintLine(w, line)
		}
	}
	if resume := app.Ask.Resume(&o); o.Answered() && resume != "" {
		fmt.Fprintln(w, "the rule is met; the remaining rounds can be played with:\n  "+resume)
	}
	details(w, o)
}

// headline returns the parts of the first line of a summary. The first one begins with the status.
func headline(o *outcome.Outcome) []string {
	parts := []string{o.Status}
	if o.Fields != nil {
		parts = append(parts, o.Reason)
	} else if len(o.Votes) > 0 {
		parts[0] = fmt.Sprintf("%s %d/%s after %s", o.Status, len(o.Votes[0].Seats), electorate(*o),
			display.Rounds(o.Rounds.Len()-1))
		parts = append(parts, beforeOthers(o))
	}
	if p := o.Presented; p != nil && p.Head != "" && len(o.Fields) == 0 {
		parts = []string{o.Status + ": " + app.OneLine(p.Head)}
	}
	if o.Answered() {
		parts = append(parts, o.EndedBy()...)
	}
	return append(parts, boundOf(o), display.CallsOf(o), fmt.Sprintf("%.1f s", o.Seconds),
		"cost: "+app.OneLine(o.Money.String()))
}

// joined prints the answers that were counted as one.
func joined(w io.Writer, o *outcome.Outcome) {
	for _, x := range o.Joined {
		line := "counted as " + app.OneLine(string(x.Answer)) + ", because members call them the same:"
		for _, a := range x.Same {
			line += fmt.Sprintf(" %q", app.OneLine(string(a)))
		}
		fmt.Fprintln(w, "  "+line)
	}
}

// boundOf says how many Byzantine members the run tolerates.
func boundOf(o *outcome.Outcome) string {
	switch {
	case o.Presented != nil && o.Bound.Voices >= o.Bound.F:
		return fmt.Sprintf("bound: up to F=%d Byzantine %s (claim %s)", o.Bound.F, o.Presented.Voters,
			o.Bound.Guarantee)
	case o.Bound.Guarantee == plan.None:
		return fmt.Sprintf("no guarantee at F=%d (graph r=%d)", o.Bound.F, o.Bound.R)
	case o.Bound.Voices < o.Bound.F:
		return fmt.Sprintf("bound: up to %d hostile models, because seats of one model fall together (F=%d counts "+
			"seats, graph r=%d, claim %s)", o.Bound.Voices, o.Bound.F, o.Bound.R, o.Bound.Guarantee)
	}
	return fmt.Sprintf("bound: up to F=%d Byzantine neighbours each (graph r=%d, claim %s)",
		o.Bound.F, o.Bound.R, o.Bound.Guarantee)
}

// details prints the replies with an impossible usage, and where the run is recorded.
func details(w io.Writer, o outcome.Outcome) {
	for _, m := range o.Members {
		if n := m.Misreports.Replies; n > 0 {
			fmt.Fprintf(w, "  %s (%s): %d replies with a usage that cannot be true, charged what was reserved; "+
				"the first: %s\n", m.ID, m.Model, n, app.OneLine(m.Misreports.First))
		}
	}
	fmt.Fprintf(w, "seed %d · journal %s · digest %s\n", o.Seed, o.Journal, o.Digest)
}

// beforeOthers says how many voices gave an answer in round 0.
func beforeOthers(o *outcome.Outcome) string {
	said := app.Count(o.Votes[0].Independent, "voice") + " said this "
	if o.Asked != nil && o.Bound.F > 0 { // who is asked later may copy
		return said + fmt.Sprintf("first, at most F=%d of them as a copy", o.Bound.F)
	}
	return said + "before seeing others"
}

func statusColour(status string) string {
	switch status {
	case outcome.Agreed:
		return app.Green
	case outcome.Degraded:
		return app.Yellow
	}
	return app.Red
}

// dissent prints the other answers and their seats.
func dissent(cmd *cobra.Command, o outcome.Outcome) {
	others := slices.DeleteFunc(slices.Clone(o.Votes), func(v outcome.Vote) bool {
		return o.Answer != nil && v.Answer == *o.Answer
	})
	most := 3
	if o.Answer == nil {
		most = 4
	}
	for i, v := range others {
		if i == most {
			fmt.Fprintf(cmd.ErrOrStderr(), "  … and %d more answers\n", len(others)-i)
			break
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "  %s answered %q (%s)\n", app.Count(len(v.Seats), "member"),
			outcome.Shortened(o.Form, v.Text), strings.Join(withModels(o, v.Seats), ", "))
	}
}

// withModels adds the model to each id of a seat that does not contain it.
func withModels(o outcome.Outcome, seats []string) (names []string) {
	models := map[string]string{}
	for _, m := range o.Members {
		models[m.ID] = m.Model
	}
	for _, id := range seats {
		if model := models[id]; model != "" && !strings.Contains(id, model) {
			id += ": " + app.OneLine(model)
		}
		names = append(names, id)
	}
	return names
}

// failedCalls lists the members with failed calls.
func failedCalls(o outcome.Outcome) (lines []string) {
	for _, m := range o.Members {
		var failed []string
		for _, s := range synod.Statuses() {
			if n := m.Calls.Of(s); n > 0 && s != synod.OK {
				failed = append(failed, fmt.Sprintf("%d %s", n, s))
			}
		}
		if len(failed) == 0 {
			continue
		}
		line := fmt.Sprintf("  %s (%s): %s", m.ID, m.Model, strings.Join(failed, ", "))
		if m.Trouble != "" {
			line += ": " + app.OneLine(m.Trouble)
		}
		lines = append(lines, line)
		if u := m.Unreadable; u != nil && m.Calls.Of(synod.Unreadable) > 0 {
			lines = append(lines, "    "+app.Help(u), fmt.Sprintf("    the end of what %s wrote, in its own words: %q",
				m.ID, app.OneLine(u.End)))
		}
	}
	return lines
}

// unreadReplies says in a line for each model how many replies of its members could not be read, and what helps. The
// last words are those of the first of them.
func unreadReplies(o *outcome.Outcome) (lines []string) {
	byModel := map[string][]*outcome.Member{}
	var models []string
	for i := range o.Members {
		m := &o.Members[i]
		if m.Calls.Of(synod.Unreadable) == 0 || m.Unreadable == nil && (m.Trouble == "" || m.Kind == llm.Simulated) {
			continue
		}
		if byModel[m.Model] == nil {
			models = append(models, m.Model)
		}
		byModel[m.Model] = append(byModel[m.Model], m)
	}
	for _, model := range models {
		lines = append(lines, unreadOf(byModel[model]))
	}
	return lines
}

// unreadOf is the line about members with one model.
func unreadOf(members []*outcome.Member) string {
	ids, unread, all := make([]string, len(members)), 0, 0
	for i, m := range members {
		n := m.Calls.Of(synod.Unreadable)
		ids[i], unread, all = m.ID, unread+n, all+n+m.Calls.Of(synod.OK)
	}
	has := func(m *outcome.Member) bool { return m.Unreadable != nil }
	first := members[max(0, slices.IndexFunc(members, has))]
	line := fmt.Sprintf("%s (%s): %d of %d replies could not be read", strings.Join(ids, ", "), first.Model, unread,
		all)
	if first.Unreadable == nil {
		return line + ": " + app.OneLine(first.Trouble)
	}
	if first.Unreadable.Failed != nil {
		return fmt.Sprintf("%s (%s): %s. The last words of one, as %s wrote them: %q", strings.Join(ids, ", "),
			first.Model, app.Help(first.Unreadable), first.ID, app.OneLine(first.Unreadable.End))
	}
	return fmt.Sprintf("%s; %s. The last words of one, as %s wrote them: %q", line, app.Help(first.Unreadable),
		first.ID, app.OneLine(first.Unreadable.End))
}

// electorate describes how many members vote, and their role if only some do.
func electorate(o outcome.Outcome) string {
	if p := o.Presented; p != nil {
		return fmt.Sprintf("%d %s", p.Count, p.Voters)
	}
	return fmt.Sprint(len(o.Members))
}

// printVotes prints how many independent votes the members of a council are worth, if that was measured.
func printVotes(a *app.App, w io.Writer, c *council.Council) {
	seats := c.Seats()
	if votes, r := display.KnownVotes(a, c.Plan().Spec().Council, seats); votes != nil {
		day, _, _ := strings.Cut(r.Created, "T")
		fmt.Fprintf(w, "  effective votes: %s, measured on %s, %s\n", display.VotesText(votes, len(seats)),
			app.OneLine(r.Task), app.OneLine(day))
	}
}

// conduct lists who is proved to have equivocated, and who was silent, late or refused.
func conduct(o *outcome.Outcome) (lines []string) {
	for _, a := range o.Evidence {
		lines = append(lines, fmt.Sprintf("%s signed two values for one slot: evidence held by %s", a.ID,
			strings.Join(a.By, ", ")))
	}
	for i := range o.Members {
		m := &o.Members[i]
		var parts []string
		for _, c := range []struct {
			n    int
			what string
		}{{m.Conduct.Silent, "silent to others %d times"}, {m.Conduct.Late, "late in %d rounds"},
			{m.Conduct.Refused, "refused %d calls"}} {
			if c.n > 0 {
				parts = append(parts, fmt.Sprintf(c.what, c.n))
			}
		}
		if m.Uncommitted {
			lines = append(lines, m.ID+" did not commit to its first answer in time, so that does not count as "+
				"independent (no proof of a fault of its own)")
		}
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%s was %s (no proof of a fault of its own)", m.ID,
				strings.Join(parts, ", ")))
		}
	}
	return lines
}
