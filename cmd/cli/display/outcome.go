// Package display prints what several groups of commands show: parts of an outcome (decision, claims, fields, rounds,
// members), what a run would cost, and the result of a calibration.
package display

import (
	"fmt"
	"io"
	"strings"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
	"synod.dev/synod/protocol"
)

// Withstands says how many answers the decision does not depend on.
func Withstands(o outcome.Outcome) string {
	if o.Withstands == nil {
		return "withstands: not known, because " + o.Fragile
	}
	text := fmt.Sprintf("withstands: %s ignored, %s changed", anyOf(o.Withstands.Ignored), anyOf(o.Withstands.Changed))
	if passed := o.Passed(); passed != "" {
		text += "; passes the checks " + passed
	}
	return text
}

// Probability says how likely the decision is right, or the leading answer where it was too little for a decision; ""
// if that is not known.
func Probability(o outcome.Outcome) string {
	p := o.Probability
	if p == nil {
		return ""
	}
	of := ""
	if !o.Answered() {
		of = " of the leading answer"
	}
	also := ""
	if p.Likelihood {
		also = ", and log-probabilities of the models"
	}
	return fmt.Sprintf("probability%s: %.2f (95 %%: %.2f to %.2f), from %s%s", of, p.Value, p.Low, p.High, labels(p),
		also)
}

// labels says where the labels of a probability come from.
func labels(p *protocol.Probability) string {
	switch p.Feedback {
	case 0:
		return app.Count(p.Labels, "graded question")
	case p.Labels:
		return app.Count(p.Labels, "question") + " that users labelled, which is a biased sample"
	}
	return fmt.Sprintf("%s and %d that users labelled", app.Count(p.Labels-p.Feedback, "graded question"), p.Feedback)
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

// CallsOf says how many calls were made, and how many of them were retries at least.
func CallsOf(o *outcome.Outcome) string {
	made, planned := o.Calls.Made, o.Calls.Planned
	if o.Rereads > 0 {
		after := "unreadable replies"
		if len(o.Checks) > 0 {
			after = "replies that were unreadable or failed a check"
		}
		return fmt.Sprintf("%d calls (%d planned, %s after %s)", made, planned,
			app.Count(o.Rereads, "second request"), after)
	}
	if made <= planned && o.Calls.Needless > 0 {
		return fmt.Sprintf("%d calls of %d, %d of them begun early and not needed", made, planned, o.Calls.Needless)
	}
	if made <= planned {
		return fmt.Sprintf("%d calls of %d", made, planned)
	}
	return fmt.Sprintf("%d calls (%d planned, %d more after failures)", made, planned, made-planned)
}

// Rounds formats a number of rounds.
func Rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", max(n, 0))
}

// PrintLabels prints which members are not live models, and a warning about the embedded
// model.
func PrintLabels(w io.Writer, o outcome.Outcome) {
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
