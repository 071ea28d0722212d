package bench

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"synod.dev/synod"
	"synod.dev/synod/bench"
	"synod.dev/synod/bench/presets"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/cmd/cli/questions"
	"synod.dev/synod/core/table"
)

// labProgram spreads sweeps over machines. It is a program of its own because of the library of the queue.
const labProgram = "synod-lab"

// hubCommand makes the folder of a grid, as bench run does, and has synod-lab serve it to workers.
func hubCommand(a *app.App) *cobra.Command {
	var f benchFlags
	var full bool
	cmd := &cobra.Command{
		Use:   "hub MANIFEST.yaml|PRESET|DIR",
		Short: "Hand out the questions of an experiment to workers",
		Long: `Makes the folder of an experiment, as synod bench run does, or takes one that is there, and
serves it to workers (synod bench worker). It asks no model itself: it keeps the results,
and grants calls within the limits of the models and the budget of the manifest. It may
be killed and started again at any time. docs/measure/experiments.md has an example with two machines.

On loopback any user of this machine may work. On other addresses connections use TLS,
and workers need the file hub/worker.key of the folder.

Exit codes: 0 all finished · 1 some failed, or the folder cannot be written · 2 usage · 5
the budget is used · 130 interrupted.`,
		Example: `  synod bench hub study.yaml -o runs/study --listen 0.0.0.0:7700
  synod bench hub runs/study
  synod bench hub runs/study --nats tls://a.example,tls://b.example,tls://c.example --creds hub.creds`,
		Args: cobra.ExactArgs(1),
	}
	fl := cmd.Flags()
	f.addManifest(fl, &full)
	own := hubFlags()
	fl.AddFlagSet(own)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir := args[0]
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			if err := hubFolder(a, cmd, dir, &f, full); err != nil {
				return err
			}
			dir = f.out
		} else if f.out != "" && f.out != dir {
			return app.Fail(app.ExitUsage, fmt.Errorf("%s is a folder: it is served where it is, and not as -o %s", dir,
				f.out))
		}
		call := []string{"hub", dir}
		own.VisitAll(func(x *pflag.Flag) {
			if x.Changed {
				call = append(call, "--"+x.Name+"="+x.Value.String())
			}
		})
		return a.RunBeside(cmd, labProgram, call)
	}
	return cmd
}

// hubFlags returns the flags that synod-lab takes.
func hubFlags() *pflag.FlagSet {
	f := pflag.NewFlagSet("hub", pflag.ContinueOnError)
	f.String("listen", "127.0.0.1:7700", "`address` for workers; port 0: a free one")
	f.String("nats", "", "`URL[,URL…]` of an existing NATS server or cluster with JetStream, in place of one in "+
		"this process")
	f.String("creds", "", "`file` with a user's credentials or the seed of an nkey for --nats")
	f.String("ca", "", "`file` with the certificates of the authorities that --nats is trusted by; default: "+
		"those of the system")
	f.String("queue", "sweep", "`name` of the queue; sweeps that share a NATS server need different ones")
	f.Duration("lease", 30*time.Second, "how long a worker may be silent before others take its questions")
	return f
}

// hubFolder brings the folder of a manifest up to date, without asking or fetching a model.
func hubFolder(a *app.App, cmd *cobra.Command, name string, f *benchFlags, full bool) error {
	f.parallel, f.noCheck = 1, true
	if err := f.check(cmd); err != nil {
		return app.Fail(app.ExitUsage, err)
	}
	f.Pulled = questions.Store(a).Dir
	o, err := f.manifestOptions(cmd, a)
	if err != nil {
		return err
	}
	o.Full = full
	m, err := experiment(name)
	if err != nil {
		return err
	}
	if m == nil {
		return app.Fail(app.ExitUsage, fmt.Errorf("%q is neither a preset%s nor a manifest", name, synod.Hint(name,
			presets.Names())), "see: synod list presets; the name of a manifest ends in .yaml")
	}
	grid, err := m.Draft(o)
	if err != nil {
		return app.ConfigError(err)
	}
	if err := bringFiles(a, cmd, m, grid, *f); err != nil {
		return err
	}
	return computeGrid(a, cmd, grid)
}

func workerCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "worker --hub ADDR", Short: "Play questions of an experiment for its hub", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.RunBeside(cmd, labProgram, append([]string{"worker"}, args...))
		},
	}
}

// watchCommand shows the folder of a run or a grid in a browser.
func watchCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: "watch DIR", Short: "Show an experiment that goes on as a web page",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.RunBeside(cmd, "synod-serve", append([]string{"watch"}, args...))
		},
	}
}

// staleHub is how old what a hub has written may be, while it works.
const staleHub = time.Minute

// printHub prints what the hub of a grid wrote last.
func printHub(out io.Writer, s *bench.HubStatus) error {
	state := s.State
	if age := time.Since(s.Written); age > staleHub {
		state = fmt.Sprintf("not running; this is of %s", s.Written.Format(time.DateTime))
	}
	fmt.Fprintf(out, "\nhub at %s: %s\nquestions: %d waiting, %d in the queue or with workers, %d played now, %d "+
		"finished, %d failed\n", s.Address, state, s.Waiting, s.Queued, s.Playing, s.Finished, s.Failed)
	fmt.Fprintf(out, "spent by all workers: %d calls, %d tokens, %.4f USD", s.Spent.Calls, s.Spent.Tokens, s.Spent.USD)
	if s.Lost.Calls > 0 {
		fmt.Fprintf(out, "; of that at most %d calls, %.4f USD by workers that were lost", s.Lost.Calls, s.Lost.USD)
	}
	fmt.Fprintln(out)
	workers := table.Table{Align: "llrrrrr",
		Head: []string{"worker", "host", "playing", "of", "finished", "a minute", "silent"}}
	for _, w := range s.Workers {
		workers.Add(w.ID[:min(len(w.ID), 8)], w.Host, w.Playing, w.Parallel, w.Finished,
			fmt.Sprintf("%.0f", w.PerMinute), fmt.Sprintf("%.0f s", w.Silent))
	}
	accounts := table.Table{Align: "lllrrl",
		Head: []string{"provider", "model", "account", "running", "waiting", "limits"}}
	for _, x := range s.Accounts {
		accounts.Add(x.Provider, x.Model, x.Account, x.Running, x.Waiting, limitsOf(x))
	}
	for _, t := range []*table.Table{&workers, &accounts} {
		if len(t.Rows) == 0 {
			continue
		}
		fmt.Fprintln(out)
		if err := t.Write(out, "text"); err != nil {
			return app.Fail(app.ExitFailure, err)
		}
	}
	return nil
}

func limitsOf(x bench.HubAccount) string {
	var parts []string
	if x.PerMinute > 0 {
		parts = append(parts, fmt.Sprintf("%d a minute", x.PerMinute))
	}
	if x.Concurrency > 0 {
		parts = append(parts, fmt.Sprintf("%d at once", x.Concurrency))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
