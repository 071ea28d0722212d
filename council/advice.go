package council

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
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol"
	"synod.dev/synod/protocol/catalog"
)

// ReadQuestion makes a question of a text that a person typed. form determines how the answer
// is read; "" guesses it from the text (Guess). Listed options, as in lines that begin
// with A) and B), become the options of a Choice question. An unknown form is an error, and
// so is a text that is empty, too long or not UTF-8.
func ReadQuestion(text string, form synod.Form) (synod.Question, error) {
	if err := checkText(text); err != nil {
		return synod.Question{}, err
	}
	q := synod.Question{Text: text, Form: form}
	switch {
	case form == "":
		Guess(&q)
	case !slices.Contains(synod.Forms(), form):
		return q, fmt.Errorf("form is %q; it must be one of %v", form, synod.Forms())
	case form == synod.Choice:
		q.Text, q.Options = read.Choices(text)
	}
	return q, nil
}

// Guess guesses the form of a question from its text and the conversation before it. The text stays whole.
func Guess(q *synod.Question) {
	q.Form, q.Options = read.GuessIn(q.Before, q.Text)
	q.Guessed = q.Form != synod.Prose
}

// Briefly makes a question whose form was guessed one for members that write nothing worth reading: a short answer is
// asked for, and nothing beside it.
func Briefly(q *synod.Question) {
	switch {
	case q.Form == synod.Prose:
		q.Form = synod.Text
	case q.Form == synod.Choice:
		q.Text, q.Options = read.Choices(q.Text)
	}
	q.Guessed = false
}

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

// Exceeded is a limit of a council that did not allow a call.
type Exceeded struct {
	Name  string // of the setting, such as limits.tokens
	Is    string // the limit that held
	Needs string // what was used until then, and what the refused call may have made of it
}

// String says it in a line.
func (e Exceeded) String() string { return fmt.Sprintf("%s is %s; %s", e.Name, e.Is, e.Needs) }

// Exceeded returns the limits that did not allow a call, and so ended the run; none for another end, and none in
// outcomes that come from a journal.
func (o *Outcome) Exceeded() []Exceeded { return o.over }

// limits says which limits ended the run, in a line each.
func (o *Outcome) limits() (lines string) {
	for _, e := range o.over {
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
	if o.Rule.Name == Majority || o.Rule.Name == Supermajority {
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

// oneLine is a text without line breaks or runs of space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Continue returns the command that resumes a run that was stopped, past the breaker
// that stopped it or with twice the limits; "" if no journal was kept.
func (o *Outcome) Continue() string {
	if o.Journal == "" || o.resume == "" {
		return ""
	}
	return fmt.Sprintf(o.resume, ShellWord(o.Journal))
}

// ShellWord quotes a text as one word of a shell command, if it needs quotes.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./][\w@%+=:,./-]*$`)
