package app

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/origin"
)

// The kinds of files that a user's key marks.
const (
	OwnJournal = "journal"
	OwnRun     = "run"
)

// key returns the user's key; nil if it cannot be read or written, so that nothing is marked and nothing is known.
func (a *App) key() origin.Key {
	key, err := origin.Load(a.Dirs.State)
	if err != nil {
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
			a.keyError.Store(&err)
		}
		return nil
	}
	return key
}

// Unmarked returns the error of a disk that kept the user's key from being made or read, so that what the command wrote
// has no mark; nil if there was none. It is no error that the state folder belongs to somebody else.
func (a *App) Unmarked() error {
	if err := a.keyError.Load(); err != nil {
		return Fail(ExitFailure, *err, "what was written is complete, but has no mark of yours: resume it with --trust")
	}
	return nil
}

// Wrote reports whether the user wrote a file of a kind on this machine, by the mark in it.
func (a *App) Wrote(kind string, text []byte, mark string) bool {
	return a.key().Wrote(kind, text, mark)
}

// Mark returns a function that marks files of a kind as written by the user.
func (a *App) Mark(kind string) func([]byte) string {
	return func(text []byte) string { return a.key().Mark(kind, text) }
}

// TrustFlag is the help of --trust; %s is what was not written here: a journal or a folder.
const TrustFlag = "use the addresses, keys and files that the %s names, although it was not written by you on this " +
	"machine"

// trustJournal fails if a journal from elsewhere names something that resuming it would use.
func (a *App) trustJournal(run *journal.Run, spec plan.Spec, path, verb string) error {
	if a.Wrote(OwnJournal, run.Head.Content(), run.Head.Origin) {
		return nil
	}
	return Foreign(path, spec.Starts(), "synod "+verb+" --resume "+ShellWord(path))
}

// Foreign returns the error about a file from elsewhere whose use would start something; nil: it starts nothing.
// command is the one that was refused.
func Foreign(path string, starts []string, command string) error {
	if len(starts) == 0 {
		return nil
	}
	return Fail(ExitUsage, fmt.Errorf("%s was not written by you on this machine, and resuming it starts this:\n  %s",
		path, strings.Join(starts, "\n  ")), "if you trust it:\n  "+command+" --trust")
}
