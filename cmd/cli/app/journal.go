package app

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/plan"
)

// JournalFlags are the flags that say which journal a run writes or resumes.
type JournalFlags struct {
	Path      string // of the journal to write; "": a new file in the state folder
	NoJournal bool
	Resume    string // the journal to resume; "": a new run
	Trust     bool   // resume it although somebody else has written it
}

// JournalPath returns the file to which a new run writes its journal.
func (a *App) JournalPath(f *JournalFlags) string {
	switch {
	case f.NoJournal:
		return ""
	case f.Path != "":
		return f.Path
	}
	name := time.Now().UTC().Format("20060102-150405") + fmt.Sprintf("-%06x", rand.Uint32N(1<<24)) + ".jsonl"
	return filepath.Join(a.Dirs.State, "journals", name)
}

// Resumed returns the question and the council of the journal to resume, by "synod ask" or another verb.
func (a *App) Resumed(ask council.Ask, args []string, f *JournalFlags, source *CouncilFlags, verb string) (council.Ask,
	plan.Spec, error) {
	if len(args) > 0 {
		return ask, plan.Spec{}, Fail(ExitUsage,
			errors.New("--resume takes the question and the council from the journal; give no question"))
	}
	run, lock, err := journal.Resume(f.Resume)
	if err != nil {
		return ask, plan.Spec{}, Unreadable(err)
	}
	a.locks = append(a.locks, lock)
	spec, err := plan.SpecOf(run)
	if err != nil {
		return ask, plan.Spec{}, Fail(ExitFailure, err)
	}
	if !f.Trust {
		if err := a.trustJournal(run, spec, f.Resume, verb); err != nil {
			return ask, spec, err
		}
	}
	if spec, err = source.SetLimits(spec, "a run is resumed with its own council"); err != nil {
		return ask, plan.Spec{}, ConfigError(err)
	}
	ask.Resume, ask.Question, ask.Seed = run, run.Head.Question, run.Head.Seed
	if ask.Journal = a.JournalPath(f); f.Path == "" && !f.NoJournal && run.Continues(f.Resume) {
		ask.Journal = f.Resume
	}
	return ask, spec, nil
}

// NotBegun returns the error of a run that could not begin, because of the question or
// of the disk.
func NotBegun(err error) error {
	var other *council.ResumeError
	if errors.As(err, &other) {
		return Fail(ExitVerify, err)
	}
	var disk *os.PathError
	if errors.As(err, &disk) {
		return Fail(ExitFailure, err, "choose another file with --journal FILE, or write none with --no-journal")
	}
	return Fail(ExitUsage, err)
}

// ResumeCommand returns the command that resumes the run of a journal.
func ResumeCommand(run *journal.Run, path string) string {
	if file, _, many := strings.Cut(path, "#"); many {
		return "synod bench resume " + ShellWord(file)
	}
	verb := "ask"
	if spec, err := plan.SpecOf(run); err == nil && spec.Protocol["name"] == "game" {
		verb = "game"
	}
	return "synod " + verb + " --resume " + ShellWord(path)
}
