package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council"
	counciloutcome "synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// announce prints with -v or --dry-run, before any model is asked, the form of the answer, the planned calls and the
// guarantee.
func (a *app) announce(cmd *cobra.Command, c *council.Council, q synod.Question, whole bool) {
	if !a.verbose && !whole {
		return
	}
	b := c.Plan().Bound()
	w := cmd.ErrOrStderr()
	say(w, fmt.Sprintf("form: %s · at most %d calls", q.Form, c.Plan().Calls()))
	if q.Form == synod.JSON {
		say(w, plan.MergeNote(c.Plan()))
	}
	if b.Guarantee == plan.None {
		say(w, "no guarantee: "+strings.TrimPrefix(b.Note, "no guarantee: "))
	} else {
		say(w, fmt.Sprintf("guarantee %s: %s", b.Guarantee, b.Note))
	}
	if h := c.Plan().Harm(); h != nil {
		say(w, fmt.Sprintf("%s; %s", h, h.Reach()))
	}
	say(w, defencesOf(c.Plan()))
	for _, line := range overTime(b) {
		say(w, line)
	}
}

// say prints a line, broken between words where a terminal is narrower.
func say(w io.Writer, line string) { fmt.Fprintln(w, table.Wrap(line, table.Columns(w))) }

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

// print writes the outcome: JSON, or the answer on stdout and a summary on stderr.
func (a *app) print(cmd *cobra.Command, f askFlags, o counciloutcome.Outcome, c *council.Council) error {
	if f.asJSON {
		if err := writeJSON(cmd.OutOrStdout(), o); err != nil {
			return fail(exitError1, err)
		}
		return nil
	}
	switch {
	case o.Answer != nil:
		fmt.Fprintln(cmd.OutOrStdout(), decisionText(&o, o.Text))
	case f.fallback == "best-effort" && len(o.Votes) > 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: the following is the leading answer, not a decision\n", o.Status)
		fmt.Fprintln(cmd.OutOrStdout(), decisionText(&o, o.Votes[0].Text))
	case o.Words != nil && !a.quiet: // the guess may be wrong; stdout is for decisions
		w := cmd.ErrOrStderr()
		say(w, fmt.Sprintf("%s: the members did not agree on a value, which was guessed to be asked for. The "+
			"following is the text of %s alone, not a decision:", o.Status, oneLine(o.Words.Member)))
		fmt.Fprintln(w, withMarks(&o, o.Words.Text))
	}
	if a.quiet || o.Stopped == counciloutcome.Preflight { // no question was asked; the error says why
		return nil
	}
	w := cmd.ErrOrStderr()
	if a.verbose {
		a.summary(cmd, o)
		a.printVotes(w, c)
	} else {
		twoLines(w, &o, f.form == "" && c.Plan().Spec().Form == "")
		printClaims(w, &o)
	}
	a.nameUnpriced(w, &o)
	if err := showMore(w, &o, a.verbose, f.show); err != nil {
		return fail(exitError1, err)
	}
	return nil
}

// summary prints with -v all of what the answer is worth: votes, guarantee, cost, other answers, and
// members that are not live models.
func (a *app) summary(cmd *cobra.Command, o counciloutcome.Outcome) {
	w := cmd.ErrOrStderr()
	parts := []string{o.Status}
	if o.Fields != nil {
		parts = append(parts, o.Reason)
	} else if len(o.Votes) > 0 {
		parts[0] = fmt.Sprintf("%s %d/%s after %s", o.Status, len(o.Votes[0].Seats), electorate(o),
			rounds(o.Rounds.Len()-1))
		parts = append(parts, beforeOthers(&o))
	}
	if p := o.Presented; p != nil && p.Head != "" && len(o.Fields) == 0 {
		parts = []string{o.Status + ": " + oneLine(p.Head)}
	}
	if o.Answered() {
		parts = append(parts, o.EndedBy()...)
	}
	parts = append(parts, boundOf(&o))
	parts = append(parts, callsOf(&o),
		fmt.Sprintf("%.1f s", o.Seconds), "cost: "+oneLine(o.Money.String()))
	paint(w, statusColour(o.Status), o.Status)
	line := table.Wrap(strings.Join(parts, " · "), table.Columns(w))
	fmt.Fprintln(w, strings.TrimPrefix(line, o.Status))
	say(w, "  "+withstands(o))
	if fields(w, o); o.Fields == nil {
		dissent(cmd, o)
	}
	if o.Presented != nil {
		for _, line := range o.Presented.Lines {
			say(w, "  "+oneLine(line))
		}
	}
	joined(w, &o)
	printClaims(w, &o)
	for _, line := range conduct(&o) {
		say(w, "  "+oneLine(line))
	}
	labels(w, o)
	if o.Answered() || o.Status != counciloutcome.Degraded { // else the error contains it
		for _, line := range failedCalls(o) {
			say(w, line)
		}
	}
	if resume := o.Continue(); o.Answered() && resume != "" {
		fmt.Fprintln(w, "the rule is met; the remaining rounds can be played with:\n  "+resume)
	}
	details(w, o)
}

