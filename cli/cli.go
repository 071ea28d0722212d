// Package cli is the command line of Synod, one file a verb.
//
// A program of another module that adds its own protocols, adversaries, tasks or
// topologies registers them in their catalogues and then calls Main:
//
//	func main() {
//		protocol.Catalogue.Add(mine.Entry)
//		cli.Main()
//	}
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the command line of this process and exits with its code. The first
// interrupt or termination signal cancels the command, which saves its state; the
// second one ends the process.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	code := Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Run runs the command given by args (without the program's name) and returns its
// exit code. Errors and hints are written to stderr. Progress bars are drawn only
// if stderr is a terminal.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{code: exitUsage, err: err} // cobra reports only usage errors itself
	}
	if e.err != nil {
		fmt.Fprintln(stderr, "synod:", printable(e.err.Error()))
	}
	if e.hint != "" {
		fmt.Fprintln(stderr, printable(e.hint))
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
