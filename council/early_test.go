package council_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/llmtest"
)

// A round in which no answer changed, but a call failed, is not the last one: the call is
// made again in the next round, and its reply may change the answer. Here the refinements of
// the last member fail in some rounds, fewer than a seat is given up after; then it joins the
// others.
func TestRunWithFailedCallsDoesNotEndEarly(t *testing.T) {
	for _, failed := range []int32{0, 1, 2} {
		var calls atomic.Int32
		s := llmtest.Start(t, func(c llmtest.Call) string {
			if strings.Contains(c.User, "42") { // a refinement
				c.Model = "s42"
			}
			return stubborn(c)
		}, llmtest.For("s41", func(x *llmtest.Exchange) {
			if n := calls.Add(1); n > 1 && n <= 1+failed {
				llmtest.Status(400)(x)
				return
			}
			x.OK()
		}))
		text := strings.NewReplacer("{name: sac, rounds: 6}", "{name: debate, rounds: 8}", "f: 3", "f: 0").
			Replace(seven(s.URL, "s42", "s42", "s41"))
		o := decide(t, convene(t, text), council.Ask{})
		if o.Stopped != outcome.Early || len(o.Votes) != 1 || *o.Answer != "42" {
			t.Errorf("%d failed calls: stopped %s, votes %+v, %s", failed, o.Stopped, o.Votes, o.Reason)
		}
		if calls.Load() <= 1+failed {
			t.Errorf("%d failed calls: %d calls in all", failed, calls.Load())
		}
	}
}
