package metrics_test

import (
	"testing"

	"synod.dev/synod/bench/metrics"
)

// A warning needs ten questions, and more than a third of the replies.
func TestOftenUnread(t *testing.T) {
	for _, c := range []struct {
		unreadable, replies, questions int
		want                           bool
	}{{9, 9, 9, false}, {4, 10, 10, true}, {3, 9, 10, false}, {0, 0, 10, false}, {34, 100, 10, true}} {
		if got := metrics.OftenUnread(c.unreadable, c.replies, c.questions); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
