package metrics_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/metrics"
	"synod.dev/synod/task"
)

// Both readings stand on the same replies; without any there is none.
func TestExtraction(t *testing.T) {
	tally := metrics.NewTally([]metrics.Seat{{}})
	held := [][]synod.Answer{{"R"}}
	tally.Add(metrics.Case{Rounds: held, Verdicts: verdicts})
	if e := tally.Numbers().Extraction; e != nil {
		t.Errorf("nobody wrote anything: %+v", e)
	}
	tally.Add(metrics.Case{Rounds: held, Verdicts: verdicts, Replies: []task.Grade{
		{Strict: task.Right, Flexible: task.Right}, {Strict: task.Unreadable, Flexible: task.Right},
		{Strict: task.Unreadable, Flexible: task.Unreadable}, {Strict: task.Wrong, Flexible: task.Wrong},
	}})
	e := tally.Numbers().Extraction
	strict, flexible := metrics.Wilson(1, 4), metrics.Wilson(2, 4)
	near(t, "strict", e.Strict, strict.Value, strict.Low, strict.High, 4)
	near(t, "flexible", e.Flexible, flexible.Value, flexible.Low, flexible.High, 4)
	if e.Unreadable != 2 || e.Differ != 1 {
		t.Errorf("%+v", e)
	}
}
