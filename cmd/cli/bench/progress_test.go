package bench

import (
	"bytes"
	"testing"
	"time"

	"synod.dev/synod/bench"
)

// Without a terminal a line is printed from time to time, and not for every step.
func TestPlainly(t *testing.T) {
	var to bytes.Buffer
	began := time.Now()
	line := plainly(&to, 30*time.Second, began)
	for second := range 100 {
		now := bench.Progress{Finished: second, Now: second, Total: 200, Calls: 3 * second}
		line(began.Add(time.Duration(second)*time.Second), func() string {
			return questionsOf(now, time.Duration(second)*time.Second)
		})
	}
	const want = "synod: 30 of 200 questions · 90 calls · about 2m50s left\n" +
		"synod: 60 of 200 questions · 180 calls · about 2m20s left\n" +
		"synod: 90 of 200 questions · 270 calls · about 1m50s left\n"
	if to.String() != want {
		t.Errorf("%s", to.String())
	}
}
