//go:build !linux

package llmtest

import "time"

func newWaiter() (wait func(time.Duration), stop func()) { return time.Sleep, func() {} }

// Spent is not known here.
func Spent() time.Duration { return 0 }
