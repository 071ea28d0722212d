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
	Retryable  bool          // the same call may go through later
	RetryAfter time.Duration // what the server asked for; 0 if it did not say
	Err        error         // holds no secret and no upstream body
}

func (f *Failure) Error() string {
	if f.Err == nil {
		return string(f.Status)
	}
	return fmt.Sprintf("%s: %v", f.Status, f.Err)
}

func (f *Failure) Unwrap() error { return f.Err }

// Reason is why, without the status, for places that show the status beside it;
// "" if nothing more is known. It is also the Detail of the reply.
func (f *Failure) Reason() string {
	if f.Err == nil {
		return ""
	}
	return f.Err.Error()
}

// AsFailure says why a call gave no usable reply. An error that is no *Failure
// becomes one: a cancelled call was dropped, a deadline is a timeout, and what
// nobody has classified makes the member unavailable.
func AsFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Failure{Status: synod.Dropped, Err: errStopped}
	case errors.Is(err, context.DeadlineExceeded):
		return &Failure{Status: synod.Timeout, Err: errDeadline}
	}
	return &Failure{Status: synod.Unavailable, Err: err}
}

var (
	errStopped  = errors.New("the run was stopped")
	errDeadline = errors.New("the run's deadline passed")
)

// ended is the failure of a call whose context is over, and what it was doing
// then.
func ended(ctx context.Context, doing string) *Failure {
	f := AsFailure(ctx.Err())
	return &Failure{Status: f.Status, Err: fmt.Errorf("%w %s", f.Err, doing)}
}

// failed makes the reply that goes with a failure, keeping what was spent.
func failed(spent synod.Reply, f *Failure) (synod.Reply, error) {
	return synod.Reply{Status: f.Status, Detail: f.Reason(), Usage: spent.Usage, Calls: spent.Calls}, f
}

// sleep waits, and reports false if the context ended first.
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
