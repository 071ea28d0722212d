package llmtest

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// newWaiter returns a function that waits more precisely than time.Sleep, whose
// resolution is a millisecond in an idle program. It uses a kernel timer as a file
// descriptor that the runtime polls.
func newWaiter() (wait func(time.Duration), stop func()) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return time.Sleep, func() {}
	}
	f := os.NewFile(uintptr(fd), "timer")
	var fired [8]byte
	return func(d time.Duration) {
		if d <= 0 {
			return
		}
		at := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
		if unix.TimerfdSettime(fd, 0, &at, nil) != nil {
			time.Sleep(d)
			return
		}
		_, _ = f.Read(fired[:])
	}, func() { _ = f.Close() }
}

// Spent returns the processor time of this process so far, for benchmarks: on a
// busy machine it is a better measure than elapsed time.
func Spent() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic("llmtest: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
