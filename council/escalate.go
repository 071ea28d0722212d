package council

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// escalateWithin is how long an escalation may take by default.
const escalateWithin = 5 * time.Second

// Escalation is what a webhook or command receives, as JSON.
type Escalation struct {
	Version  int             `json:"version"`
	Why      string          `json:"why"`      // breaker, budget, deadline
	Continue string          `json:"continue"` // the command that resumes the run; "" if there is none
	Outcome  outcome.Outcome `json:"outcome"`
}

// EscalationError reports that a run was stopped, and that the webhook or the command of
// its breakers could not be reached or failed.
type EscalationError struct{ Err error }

// Error returns the reason.
func (e *EscalationError) Error() string { return "the escalation failed: " + e.Err.Error() }

func (e *EscalationError) Unwrap() error { return e.Err }

// escalates reports whether a run that ended so is reported. An interruption is not:
// the caller knows of it.
func escalates(stopped string) bool {
	return stopped == outcome.Tripped || stopped == outcome.OverBudget || stopped == outcome.PastTime
}

// send reports the outcome to webhook and command, both at once, and waits for neither
// longer than the council allows. The run is over by then.
func send(e plan.Escalate, o *outcome.Outcome, again func(*outcome.Outcome) string) error {
	if e.Webhook == "" && len(e.Command) == 0 || !escalates(o.Stopped) {
		return nil
	}
	told := Escalation{Version: 1, Why: o.Stopped, Outcome: *o}
	if again != nil {
		told.Continue = again(o)
	}
	body, err := json.Marshal(told)
	if err != nil {
		return &EscalationError{err}
	}
	within := e.Within
	if within == 0 {
		within = escalateWithin
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var wait sync.WaitGroup
	var posted, ran error
	if e.Webhook != "" {
		wait.Go(func() { posted = post(ctx, e.Webhook, body) })
	}
	if len(e.Command) > 0 {
		wait.Go(func() { ran = run(ctx, e.Command, body) })
	}
	wait.Wait()
	if err := errors.Join(posted, ran); err != nil {
		return &EscalationError{err}
	}
	return nil
}

// post sends the outcome to a webhook. It follows no redirect: the question goes to
// the address that the operator wrote, and to no other.
func post(ctx context.Context, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return errors.New("webhook: the address cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{
		Transport:     llm.PlainTransport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("webhook: no answer in time")
		}
		return fmt.Errorf("webhook: %w", errors.Unwrap(err)) // without the address, which may hold a secret
	}
	answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("webhook: it answered %d", answer.StatusCode)
	}
	return nil
}

// run gives the outcome to a program on its standard input. The program and its
// arguments are the operator's; no text of a model is among them.
func run(ctx context.Context, command []string, body []byte) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin = bytes.NewReader(body)
	c.WaitDelay = time.Second // its children may keep the pipe open
	if err := c.Run(); ctx.Err() != nil {
		return fmt.Errorf("command %s: it did not end in time", command[0])
	} else if err != nil {
		return fmt.Errorf("command %s: %w", command[0], err)
	}
	return nil
}
