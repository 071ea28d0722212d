//go:build unix

package robustness_test

import (
	"syscall"
	"time"
)

// cpu is the processor time this process has used: what a busy machine does not stretch.
func cpu() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
