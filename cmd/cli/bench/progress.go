package bench

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/llm"
)

// plainEvery is the time between lines of progress where standard error is no terminal.
const plainEvery = 30 * time.Second

// benchProgress shows how many questions of a run are finished and the estimated time left: in a bar on a terminal, and
// in a line from time to time elsewhere.
func benchProgress(a *app.App, cmd *cobra.Command, outage time.Duration) (show *app.Bar, at func(bench.Progress)) {
	start := time.Now()
	switch {
	case a.Quiet:
		return &app.Bar{}, func(bench.Progress) {}
	case !a.OnTerminal(cmd):
		waits := announceWaits(cmd.ErrOrStderr(), outage)
		line := plainly(cmd.ErrOrStderr(), plainEvery, start)
		return &app.Bar{}, func(now bench.Progress) {
			waits(now)
			line(time.Now(), func() string { return questionsOf(now, time.Since(start)) })
		}
	}
	show = a.NewBar(cmd, false, "starting the members")
	return show, func(now bench.Progress) {
		show.Say(func() string {
			text := questionsOf(now, time.Since(start))
			for _, w := range now.Waiting {
				text += " · " + waiting(w, outage)
			}
			return text
		})
		if now.ToCompute > 0 {
			show.Set(int64(now.Computed), int64(now.ToCompute))
			return
		}
		show.Set(int64(now.Finished), int64(now.Total))
	}
}

// questionsOf says how many questions are finished after a time, or how many cells are computed.
func questionsOf(now bench.Progress, took time.Duration) string {
	if now.ToCompute > 0 {
		return fmt.Sprintf("%d of %d cells computed · %s · %s", now.Computed, now.ToCompute, now.Cell,
			app.Eta(now.Now, now.ToCompute-now.Computed, took))
	}
	text := fmt.Sprintf("%d of %d questions · %d calls · %s", now.Finished, now.Total, now.Calls,
		app.Eta(now.Now, now.Left(), took))
	if now.Failed > 0 {
		text += fmt.Sprintf(" · %d failed", now.Failed)
	}
	if now.Again {
		text += " · asking the failed ones again"
	}
	return text
}

// plainly returns a function that prints a line if enough time has gone by since the last one, or since the beginning.
func plainly(out io.Writer, every time.Duration, last time.Time) func(now time.Time, text func() string) {
	return func(now time.Time, text func() string) {
		if now.Sub(last) >= every {
			last = now
			fmt.Fprintln(out, "synod:", app.OneLine(text()))
		}
	}
}

// waiting says what calls wait for, since when, and how long they will.
func waiting(w llm.Waiting, outage time.Duration) string {
	return fmt.Sprintf("waiting for %s (%s): %v of at most %v", app.OneLine(w.Model), app.OneLine(w.Reason),
		time.Since(w.Since).Round(time.Second), outage)
}

// announceWaits prints a line where a model begins to be waited for, and where that ends.
func announceWaits(out io.Writer, outage time.Duration) func(bench.Progress) {
	before := map[string]time.Time{}
	return func(now bench.Progress) {
		models := map[string]bool{}
		for _, w := range now.Waiting {
			models[w.Model] = true
			if _, known := before[w.Model]; !known {
				before[w.Model] = w.Since
				fmt.Fprintln(out, "synod:", waiting(w, outage))
			}
		}
		for model, since := range before {
			if !models[model] {
				delete(before, model)
				fmt.Fprintf(out, "synod: no longer waiting for %s, after %v\n", app.OneLine(model),
					time.Since(since).Round(time.Second))
			}
		}
	}
}