// joined prints the answers that were counted as one.
func joined(w io.Writer, o *counciloutcome.Outcome) {
	for _, x := range o.Joined {
		line := "counted as " + oneLine(string(x.Answer)) + ", because members call them the same:"
		for _, a := range x.Same {
			line += fmt.Sprintf(" %q", oneLine(string(a)))
		}
		fmt.Fprintln(w, "  "+line)
	}
}

// boundOf says how many Byzantine members the run tolerates.
func boundOf(o *counciloutcome.Outcome) string {
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

// withstands says how many answers the decision does not depend on.
func withstands(o counciloutcome.Outcome) string {
	if o.Withstands == nil {
		return "withstands: not known, because " + o.Fragile
	}
	return fmt.Sprintf("withstands: %s ignored, %s changed", anyOf(o.Withstands.Ignored), anyOf(o.Withstands.Changed))
}

// anyOf formats a number of answers, whichever they are.
func anyOf(n int) string {
	switch n {
	case 0:
		return "no answer"
	case 1:
		return "any answer"
	}
	return fmt.Sprintf("any %d answers", n)
}

// details prints the replies with an impossible usage, and where the run is recorded.
func details(w io.Writer, o counciloutcome.Outcome) {
	for _, m := range o.Members {
		if n := m.Misreports.Replies; n > 0 {
			fmt.Fprintf(w, "  %s (%s): %d replies with a usage that cannot be true, charged what was reserved; "+
				"the first: %s\n",
				m.ID, m.Model, n, oneLine(m.Misreports.First))
		}
	}
	fmt.Fprintf(w, "seed %d · journal %s · digest %s\n", o.Seed, o.Journal, o.Digest)
}

// beforeOthers says how many voices gave an answer in round 0.
func beforeOthers(o *counciloutcome.Outcome) string {
	said := count(o.Votes[0].Independent, "voice") + " said this "
	if o.Asked != nil && o.Bound.F > 0 { // who is asked later may copy
		return said + fmt.Sprintf("first, at most F=%d of them as a copy", o.Bound.F)
	}
	return said + "before seeing others"
}

// callsOf says how many calls were made, and how many of them were retries at least.
func callsOf(o *counciloutcome.Outcome) string {
	made, planned := o.Calls.Made, o.Calls.Planned
	if o.Rereads > 0 {
		return fmt.Sprintf("%d calls (%d planned, %s after unreadable replies)", made, planned,
			count(o.Rereads, "second request"))
	}
	if made <= planned {
		return fmt.Sprintf("%d calls of %d", made, planned)
	}
	return fmt.Sprintf("%d calls (%d planned, %d more after failures)", made, planned, made-planned)
}

func statusColour(status string) string {
	switch status {
	case counciloutcome.Agreed:
		return green
	case counciloutcome.Degraded:
		return yellow
	}
	return red
}

// rounds formats a number of rounds.
func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", max(n, 0))
}

