package llm

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"synod.dev/synod"
)

// The reason of a failure does not repeat its status. It is the reply's detail after
// every layer.
func TestReason(t *testing.T) {
	down := &Failure{Status: synod.Unavailable, Err: errors.New("no route")}
	for _, c := range []struct {
		err  error
		want string
	}{
		{down, "no route"},
		{fmt.Errorf("a2: %w", down), "no route"},
		{&Failure{Status: synod.Timeout}, ""},
		{context.Canceled, "the run was stopped"},
		{fmt.Errorf("call: %w", context.DeadlineExceeded), "the run's deadline passed"},
		{errors.New("odd"), "odd"},
	} {
		f := AsFailure(c.err)
		reply, err := failed(synod.Reply{Calls: 2}, f)
		if f.Reason() != c.want || reply.Detail != c.want || reply.Status != f.Status || reply.Calls != 2 ||
			!errors.Is(err, f) {
			t.Errorf("%v: %q, %+v", c.err, f.Reason(), reply)
		}
	}
	for name, m := range map[string]Model{"plain": fakeFailing(down),
		"standard": standard(fakeFailing(down), testLayers{})} {
		reply, err := m.Complete(t.Context(), Request{})
		if f := AsFailure(err); reply.Detail != f.Reason() || reply.Status != f.Status || reply.Detail == "" {
			t.Errorf("%s: %+v beside %v", name, reply, err)
		}
	}
}

func fakeFailing(f *Failure) Model {
	return fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
		return failed(synod.Reply{Calls: 1}, f)
	}}
}
