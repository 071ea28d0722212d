package app

import (
	"context"
	"errors"
	"fmt"
	"os"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
)

// Exit codes; see "synod help exit-codes".
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	exitUndecided   = 3
	ExitDegraded    = 4
	ExitBudget      = 5
	ExitDeadline    = 6
	ExitVerify      = 7
	ExitGate        = 100
	ExitInterrupted = 130
)

// Error ends the program with an exit code. Nothing is printed for a nil err.
type Error struct {
	Code int
	Err  error
	Hint string // what the user can do about it
}

// Error returns the text of Err, or the exit code where it is nil.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Fail returns an Error with an optional hint.
func Fail(code int, err error, hint ...string) error {
	e := &Error{Code: code, Err: err}
	if len(hint) > 0 {
		e.Hint = hint[0]
	}
	return e
}

// ConfigError gives errors in a council the exit code for usage and configuration.
func ConfigError(err error) error {
	var done *Error
	if errors.As(err, &done) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return Fail(ExitInterrupted, err)
	}
	if _, ok := errors.AsType[*council.PriceError](err); ok {
		return Fail(ExitUsage, err, "give the file with --prices FILE, or as prices.yaml in the configuration folder")
	}
	if errors.Is(err, os.ErrNotExist) {
		return Fail(ExitUsage, err, "check the path, or omit -c to use the embedded model")
	}
	return Fail(ExitUsage, err)
}

// Unreadable returns the error of a journal that cannot be read: one that was changed fails verification.
func Unreadable(err error) error {
	if errors.Is(err, journal.ErrChanged) {
		return Fail(ExitVerify, err, "restore the file from a copy, or ask the question again")
	}
	if errors.Is(err, os.ErrNotExist) {
		return Fail(ExitFailure, err, "check the path; see the journals with: synod journals list")
	}
	return Fail(ExitFailure, err)
}

// Code returns the exit code and the hint of an error of this package; code 2 for any other error.
func Code(err error) (code int, hint string) {
	var e *Error
	if errors.As(err, &e) {
		return e.Code, e.Hint
	}
	return ExitUsage, ""
}
