// Synod answers a question with a council of language models, some of which may
// be wrong, broken or hostile, and says what is guaranteed about the answer.
// One file a verb.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run()) }

// run exists so that deferred calls happen before the process exits.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever asks twice is not kept waiting by what does not hear the first time
	err := newRoot().ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{code: exitUsage, err: err} // cobra's own complaints are about usage
	}
	if e.err != nil {
		fmt.Fprintln(os.Stderr, "synod:", printable(e.err.Error()))
	}
	if e.hint != "" {
		fmt.Fprintln(os.Stderr, printable(e.hint))
	}
	return e.code
}

// Exit codes; see "synod help exit-codes".
const (
	exitOK          = 0
	exitError1      = 1
	exitUsage       = 2
	exitUndecided   = 3
	exitDegraded    = 4
	exitBudget      = 5
	exitDeadline    = 6
	exitVerify      = 7
	exitGate        = 100
	exitInterrupted = 130
)

// exitError ends the program with a code. A nil err has been said already.
type exitError struct {
	code int
	err  error
	hint string // what to do now, for people
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func fail(code int, err error, hint ...string) error {
	e := &exitError{code: code, err: err}
	if len(hint) > 0 {
		e.hint = hint[0]
	}
	return e
}
