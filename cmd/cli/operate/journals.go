package operate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/display"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/table"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/filelock"
)

// retention is the age from which "journals prune" removes a journal.
const retention = "30d"

func journalsDir(a *app.App) string { return filepath.Join(a.Dirs.State, "journals") }

// JournalsCommand is "synod journals".
func JournalsCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journals",
		Short: "List, show or remove the journals of questions",
		Long: `Every "synod ask" and "synod research game" keeps a journal of its run, from which it can be resumed,
replayed and verified. Journals contain questions and replies. They are kept until they are
removed: "synod journals prune" removes those older than ` + retention + `.`,
	}
	cmd.AddCommand(journalsList(a), journalsShow(a), journalsPrune(a))
	return cmd
}

// journalEntry is a journal in the list.
type journalEntry struct {
	Name     string    `json:"name"`
	Time     time.Time `json:"time"` // of the last write
	Bytes    int64     `json:"bytes"`
	Council  string    `json:"council"`
	Members  string    `json:"members"` // the kinds of its members, such as endpoint+simulated
	Question string    `json:"question"`
	Status   string    `json:"status"` // agreed, degraded, undecided, or damaged
	Stopped  string    `json:"stopped"`
	Answer   string    `json:"answer,omitempty"`
}

func journalsList(a *app.App) *cobra.Command {
	var asJSON bool
	var n int
	cmd := &cobra.Command{
		Use: "list", Short: "List the journals, the newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := journalFiles(a)
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if n < 1 {
				return app.Fail(app.ExitUsage, fmt.Errorf("-n is %d; it must be at least 1, such as 20", n))
			}
			more := max(len(files)-n, 0)
			entries := []journalEntry{}
			for _, f := range files[:len(files)-more] {
				entries = append(entries, entryOf(a, f))
			}
			if asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), entries)
			}
			t := table.Table{Head: []string{"journal", "time", "members", "status", "stopped", "answer",
				"question"}}
			for _, e := range entries {
				t.Add(e.Name, e.Time.Format("2006-01-02 15:04"), e.Members, e.Status, e.Stopped, app.Brief(e.Answer,
					20),
					app.Brief(e.Question, 50))
			}
			if err := t.Write(cmd.OutOrStdout(), "text"); err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			if more > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d older ones are not listed (-n)\n", more)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVarP(&n, "number", "n", 20, "how many journals to list")
	return cmd
}

// journalFiles returns the journals in the state folder, the newest first.
func journalFiles(a *app.App) ([]os.FileInfo, error) {
	entries, err := os.ReadDir(journalsDir(a))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && filepath.Ext(e.Name()) == ".jsonl" {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(x, y os.FileInfo) int {
		return cmp.Or(y.ModTime().Compare(x.ModTime()), cmp.Compare(y.Name(), x.Name()))
	})
	return files, nil
}

func entryOf(a *app.App, f os.FileInfo) journalEntry {
	e := journalEntry{Name: f.Name(), Time: f.ModTime(), Bytes: f.Size(), Status: "damaged"}
	run, o, err := recalled(filepath.Join(journalsDir(a), f.Name()))
	if err != nil {
		return e
	}
	e.Council, e.Question, e.Status, e.Stopped = o.Council, run.Head.Question.Text, o.Status, o.Stopped
	e.Members = kindsOf(o)
	if o.Answer != nil {
		e.Answer = string(*o.Answer)
	}
	return e
}

// kindsOf lists the kinds of an outcome's members.
func kindsOf(o outcome.Outcome) string {
	var kinds []string
	for _, m := range o.Members {
		kinds = append(kinds, string(m.Kind))
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), "+")
}

// recalled reads a journal and returns the outcome of its run, without cost in money.
func recalled(path string) (*journal.Run, outcome.Outcome, error) {
	run, err := bench.LoadJournal(path)
	if err != nil {
		return nil, outcome.Outcome{}, err
	}
	p, err := plan.Of(run)
	if err != nil {
		return nil, outcome.Outcome{}, err
	}
	o := outcome.Judge(p, outcome.InstanceOf(run), outcome.RecordsOf(p, run))
	o.Journal, o.Digest = path, run.Digest()
	return run, o, nil
}

