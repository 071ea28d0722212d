package decentllms

import (
	"testing"

	"synod.dev/synod"
)

// The shortest pace that a council file may set, a millisecond for a message, is played: its
// broadcasts have rounds of two ticks. They had one, which no broadcast accepts.
func TestShortestPace(t *testing.T) {
	cast, pace := []synod.Role{Worker, Worker, Evaluator, Evaluator, Evaluator}, synod.Pace{Think: 1, Within: 1}
	p := New()
	answers, marks := p.answers(cast, 1, pace), p.marks(cast, 1, pace)
	if err := answers.Validate(); err != nil {
		t.Error(err)
	}
	if err := marks.Validate(); err != nil {
		t.Error(err)
	}
}
