package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"synod.dev/synod"
)

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
	r := synod.Reply{Status: f.Status, Usage: spent.Usage, Calls: spent.Calls}
	if f.Err != nil {
		r.Detail = f.Err.Error()
	}
	return r, f
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
