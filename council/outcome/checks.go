package outcome

import (
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// Checked is a check of the question, and what became of it.
type Checked struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // cel, schema, regex or command
	// Passed is true if the decision passes the check; false: there is no decision, or it calls another tool.
	Passed bool     `json:"passed"`
	Failed []string `json:"failed"` // ids of the seats whose last answer that failed a check failed this one
}

// pass keeps the answer of a reply, if there are commands among the checks: it has passed them all.
func (r *Record) pass(p *synod.Prompt, reply *synod.Reply) {
	if p.Question == nil || !slices.ContainsFunc(p.Question.Checks, func(c synod.Check) bool {
		return len(c.Command) > 0
	}) {
		return
	}
	if r.Passed == nil {
		r.Passed = []synod.Answer{}
	}
	if reply.Status != synod.OK || reply.Failed != nil {
		return
	}
	if a, failed := read.FailedReply(p, reply); a != synod.None && failed == nil && !slices.Contains(r.Passed, a) {
		r.Passed = append(r.Passed, a)
	}
}

// dropFailed takes the answers that fail a check from first and last opinions. Honest members hold none; a vote of
// another for one must not count either.
func dropFailed(j *judgment) {
	if len(j.in.Question.Checks) == 0 {
		return
	}
	for i, o := range j.last {
		if a := AnswerOf(o); a != synod.None && !passes(j, a) {
			if j.refused == nil {
				j.refused = make([]bool, len(j.seats))
			}
			j.refused[i] = true
			j.last[i], j.uncounted = silenced(o), append(j.uncounted, a)
		}
		if a := j.first[i]; a != synod.None && !passes(j, a) {
			j.first[i], j.uncounted = synod.None, append(j.uncounted, a)
		}
	}
}

// failedVotes returns how many seats that vote hold no answer because theirs failed a check.
func failedVotes(j *judgment) (n int) {
	for i, r := range j.seats {
		refused := j.refused != nil && j.refused[i] || r.Unread.Failed != nil && AnswerOf(j.last[i]) == synod.None
		if refused && !j.plan.Seats()[i].NonVoting {
			n++
		}
	}
	return n
}

// passes reports whether an answer passes all checks. A command has passed what some member's reply says and the
// command was run on. Where it is not known which these are, because only a summary of the journal was read, all are.
func passes(j *judgment, a synod.Answer) bool {
	if read.Failed(&j.in.Question, a) != nil {
		return false
	}
	known := false
	for _, r := range j.seats {
		known = known || r.Passed != nil
		if slices.Contains(r.Passed, a) {
			return true
		}
	}
	return !known
}

// refuse takes back a decision that fails a check: one that no member gave, such as a merged value.
func refuse(j *judgment, v *verdict) {
	if len(j.in.Question.Checks) == 0 || v.answer == synod.None || passes(j, v.answer) {
		return
	}
	name := "a command, which was not run on it"
	if f := read.Failed(&j.in.Question, v.answer); f != nil {
		name = fmt.Sprintf("the check %s (%s)", f.Check, f.Reason)
	}
	v.status, v.answer = Undecided, synod.None
	v.reason = "the merged answer fails " + name + "; " + v.reason
}

// checksOf says what became of the checks.
func checksOf(j *judgment, decision synod.Answer) (all []Checked) {
	q := &j.in.Question
	for i := range q.Checks {
		c := &q.Checks[i]
		x := Checked{Name: c.Name, Kind: c.Kind(), Failed: []string{}}
		if decision != synod.None {
			_, x.Passed = read.Checked(q, c, decision)
		}
		for k, r := range j.seats {
			if f := r.Unread.Failed; f != nil && f.Check == c.Name {
				x.Failed = append(x.Failed, j.plan.Seats()[k].ID)
			}
		}
		all = append(all, x)
	}
	return all
}

// Passed names the checks in code that the decision passes, for people; "": there are none.
func (o *Outcome) Passed() string {
	var names []string
	for _, c := range o.Checks {
		if c.Passed {
			names = append(names, fmt.Sprintf("%s (%s)", c.Name, c.Kind))
		}
	}
	return strings.Join(names, ", ")
}
