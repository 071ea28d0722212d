package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"synod.dev/synod"
)

// Failure is why a call gave no usable reply.
type Failure struct {
	Status     synod.Status
	Retryable  bool          // the same call may succeed later
	Lasting    bool          // every call of the next minutes would fail too: no server, no such model, a bad key
	RetryAfter time.Duration // how long the server asks to wait; 0: unknown
	Err        error         // holds no secret and no upstream body; may be nil

	begun      bool // the server may have begun to write a reply
	connecting bool // no connection was made: the request has not left
	held       bool // it was refused here: the request has not left
}

// Unsent reports whether the request is known not to have left, so that it is no call and costs nothing.
func (f *Failure) Unsent() bool { return f.connecting || f.held }

// Error returns the status and the reason.
func (f *Failure) Error() string {
	if f.Err == nil {
		return string(f.Status)
	}
	return fmt.Sprintf("%s: %v", f.Status, f.Err)
}

// Unwrap returns the underlying error.
func (f *Failure) Unwrap() error { return f.Err }

// Reason returns the reason without the status, for places that show the status
// beside it; "" if none is known. It is also the Detail of the reply.
func (f *Failure) Reason() string {
	if f.Err == nil {
		return ""
	}
	return f.Err.Error()
}

// mayHaveCost reports whether the server may charge for the call although no reply came
// of it.
func (f *Failure) mayHaveCost() bool {
	switch f.Status {
	case synod.Timeout, synod.Dropped, synod.Unreadable, synod.Refused:
		return true
	}
	return f.begun
}

// ErrLate is the cancellation cause of a straggler's call: enough other members
// have replied and the council does not wait any longer (context.WithCancelCause).
//
// Such a call has status Timeout, and a budget charges it what a call that timed
// out is charged, because the server may go on writing. It does not count as a
// failure of the provider for the circuit breaker: being slower than the other
// members does not mean that the model is down, and a model that really hangs
// fails calls by its own time limit.
var ErrLate = errors.New("cancelled because it was late: enough other members had replied")

// ErrSlow is the cancellation cause of a call that took longer than the pace of its council
// allows, where members wait by the clock. It counts as ErrLate does.
var ErrSlow = errors.New("cancelled because it took longer than pace.think")

// errOutrun is the cancellation cause of the slower one of a hedged pair.
var errOutrun = errors.New("cancelled because a second copy of the call was answered first")

// slowError is the cancellation cause of a request that exceeds the model's own
// time limit.
type slowError struct{ limit time.Duration }

func (e slowError) Error() string { return fmt.Sprintf("no complete reply within %v", e.limit) }

var (
	errStopped  = errors.New("the run was stopped")
	errDeadline = errors.New("the run's deadline passed")
)

// AsFailure classifies an error of a call. An error that wraps no *Failure
// becomes one: Dropped if it is context.Canceled, Timeout if it is
// context.DeadlineExceeded, ErrLate, ErrSlow or a model's time limit, else Unavailable.
func AsFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	var slow slowError
	switch {
	case errors.Is(err, context.Canceled):
		return &Failure{Status: synod.Dropped, Err: errStopped}
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Status: synod.Timeout, Err: errDeadline}
	case errors.Is(err, ErrLate), errors.Is(err, ErrSlow), errors.Is(err, errOutrun), errors.As(err, &slow):
		return &Failure{Status: synod.Timeout, Err: err}
	}
	return &Failure{Status: synod.Unavailable, Err: err}
}

// ended returns the failure of a call whose context has ended, from the
// context's cause. doing describes what the call was doing at that time.
func ended(ctx context.Context, doing string) *Failure {
	f := AsFailure(context.Cause(ctx))
	if errors.As(f.Err, new(slowError)) {
		return f
	}
	return failure(f.Status, "%w, %s", f.Err, doing)
}

// failure returns a failure that another attempt would meet too.
func failure(status synod.Status, format string, args ...any) *Failure {
	return &Failure{Status: status, Err: fmt.Errorf(format, args...)}
}

// temporary returns a failure that another attempt may not meet.
func temporary(status synod.Status, format string, args ...any) *Failure {
	return &Failure{Status: status, Retryable: true, Err: fmt.Errorf(format, args...)}
}

// failed returns the reply that belongs to a failure; it keeps what was spent.
func failed(spent synod.Reply, f *Failure) (synod.Reply, error) {
	return synod.Reply{Status: f.Status, Detail: f.Reason(), Usage: spent.Usage, Calls: spent.Calls,
		Charged: spent.Charged, Fault: spent.Fault}, f
}

// sleep waits for d. It returns false if the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
