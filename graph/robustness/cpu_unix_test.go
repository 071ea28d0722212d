//go:build unix

package robustness_test

import (
	"syscall"
	"time"
)

// cpu returns the processor time of this process, which does not depend on how busy the machine is.
func cpu() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
