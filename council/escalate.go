package council

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// escalateWithin is how long an escalation may take where nothing else is said.
const escalateWithin = 5 * time.Second

// Escalation is what a webhook or command gets.
type Escalation struct {
	Version  int     `json:"version"`
	Why      string  `json:"why"`      // breaker, budget, deadline
	Continue string  `json:"continue"` // the command that goes on; "" where no journal was kept
	Outcome  Outcome `json:"outcome"`
}

// EscalationError says that a run was stopped and somebody who was to be told was
// not.
type EscalationError struct{ Err error }

func (e *EscalationError) Error() string { return "the escalation failed: " + e.Err.Error() }
func (e *EscalationError) Unwrap() error { return e.Err }

// escalates reports whether an ending is one that somebody is told of: the caller
// knows when it gave up itself.
func escalates(stopped string) bool {
	return stopped == Tripped || stopped == OverBudget || stopped == PastTime
}

// tell tells webhook and command, both at once, and waits for neither longer than
// the council allows. The run is over by then, so nobody is held up.
func (e Escalate) tell(o *Outcome) error {
	if e.Webhook == "" && len(e.Command) == 0 || !escalates(o.Stopped) {
		return nil
	}
	body, err := json.Marshal(Escalation{Version: 1, Why: o.Stopped, Continue: o.Continue(), Outcome: *o})
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

// post hands the outcome to a webhook. A redirect is not followed: what was asked
// goes to the address that the operator wrote, and to no other.
func post(ctx context.Context, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return errors.New("webhook: the address cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
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

// run hands the outcome to a program on its standard input. The program and its
// arguments are the operator's; nothing that a model wrote is among them.
func run(ctx context.Context, command []string, body []byte) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin = bytes.NewReader(body)
	c.WaitDelay = time.Second // for what it may have started
	if err := c.Run(); ctx.Err() != nil {
		return fmt.Errorf("command %s: it did not end in time", command[0])
	} else if err != nil {
		return fmt.Errorf("command %s: %w", command[0], err)
	}
	return nil
}

// Continue is the command that goes on with a run that was stopped, past the breaker
// that stopped it or with twice the limits; "" where no journal was kept.
func (o *Outcome) Continue() string {
	if o.Journal == "" || o.again == "" {
		return ""
	}
	return fmt.Sprintf(o.again, word(o.Journal))
}

// word is text as one word of a shell's command line.
func word(text string) string {
	if unquoted.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var unquoted = regexp.MustCompile(`^[\w@%+=:,./][\w@%+=:,./-]*$`)
