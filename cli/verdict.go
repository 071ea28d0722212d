package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/council"
)

// verdict is the exit code that an outcome deserves.
func verdict(o council.Outcome) error {
	reason := errors.New(o.Reason)
	switch {
	case o.Stopped == council.Interrupted:
		return fail(exitInterrupted, nil, "nothing finished is lost. Go on with:\n  "+resumeLine(o))
	case o.Stopped == council.PastTime:
		return fail(exitDeadline, reason, "give it more time with --set limits.deadline=…, or go on with:\n  "+resumeLine(o))
	case o.Stopped == council.OverBudget:
		return fail(exitBudget, reason, "go on with twice the limit (what was spent counts):\n  "+resumeLine(o))
	case o.Stopped == council.Tripped:
		return tripped(o)
	case o.Status == council.Degraded:
		return fail(exitDegraded, errors.New("too few members are live: "+o.Reason), troubles(o))
	case o.Status == council.Undecided:
		return fail(exitUndecided, errors.New("no consensus: "+o.Reason), "next: more rounds (--set protocol.rounds=…), other members (--model …), another rule (--set rule.name=plurality), or --on-no-consensus best-effort")
	}
	return nil
}

func resumeLine(o council.Outcome) string {
	return cmp.Or(o.Continue(), "(no journal was kept, so the run cannot be resumed)")
}

// tripped says which breaker stopped a run, what it leaves to choose from, and how
// to go on past it.
func tripped(o council.Outcome) error {
	code := exitUndecided
	if o.Status == council.Degraded {
		code = exitDegraded
	}
	var left []string
	for _, v := range o.Votes {
		left = append(left, fmt.Sprintf("%s (%s)", oneLine(string(v.Answer)), strings.Join(v.Seats, ", ")))
	}
	hint := "candidates: " + strings.Join(left, "; ")
	if len(left) == 0 {
		hint = "nobody has an answer"
	}
	if more := o.Continue(); more != "" {
		hint += "\ngo on past it with:\n  " + more
	}
	return fail(code, fmt.Errorf("stopped by the breaker %s after round %d: %s", o.Trip.Breaker, o.Trip.Round, o.Trip.Detail), hint)
}

// troubles says for every member without an answer why it has none; members of
// one model with one trouble share a line.
func troubles(o council.Outcome) string {
	var lines []string
	who := map[string][]string{}
	for _, m := range o.Members {
		if m.Final != nil {
			continue
		}
		why := m.Trouble
		switch {
		case why == "" && m.First != nil:
			why = "it gave an answer, and holds none in the end"
		case why == "" && m.Calls[synod.OK] > 0:
			why = "it never gave an answer that could be read"
		case why == "":
			why = "it was not asked"
		}
		line := fmt.Sprintf(" (%s): %s", m.Model, oneLine(why))
		if who[line] == nil {
			lines = append(lines, line)
		}
		who[line] = append(who[line], m.ID)
	}
	for i, line := range lines {
		lines[i] = "  " + strings.Join(who[line], ", ") + line
	}
	return strings.Join(lines, "\n")
}

// configError gives a council's mistakes the exit code for configuration.
func configError(err error) error {
	var done *exitError
	if errors.As(err, &done) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return fail(exitInterrupted, err)
	}
	if errors.Is(err, os.ErrNotExist) {
		return fail(exitUsage, err, "check the path, or leave -c out to seat the model in the box")
	}
	return fail(exitUsage, err)
}
