package outcome

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// The exit codes of a program that puts a question to a council.
const (
	ExitAgreed      = 0
	ExitError       = 1
	ExitUndecided   = 3
	ExitDegraded    = 4
	ExitBudget      = 5
	ExitDeadline    = 6
	ExitInterrupted = 130
)

// Advice is what to tell the person who asked, beside the answer.
type Advice struct {
	Code int    // the exit code
	Err  error  // what went wrong; nil if the council agreed, and if the person interrupted it
	Next string // what to do next; "" if nothing helps. It may have several lines
}

// limits says which limits ended the run, in a line each.
func (o *Outcome) limits() (lines string) {
	for _, e := range o.Exceeded {
		lines += e.String() + "\n"
	}
	return lines
}

// Advice explains an outcome that is not a decision, and what to do next.
func (o *Outcome) Advice() Advice {
	reason := errors.New(o.Reason)
	resume := cmp.Or(o.Continue(), "(there is no journal, so the run cannot be resumed)")
	switch {
	case o.Answered():
		return Advice{Code: ExitAgreed}
	case o.Stopped == Interrupted:
		return Advice{ExitInterrupted, nil, "all replies are kept. Resume with:\n  " + resume}
	case o.Stopped == PastTime:
		return Advice{ExitDeadline, reason, "allow more time with --set limits.deadline=…, or resume with:\n  " +
			resume}
	case o.Stopped == OverBudget:
		return Advice{ExitBudget, reason, o.limits() + "resume with twice the limit (calls made before count):\n  " +
			resume}
	case o.Stopped == Unwritten:
		return Advice{ExitError, reason, "free some disk space, and resume with:\n  " + resume}
	case o.Stopped == Tripped && o.Trip != nil:
		return o.tripAdvice()
	case o.Status == Degraded:
		failed := "too few members answered: "
		if o.Stopped == Preflight {
			failed = ""
		}
		next := o.troubles()
		if remedies := o.remedies(); remedies != "" {
			next += "\nwhat to do:\n" + remedies
		}
		return Advice{ExitDegraded, errors.New(failed + o.Reason), next}
	case o.Status == Undecided:
		if remedies := o.remedies(); remedies != "" {
			return Advice{ExitUndecided, errors.New("no consensus: " + o.Reason),
				"some members never replied, which more rounds do not change:\n" + o.troubles() +
					"\nwhat to do:\n" + remedies}
		}
		return Advice{ExitUndecided, errors.New("no consensus: " + o.Reason),
			"next: " + o.otherSettings() + "other members (--model …), or --on-no-consensus best-effort"}
	}
	return Advice{Code: ExitAgreed}
}

// otherSettings names the settings with which a council without a decision may have one, each with a comma after it.
func (o *Outcome) otherSettings() (text string) {
	if e, err := catalog.Protocols.Find(o.Protocol); err == nil {
		p := e.New()
		if b, err := json.Marshal(p); err == nil && bytes.Contains(b, []byte(`"rounds":`)) {
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

// tripAdvice names the breaker that stopped the run, the answers that are left, and how
// to go on past it.
func (o *Outcome) tripAdvice() Advice {
	a := Advice{Code: ExitUndecided, Err: fmt.Errorf("stopped by the breaker %s after round %d: %s", o.Trip.Breaker,
		o.Trip.Round, o.Trip.Detail)}
	if o.Status == Degraded {
		a.Code = ExitDegraded
	}
	var left []string
	for _, v := range o.Votes {
		left = append(left, fmt.Sprintf("%s (%s)", oneLine(string(v.Answer)), strings.Join(v.Seats, ", ")))
	}
	a.Next = "candidates: " + strings.Join(left, "; ")
	if len(left) == 0 {
		a.Next = "no member has an answer"
	}
	if resume := o.Continue(); resume != "" {
		a.Next += "\ncontinue past the breaker with:\n  " + resume
	}
	return a
}

// troubles gives for every member without an answer the reason; members of one
// model with the same trouble share a line.
func (o *Outcome) troubles() string {
	var lines []string
	ids := map[string][]string{}
	for _, m := range o.Members {
		if m.Final != nil {
			continue
		}
		line := fmt.Sprintf(" (%s): %s", m.Model, oneLine(m.lacking()))
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

// lacking returns why a member has no answer at the end.
func (m *Member) lacking() string {
	calls := 0
	for _, s := range synod.Statuses() {
		calls += m.Calls.Of(s)
	}
	switch {
	case m.Trouble != "":
		return m.Trouble
	case m.First != nil:
		return "it gave an answer first, but has none at the end"
	case m.Calls.Of(synod.OK)+m.Calls.Of(synod.Unreadable) > 0: // the protocol moves calls that it cannot read
		return "it answered, and none of its answers could be read"
	case calls > 0:
		return "none of its calls was answered"
	}
	return "it was not asked"
}

// Continue returns the command that resumes a run that was stopped, past the breaker
// that stopped it or with twice the limits; "" if no journal was kept.
func (o *Outcome) Continue() string {
	if o.Journal == "" || o.Resume == "" {
		return ""
	}
	return fmt.Sprintf(o.Resume, ShellWord(o.Journal))
}

// ShellWord quotes a text as one word of a shell command, if it needs quotes.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./][\w@%+=:,./-]*$`)

// remedies says what to do about the failures of members, a line for each advice with those whom it is for: models, or
// members whose replies could not be read, with the last words of the first of them.
func (o *Outcome) remedies() string {
	var advice []string
	names, words := map[string][]string{}, map[string]string{}
	for i := range o.Members {
		m := &o.Members[i]
		name, text := o.remedy(m)
		if text == "" || slices.Contains(names[text], name) {
			continue
		}
		if names[text] == nil {
			advice = append(advice, text)
			if u := m.Unreadable; u != nil && text == u.Help {
				words[text] = fmt.Sprintf(". The last words of one, as %s wrote them: %q", m.ID, u.End)
			}
		}
		names[text] = append(names[text], name)
	}
	lines := make([]string, len(advice))
	for i, text := range advice {
		lines[i] = "  " + strings.Join(names[text], ", ") + ": " + text + words[text]
	}
	return strings.Join(lines, "\n")
}

// remedy says what to do about the failures of one member, and for whom; "" if nothing failed or helps.
func (o *Outcome) remedy(m *Member) (name, text string) {
	switch u := m.Unreadable; {
	case u != nil && m.Calls.Of(synod.Unreadable) > 0:
		return m.ID, u.Help
	case m.Calls.Of(synod.OK) > 0:
		return "", ""
	case o.nodes && m.Trouble != "":
		return m.ID, "its owner can tell: synod node status"
	}
	for _, s := range synod.Statuses() {
		if m.Calls.Of(s) == 0 || s == synod.OK {
			continue
		}
		of := llm.Settings{Name: m.Model, Keys: o.Given[m.Model]}
		if text := llm.Advice(s, of, o.serverOf(m.Model), m.Trouble); text != "" {
			return m.Model, text
		}
	}
	return "", ""
}

// serverOf returns the server of a model; "" if it is not known.
func (o *Outcome) serverOf(model string) string {
	i := slices.IndexFunc(o.Models, func(r ModelResult) bool { return r.Model == model })
	if i < 0 {
		return ""
	}
	return o.Models[i].Server
}
