package llmtest

import "time"

// clock makes calls wait.
type clock struct{ done <-chan struct{} }

func newClock(done <-chan struct{}) *clock { return &clock{done} }

func (c *clock) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.done:
	}
}
