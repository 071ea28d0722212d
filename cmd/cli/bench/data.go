package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/task"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/questions"
	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/fetch"
)

// DataCommand is "synod data".
func DataCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "data",
		Short: "Fetch, convert and list data sets and recorded replies",
		Long: `Fetches the published data of tasks, so that "synod bench run" finds it without
--data. Only files with a pinned SHA-256 digest, and rows of the public hub at a
pinned revision, are fetched. For other tasks the expected layout is printed; pass
your own copy with --data. Recorded replies, which presets replay with --members
recorded, have names such as traces/cp-wbft, and prompts of the papers' published code
such as prompts/sac. "convert" reads the layouts in which
papers and benchmarks publish questions and replies.`,
		Example: "  synod data list\n  synod data pull gsm8k traces/cp-wbft\n  synod data pull --all\n" +
			"  synod data convert traces/mmlu-pro eval_results -o data",
	}
	cmd.AddCommand(dataPull(a), dataList(a), dataConvert(a))
	return cmd
}

func dataPull(a *app.App) *cobra.Command {
	var all bool
	var revision string
	cmd := &cobra.Command{
		Use:   "pull NAME… | --all",
		Short: "Fetch data sets and check them by pinned digests",
		Long: `Fetches the published file of each data set into the data folder, unless it is already
there. The file gets its final name after its digest was checked. Sets that are
published as a Parquet table are fetched as rows of the public hub, 100 in a page,
with pauses if its rate limit is reached; the hub's revision must be the pinned one.
sac-math, sac-commonsense and traces/cp-wbft are made of published files: the 60 items
of the SAC paper by the digests of their texts, and CP-WBFT's recorded replies.
prompts/sac, prompts/cp-wbft and prompts/game are made of the papers' code at a pinned
commit; the line that is printed has their folder, for --set prompts=FOLDER. votes are the
recorded votes of docs/worth-it.md, made of the result files of two repositories at pinned
commits (157 files, which take hundreds of megabytes; --all leaves them out). Which
questions are taken is listed in the program, with digests of who was right.
An interrupted fetch continues where it stopped. --all fetches every data set with a
pinned source and lists the others.

Exit codes: 0 all data sets are there · 1 a data set has no pinned source or could not
be fetched, or the hub serves another revision · 2 usage · 7 what was fetched is not
what is pinned (it is deleted) · 130 interrupted.`,
		Example: "  synod data pull gsm8k math500\n  synod data pull --all\n  synod data pull votes\n" +
			"  HTTPS_PROXY=http://proxy:3128 synod data pull gsm8k\n" +
			"  synod data pull mmlu-pro --revision 0a1b2c…   # the hub's newer revision",
		RunE: func(cmd *cobra.Command, names []string) error {
			if all == (len(names) > 0) {
				return app.Fail(app.ExitUsage, errors.New("give the names of data sets, or --all"),
					"list them with: synod data list")
			}
			jobs, err := wanted(a, cmd, names)
			if err != nil {
				return err
			}
			if err := checkRevision(revision, jobs); err != nil {
				return err
			}
			return dataPullAll(a, cmd, jobs, revision)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "fetch every data set whose published source is pinned")
	cmd.Flags().StringVar(&revision, "revision", "", "accept this `commit` of a set on the public hub in place of the "+
		"pinned one")
	return cmd
}

// checkRevision refuses --revision where it has no meaning.
func checkRevision(revision string, jobs []pullJob) error {
	if revision == "" || len(jobs) == 1 && jobs[0].entry.Source.Rows != nil && len(revision) == 40 {
		return nil
	}
	return app.Fail(app.ExitUsage, errors.New("--revision takes the 40 digits of a commit, for one data set whose "+
		"rows come from the public hub"), "example: synod data pull mmlu-pro --revision "+strings.Repeat("0a", 20))
}

// pullJob is something that can be fetched: a data set, or recorded replies that are made of published files.
type pullJob struct {
	name  string
	entry task.Entry       // of the data set
	made  *task.Conversion // recorded replies; nil for others
	words *task.PromptSet  // prompts; nil for others
}

// dataPullAll fetches everything. It continues after a failure, so that one host that
// is down does not prevent fetching from others.
func dataPullAll(a *app.App, cmd *cobra.Command, jobs []pullJob, revision string) error {
	code, missed := app.ExitOK, 0
	for _, j := range jobs {
		var failed *app.Error
		if err := pullData(a, cmd, j, revision); !errors.As(err, &failed) {
			continue
		}
		if len(jobs) == 1 || failed.Code == app.ExitInterrupted {
			return failed
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "synod: %s\n%s\n", app.Printable(failed.Err.Error()), app.Printable(failed.Hint))
		code, missed = max(code, failed.Code), missed+1
	}
	if missed > 0 {
		return app.Fail(code, fmt.Errorf("%d of %d data sets could not be fetched", missed, len(jobs)))
	}
	return nil
}

// wanted returns the data sets and recorded replies with these names or, without names, all that can be fetched.
func wanted(a *app.App, cmd *cobra.Command, names []string) (jobs []pullJob, err error) {
	for _, name := range names {
		if s, err := task.PromptSets.Find(name); err == nil {
			jobs = append(jobs, pullJob{name: name, words: &s})
			continue
		}
		if some := recordings(name); len(some) > 0 {
			jobs = append(jobs, some...)
			continue
		}
		e, err := task.Catalogue.Find(name)
		if err != nil {
			return nil, app.Fail(app.ExitUsage, err, "list data sets, recorded replies and prompts with: synod data "+
				"list")
		}
		jobs = append(jobs, pullJob{name: name, entry: e})
	}
	if len(names) > 0 {
		return jobs, nil
	}
	var unpinned []string
	for _, e := range task.Catalogue.All() {
		switch state := questions.Store(a).State(e); {
		case state == task.Inside, len(e.Parts()) > 1:
		case state == task.Unpinned:
			unpinned = append(unpinned, e.Name)
		default:
			jobs = append(jobs, pullJob{name: e.Name, entry: e})
		}
	}
	for _, c := range conversionsOf(tracesPrefix) { // votes are large, and are fetched where they are named
		if questions.Store(a).MadeState(c) == task.Unpinned {
			unpinned = append(unpinned, c.Name)
			continue
		}
		jobs = append(jobs, pullJob{name: c.Name, made: &c})
	}
	for _, s := range task.PromptSets.All() {
		switch {
		case s.From.URL != "":
			jobs = append(jobs, pullJob{name: s.Name, words: &s})
		case !s.Made(): // the others are made of papers: synod data convert
			unpinned = append(unpinned, s.Name)
		}
	}
	a.Say(cmd, "no pinned source, see synod data list, and pass with --data: "+strings.Join(unpinned, ", "))
	return jobs, nil
}

// tracesPrefix begins the names of recorded replies.
const tracesPrefix = "traces/"

// conversionsOf returns the conversions whose names begin with a prefix: those of recorded replies or votes.
func conversionsOf(prefix string) (all []task.Conversion) {
	for _, c := range task.Conversions.All() {
		if strings.HasPrefix(c.Name, prefix) {
			all = append(all, c)
		}
	}
	return all
}

// recordings returns the jobs that fetch recorded replies or votes with a name. The name votes means all votes.
func recordings(name string) (jobs []pullJob) {
	for _, c := range slices.Concat(conversionsOf(tracesPrefix), conversionsOf(task.VotesPrefix)) {
		if c.Name == name || name+"/" == task.VotesPrefix && strings.HasPrefix(c.Name, task.VotesPrefix) {
			jobs = append(jobs, pullJob{name: c.Name, made: &c})
		}
	}
	return jobs
}

// pullData fetches one data set. Its errors have advice.
func pullData(a *app.App, cmd *cobra.Command, j pullJob, revision string) error {
	show, at := a.Download(cmd, j.name)
	notice := func(line string) {
		if !a.OnTerminal(cmd) {
			a.Say(cmd, line)
		}
	}
	var err error
	options := task.PullOptions{Progress: at, Notice: notice, Revision: revision}
	give := "pass your own copy to synod bench run with --data PATH; its layout: " + j.entry.Layout
	switch {
	case j.words != nil:
		err = questions.Store(a).PullPrompts(cmd.Context(), *j.words, options)
		give = promptsHint(*j.words)
	case j.made != nil:
		err = questions.Store(a).PullMade(cmd.Context(), *j.made, options)
		give = convertHint(*j.made)
	default:
		err = questions.Store(a).Pull(cmd.Context(), j.entry, options)
	}
	show.Done()
	if err == nil && j.made != nil && strings.HasPrefix(j.name, task.VotesPrefix) {
		a.Say(cmd, "synod bench run worth-it --data "+app.ShellWord(questions.Store(a).Dir)+" reads them, once all "+
			"four sets are there")
	}
	if j.entry.Made != "" {
		c, _ := task.Conversions.Find(j.entry.Made)
		give = convertHint(c)
	}
	switch {
	case err == nil:
		return nil
	case cmd.Context().Err() != nil:
		return app.Fail(app.ExitInterrupted, errors.New("interrupted; what was fetched is kept, and the same command "+
			"continues"))
	}
	return notPulled(err, j.name, give)
}

// notPulled adds advice to the error about a data set that could not be fetched. give says how to do without.
func notPulled(err error, name, give string) error {
	var pull *task.PullError
	var none *task.NoSourceError
	var other *task.RevisionError
	var private *task.UnpublishedError
	switch {
	case errors.As(err, &none):
		return app.Fail(app.ExitFailure, err, give)
	case errors.As(err, &private):
		return app.Fail(app.ExitFailure, err, give)
	case errors.As(err, &other):
		return app.Fail(app.ExitFailure, err, fmt.Sprintf("accept it with: synod data pull %s --revision %s\nIts "+
			"questions may differ from those of earlier runs. Or convert the table of the pinned revision and pass it "+
			"with --data: see docs/measure/bench.md", name, other.Served))
	case errors.Is(err, fetch.ErrDigest):
		return app.Fail(app.ExitVerify, err, "the file was deleted. Try again. If this happens again, the published "+
			"file has changed or the connection is not trustworthy")
	case errors.As(err, &pull):
		return app.Fail(app.ExitFailure, err, "check the network and HTTPS_PROXY; the same command continues where it "+
			"stopped. Or "+give)
	}
	return app.Fail(app.ExitFailure, err)
}

// dataRow is a row of "synod data list".
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

	Rows *task.Rows `json:"rows,omitempty"` // of the public hub, in place of a file
}

