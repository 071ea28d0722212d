package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"synod.dev/synod/fetch"
	"synod.dev/synod/task"
)

// tasks is where pulled sets are kept.
func (a *app) tasks() task.Store { return task.Store{Dir: filepath.Join(a.dirs.data, "tasks")} }

func dataCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Fetch and list the data sets of tasks",
		Long: `Fetches the published files of tasks, so that "synod bench run" finds them without
--data. Only a file whose SHA-256 was checked against a copy is fetched, from an
address that names a commit; of the others the layout is said, and --data takes a
file that you have got yourself.`,
		Example: "  synod data list\n  synod data pull gsm8k\n  synod data pull --all",
	}
	cmd.AddCommand(dataPull(a), dataList(a))
	return cmd
}

func dataPull(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "pull NAME… | --all",
		Short: "Fetch data sets, checked against pinned digests",
		Long: `Fetches the published file of each set into the data folder, unless it is there,
checks it and gives it its name only when it is whole. A fetch that was cut off
goes on where it stopped. --all fetches every set whose file is pinned and names
the others.

Exit codes: 0 all are there · 1 a set has no pinned source or could not be fetched ·
2 usage · 7 what came is not what is pinned (it is thrown away) · 130 interrupted.`,
		Example: "  synod data pull gsm8k math500\n  synod data pull --all\n  HTTPS_PROXY=http://proxy:3128 synod data pull gsm8k",
		RunE: func(cmd *cobra.Command, names []string) error {
			if all == (len(names) > 0) {
				return fail(exitUsage, errors.New("give the names of data sets, or --all"), "see what there is: synod data list")
			}
			entries, err := a.wanted(cmd, names)
			if err != nil {
				return err
			}
			return a.dataPullAll(cmd, entries)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every set whose published file is pinned")
	return cmd
}

// dataPullAll goes on after a set that could not be had, so that one host that is
// down does not keep the others' sets away.
func (a *app) dataPullAll(cmd *cobra.Command, entries []task.Entry) error {
	code, missed := exitOK, 0
	for _, e := range entries {
		var failed *exitError
		if err := a.dataPull(cmd, e); !errors.As(err, &failed) {
			continue
		}
		if len(entries) == 1 || failed.code == exitInterrupted {
			return failed
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "synod: %s\n%s\n", printable(failed.err.Error()), printable(failed.hint))
		code, missed = max(code, failed.code), missed+1
	}
	if missed > 0 {
		return fail(code, fmt.Errorf("%d of %d sets could not be pulled", missed, len(entries)))
	}
	return nil
}

// wanted are the sets of these names; without names all that can be pulled.
func (a *app) wanted(cmd *cobra.Command, names []string) (entries []task.Entry, err error) {
	for _, name := range names {
		e, err := task.Catalogue.Find(name)
		if err != nil {
			return nil, fail(exitUsage, err, "see what there is: synod data list")
		}
		entries = append(entries, e)
	}
	if len(names) > 0 {
		return entries, nil
	}
	var unpinned []string
	for _, e := range task.Catalogue.All() {
		switch state := a.tasks().State(e); {
		case state == task.Inside, len(e.Parts()) > 1:
		case state == task.Unpinned:
			unpinned = append(unpinned, e.Name)
		default:
			entries = append(entries, e)
		}
	}
	a.say(cmd, "without a pinned source, to be given with --data: "+strings.Join(unpinned, ", "))
	return entries, nil
}

func (a *app) say(cmd *cobra.Command, line string) {
	if !a.quiet {
		fmt.Fprintln(cmd.ErrOrStderr(), oneLine(line))
	}
}

// dataPull fetches one set and says what to do where it cannot be had.
func (a *app) dataPull(cmd *cobra.Command, e task.Entry) error {
	show, at := a.download(cmd, e.Name)
	err := a.tasks().Pull(cmd.Context(), e, task.PullOptions{Progress: at, Notice: func(line string) {
		if !a.onTerminal(cmd) {
			a.say(cmd, line)
		}
	}})
	show.done()
	give := "give --data PATH to synod bench run; the layout is: " + e.Layout
	var pull *task.PullError
	var none *task.NoSourceError
	switch {
	case err == nil:
		return nil
	case cmd.Context().Err() != nil:
		return fail(exitInterrupted, errors.New("interrupted; what was fetched is kept, and the same command goes on"))
	case errors.As(err, &none):
		return fail(exitError1, err, give)
	case errors.Is(err, fetch.ErrDigest):
		return fail(exitVerify, err, "it was thrown away. Try again; if it stays so, what is published there has changed, or somebody is in between")
	case errors.As(err, &pull):
		return fail(exitError1, err, "see to the network or to HTTPS_PROXY; the same command goes on where it stopped. Or get the file and "+give)
	}
	return fail(exitError1, err)
}

// dataRow is a line of "synod data list".
type dataRow struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	State   string `json:"state"` // inside | here | damaged | absent | unpinned
	Form    string `json:"form"`
	Items   int    `json:"items"`
	Layout  string `json:"layout,omitempty"`
	URL     string `json:"url,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	About   string `json:"about"`
}

func (a *app) dataRows() (rows []dataRow) {
	for _, e := range task.Catalogue.All() {
		rows = append(rows, dataRow{e.Name, e.Summary, a.tasks().State(e), e.Form, e.Items, e.Layout, e.Source.URL, e.Source.SHA256, e.Source.Size, e.About})
	}
	return rows
}

func dataList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List data sets: which are here, which can be fetched",
		Long: `Lists the tasks of the catalogue and how their data stand:
  inside    in the program; nothing is needed
  here      fetched; "synod bench run" finds it
  absent    can be fetched with "synod data pull"
  damaged   fetched, and of another length than it was; fetch it again
  unpinned  cannot be fetched: no digest of it is known; give --data PATH`,
		Example: "  synod data list\n  synod data list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), struct {
					Version int       `json:"version"`
					Sets    []dataRow `json:"sets"`
				}{1, a.dataRows()})
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tDATA\tITEMS\tBYTES\tSUMMARY")
			for _, r := range a.dataRows() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Name, r.State, orDash(int64(r.Items)), orDash(r.Bytes), r.Summary)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// orDash shows a number that is known.
func orDash(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