func journalsShow(a *app.App) *cobra.Command {
	var asJSON bool
	var show []string
	cmd := &cobra.Command{
		Use:   "show JOURNAL",
		Short: "Print the outcome of the run in a journal",
		Long: `Prints the outcome of the run in a journal: a name of "synod journals list", a file, or
FOLDER#QUESTION-REPEAT of a bench run. No model is asked.`,
		Example: "  synod journals show 20261120-101500-1a2b3c.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := display.CheckShow(show); err != nil {
				return app.Fail(app.ExitUsage, err)
			}
			path := args[0]
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(path, "/#") {
				path = filepath.Join(journalsDir(a), path)
			}
			run, o, err := recalled(path)
			if err != nil {
				return app.Unreadable(err)
			}
			if asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), o)
			}
			return printRun(cmd.OutOrStdout(), run, &o, path, show)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole outcome as JSON")
	cmd.Flags().StringSliceVar(&show, "show", nil, "also print: reasoning (of every member)")
	return cmd
}

// printRun prints the outcome of the run in a journal.
func printRun(w io.Writer, run *journal.Run, o *outcome.Outcome, path string, show []string) error {
	fmt.Fprintln(w, "question:", app.OneLine(run.Head.Question.Text))
	switch {
	case o.Answer != nil && o.Form == synod.Prose:
		fmt.Fprintf(w, "answer:\n%s\n", display.DecisionText(o, o.Text))
	case o.Answer != nil:
		fmt.Fprintln(w, "answer:  ", display.DecisionText(o, o.Text))
	}
	err := errors.Join(app.Sayf(w, "status:   %s: %s\n", o.Status, app.OneLine(o.Reason)),
		app.Sayf(w, "stopped:  %s after %s · %s\n", o.Stopped, display.Rounds(o.Rounds.Len()-1), display.CallsOf(o)),
		app.Sayf(w, "%s\n", display.Withstands(*o)))
	if err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	display.PrintFields(w, *o)
	display.PrintClaims(w, o)
	display.PrintLabels(w, *o)
	if err := display.ShowMore(w, o, true, show); err != nil {
		return app.Fail(app.ExitFailure, err)
	}
	if outcome.Unfinished(run) {
		fmt.Fprintln(w, "resume:  ", app.ResumeCommand(run, path))
	}
	return nil
}

func journalsPrune(a *app.App) *cobra.Command {
	var older string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old journals",
		Long: `Removes the journals in the state folder that were last written longer ago than --older, also
those of runs that could be resumed. A journal that is being written is kept.`,
		Example: "  synod journals prune\n  synod journals prune --older 7d --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			age, err := age(older)
			if err != nil {
				return app.Fail(app.ExitUsage, err)
			}
			files, err := journalFiles(a)
			if err != nil {
				return app.Fail(app.ExitFailure, err)
			}
			before := time.Now().Add(-age)
			gone, bytes, kept := 0, int64(0), 0
			for _, f := range files {
				if f.ModTime().After(before) {
					kept++
					continue
				}
				switch removed, err := remove(filepath.Join(journalsDir(a), f.Name()), dryRun); {
				case err != nil:
					return app.Fail(app.ExitFailure, err)
				case !removed:
					kept++
					continue
				}
				gone, bytes = gone+1, bytes+f.Size()
			}
			verb := "removed"
			if dryRun {
				verb = "would remove"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s %s, %s; kept %d\n", verb, app.Count(gone, "journal"), size(bytes), kept)
			return nil
		},
	}
	cmd.Flags().StringVar(&older, "older", retention, "remove journals older than this `age`, such as 30d or 12h")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be removed")
	return cmd
}

// remove removes a journal that no process writes, and reports whether it did.
func remove(path string, dryRun bool) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := filelock.Hold(f); errors.Is(err, filelock.ErrHeld) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	if dryRun {
		return true, nil
	}
	return true, os.Remove(path)
}
