//go:build !linux

package llmtest

import "time"

func newWaiter() (wait func(time.Duration), stop func()) { return time.Sleep, func() {} }

// Spent returns 0: the processor time is not known on this system.
func Spent() time.Duration { return 0 }
