package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// Verb is a command that puts a question to a council, and that resumes the run with --resume.
type Verb string

// The verbs.
const (
	Ask  Verb = "ask"
	Game Verb = "research game"
)

// Resume returns the command that resumes a run past what stopped it; "" if it was not stopped or has no journal.
func (v Verb) Resume(o *outcome.Outcome) string {
	if o.Journal == "" || !o.Resumable {
		return ""
	}
	line := fmt.Sprintf("synod %s --resume %s", v, ShellWord(o.Journal))
	for _, s := range o.Past {
		line += " --set " + s
	}
	return line
}

// Verdict is the error with the exit code of an outcome and advice; nil if the council agreed.
func (v Verb) Verdict(o *outcome.Outcome) error {
	if code := exitCode(o); code != ExitOK {
		return Fail(code, problem(o), v.Advice(o))
	}
	return nil
}

// exitCode returns the exit code of an outcome.
func exitCode(o *outcome.Outcome) int {
	switch {
	case o.Answered():
		return ExitOK
	case o.Stopped == outcome.Interrupted:
		return ExitInterrupted
	case o.Stopped == outcome.PastTime:
		return ExitDeadline
	case o.Stopped == outcome.OverBudget:
		return ExitBudget
	case o.Stopped == outcome.Unwritten:
		return ExitFailure
	case o.Status == outcome.Degraded:
		return ExitDegraded
	case o.Status == outcome.Undecided, o.Stopped == outcome.Tripped && o.Trip != nil:
		return exitUndecided
	}
	return ExitOK
}

// problem returns why an outcome is no decision; nil for a run that the user interrupted, who knows.
func problem(o *outcome.Outcome) error {
	if o.Stopped == outcome.Interrupted {
		return nil
	}
	return errors.New(o.Problem())
}

// Advice says what to do after an outcome that is no decision, in one line or several.
func (v Verb) Advice(o *outcome.Outcome) string {
	resume := cmp.Or(v.Resume(o), "(there is no journal, so the run cannot be resumed)")
	switch {
	case o.Answered():
		return ""
	case o.Stopped == outcome.Interrupted:
		return "all replies are kept. Resume with:\n  " + resume
	case o.Stopped == outcome.PastTime:
		return "allow more time with --set limits.deadline=…, or resume with:\n  " + resume
	case o.Stopped == outcome.OverBudget:
		return limits(o) + "resume with twice the limit (calls made before count):\n  " + resume
	case o.Stopped == outcome.Unwritten:
		return "free some disk space, and resume with:\n  " + resume
	case o.Stopped == outcome.Tripped && o.Trip != nil:
		return v.pastBreaker(o)
	case o.Status == outcome.Degraded:
		next := troubles(o)
		if remedies := remedies(o); remedies != "" {
			next += "\nwhat to do:\n" + remedies
		}
		return next
	case o.Status == outcome.Undecided:
		if remedies := remedies(o); remedies != "" {
			return "some members have no answer, which more rounds do not change:\n" + troubles(o) +
				"\nwhat to do:\n" + remedies
		}
		return "next: " + otherSettings(o) + "other members (--model …), or --on-no-consensus best-effort"
	}
	return ""
}

// limits says which limits ended the run, in a line each.
func limits(o *outcome.Outcome) (lines string) {
	for _, e := range o.Exceeded {
		lines += e.String() + "\n"
	}
	return lines
}

// otherSettings names the settings with which a council without a decision may have one, each with a comma after it.
func otherSettings(o *outcome.Outcome) (text string) {
	if e, err := catalog.Protocols.Find(o.Protocol); err == nil {
		p := e.New()
		talks := o.Probability == nil // where it is known, seats are asked in tiers, and nobody talks
		if b, err := json.Marshal(p); err == nil && talks && bytes.Contains(b, []byte(`"rounds":`)) {
			text += "more rounds (--set protocol.rounds=…), "
		}
		if _, ok := p.(protocol.Grading); ok && o.Bound.F > 0 {
			text += "members that reply to prompts for grades, "
		}
	}
	if o.Rule.Name == plan.Majority || o.Rule.Name == plan.Supermajority {
		text += "another rule (--set rule.name=plurality), "
	}
	return text
}

// pastBreaker names the answers that are left after a breaker has stopped the run, and how to go on past it.
func (v Verb) pastBreaker(o *outcome.Outcome) string {
	var left []string
	for _, x := range o.Votes {
		left = append(left, fmt.Sprintf("%s (%s)", OneLine(string(x.Answer)),
			strings.Join(x.Seats, ", ")))
	}
	next := "candidates: " + strings.Join(left, "; ")
	if len(left) == 0 {
		next = "no member has an answer"
	}
	if resume := v.Resume(o); resume != "" {
		next += "\ncontinue past the breaker with:\n  " + resume
	}
	return next
}

// troubles gives for every member without an answer the reason; members of one
// model with the same trouble share a line.
func troubles(o *outcome.Outcome) string {
	var lines []string
	ids := map[string][]string{}
	for _, m := range o.Members {
		if m.Final != nil {
			continue
		}
		line := fmt.Sprintf(" (%s): %s", m.Model, OneLine(m.Lacking()))
		if ids[line] == nil {
			lines = append(lines, line)
		}
		ids[line] = append(ids[line], m.ID)
	}
	for i, line := range lines {
		lines[i] = "  " + strings.Join(ids[line], ", ") + line
	}
	return strings.Join(lines, "\n")
}

// remedies says what to do about the failures of members, a line for each remedy.
func remedies(o *outcome.Outcome) string {
	var lines []string
	for _, r := range o.Remedies() {
		line := "  " + strings.Join(r.For, ", ") + ": "
		switch {
		case r.Owner:
			line += "its owner can tell: synod node status"
		case r.Words != nil:
			line += fmt.Sprintf("%s. The last words of one, as %s wrote them: %q", Help(r.Words.Unreadable), r.Words.ID,
				r.Words.Unreadable.End)
		default:
			line += r.Text
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Help says what helps against replies that could not be read.
func Help(u *outcome.Unread) string {
	if u.OfOtherForm() {
		return u.Help + " (--form)"
	}
	return u.Help
}

// helps are the commands and flags that help with an error of package council; %s is the name of an entry.
var helps = map[plan.Help]string{
	plan.HelpExplain:  "; see: synod explain %s",
	plan.HelpDefences: "; see: synod list defences",
	plan.HelpSchema:   ": give --schema FILE, or the key schema in the council file",
	plan.HelpTools:    ": give --tools FILE, or the key tools in the council file",
	plan.HelpProbe:    "; a model of provider embedded or hidden can have one: synod research probe train",
	plan.HelpRecord:   "; a run is recorded with: synod ask --record FILE",
}

// WithHelp returns the text of an error, and what helps.
func WithHelp(err error) string {
	e, ok := errors.AsType[*plan.HelpError](err)
	if !ok {
		return err.Error()
	}
	return err.Error() + strings.ReplaceAll(helps[e.Help], "%s", e.Name)
}