// dissent prints the other answers and their seats.
func dissent(cmd *cobra.Command, o counciloutcome.Outcome) {
	others := slices.DeleteFunc(slices.Clone(o.Votes), func(v counciloutcome.Vote) bool {
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
		fmt.Fprintf(cmd.ErrOrStderr(), "  %s answered %q (%s)\n", count(len(v.Seats), "member"),
			counciloutcome.Shortened(o.Form, v.Text), strings.Join(withModels(o, v.Seats), ", "))
	}
}

// withModels adds the model to each id of a seat that does not contain it.
func withModels(o counciloutcome.Outcome, seats []string) (names []string) {
	models := map[string]string{}
	for _, m := range o.Members {
		models[m.ID] = m.Model
	}
	for _, id := range seats {
		if model := models[id]; model != "" && !strings.Contains(id, model) {
			id += ": " + oneLine(model)
		}
		names = append(names, id)
	}
	return names
}

// labels prints which members are not live models, and a warning about the embedded
// model.
func labels(w io.Writer, o counciloutcome.Outcome) {
	for _, kind := range []llm.Kind{llm.Simulated, llm.Recorded} {
		if ids := o.OfKind(kind); len(ids) > 0 {
			fmt.Fprintf(w, "%s members, not live models: %s\n", kind, strings.Join(ids, ", "))
		}
	}
	assumed := map[string]bool{"": true}
	for _, m := range o.Members {
		if !assumed[m.Fooling] {
			fmt.Fprintf(w, "simulated members (%s)\n", m.Fooling)
		}
		assumed[m.Fooling] = true
	}
	var adversaries []string
	printed := map[string]bool{}
	for _, m := range o.Members {
		if len(m.Adapted) > 0 && !printed[m.Model] {
			printed[m.Model] = true
			fmt.Fprintf(w, "the server of %s takes not all settings; sent instead: %s\n", m.Model,
				strings.Join(m.Adapted, "; "))
		}
		if m.Adversary != nil {
			adversaries = append(adversaries, m.ID+" ("+*m.Adversary+")")
		}
	}
	if len(adversaries) > 0 {
		fmt.Fprintf(w, "simulated adversaries: %s\n", strings.Join(adversaries, ", "))
	}
	if ids := o.OfKind(llm.Embedded); len(ids) == len(o.Members) {
		fmt.Fprintln(w, "every member is the small embedded model: do not rely on the answer; its votes are not "+
			"independent.\nUse better models: synod ask --model openai:gpt-4o-mini --model ollama:llama3.2 …")
	}
}

// failedCalls lists the members with failed calls.
func failedCalls(o counciloutcome.Outcome) (lines []string) {
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
			line += ": " + oneLine(m.Trouble)
		}
		lines = append(lines, line)
		if u := m.Unreadable; u != nil && m.Calls.Of(synod.Unreadable) > 0 {
			lines = append(lines, "    "+u.Help, fmt.Sprintf("    the end of what %s wrote, in its own words: %q", m.ID,
				oneLine(u.End)))
		}
	}
	return lines
}

// unreadReplies says in a line for each model how many replies of its members could not be read, and what helps. The
// last words are those of the first of them.
func unreadReplies(o *counciloutcome.Outcome) (lines []string) {
	byModel := map[string][]*counciloutcome.Member{}
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
func unreadOf(members []*counciloutcome.Member) string {
	ids, unread, all := make([]string, len(members)), 0, 0
	for i, m := range members {
		n := m.Calls.Of(synod.Unreadable)
		ids[i], unread, all = m.ID, unread+n, all+n+m.Calls.Of(synod.OK)
	}
	has := func(m *counciloutcome.Member) bool { return m.Unreadable != nil }
	first := members[max(0, slices.IndexFunc(members, has))]
	line := fmt.Sprintf("%s (%s): %d of %d replies could not be read", strings.Join(ids, ", "), first.Model, unread,
		all)
	if first.Unreadable == nil {
		return line + ": " + oneLine(first.Trouble)
	}
	return fmt.Sprintf("%s; %s. The last words of one, as %s wrote them: %q", line, first.Unreadable.Help, first.ID,
		oneLine(first.Unreadable.End))
}

// electorate describes how many members vote, and their role if only some do.
func electorate(o counciloutcome.Outcome) string {
	if p := o.Presented; p != nil {
		return fmt.Sprintf("%d %s", p.Count, p.Voters)
	}
	return fmt.Sprint(len(o.Members))
}