func dataRows(a *app.App) (rows []dataRow) {
	for _, e := range task.Catalogue.All() {
		rows = append(rows, dataRow{e.Name, e.Summary, questions.Store(a).State(e), e.Form, e.Items, e.Layout,
			e.Source.URL,
			e.Source.SHA256, e.Source.Size, e.About, e.Source.Rows})
	}
	for _, c := range slices.Concat(conversionsOf(tracesPrefix), conversionsOf(task.VotesPrefix)) {
		rows = append(rows, dataRow{Name: c.Name, Summary: c.Summary, State: questions.Store(a).MadeState(c),
			Form:   "replies",
			Layout: c.Input, About: c.About})
	}
	for _, s := range task.PromptSets.All() {
		rows = append(rows, dataRow{Name: s.Name, Summary: s.Summary, State: questions.Store(a).PromptsState(s),
			Form:   "prompts",
			Layout: s.Input, URL: s.From.URL, About: s.About})
	}
	return rows
}

func dataList(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List data sets and their state",
		Long: `Lists the tasks of the catalogue and the state of their data:
  inside    part of the program
  here      fetched; "synod bench run" finds it
  absent    can be fetched with "synod data pull"
  damaged   fetched, but its length has changed; fetch it again
  unpinned  cannot be fetched, because no digest or revision is known; use --data PATH`,
		Example: "  synod data list\n  synod data list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return app.WriteJSON(cmd.OutOrStdout(), struct {
					Version int       `json:"version"`
					Sets    []dataRow `json:"sets"`
				}{1, dataRows(a)})
			}
			t := table.Table{Head: []string{"NAME", "DATA", "ITEMS", "BYTES", "SUMMARY"}}
			for _, r := range dataRows(a) {
				t.Add(r.Name, r.State, orDash(int64(r.Items)), orDash(r.Bytes), r.Summary)
			}
			return t.Write(cmd.OutOrStdout(), "text")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// orDash formats a number; 0 means unknown and gives a dash.
func orDash(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
