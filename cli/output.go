package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"synod.dev/synod/council"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/lab"
	"synod.dev/synod/llm"
)

// printable makes untrusted text safe for a terminal: control, format and
// bidirectional characters, tags and escapes are printed as \u codes (SC-37).
func printable(s string) string { return string(escaped([]byte(s))) }

// oneLine is printable with white space, including line breaks, collapsed to single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// writeJSON prints v as indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func isTerminal(w io.Writer) bool {
	if s, ok := w.(*screen); ok {
		w = s.to
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminal returns standard error for a progress bar, which draws with escapes.
func terminal(cmd *cobra.Command) io.Writer {
	if s, ok := cmd.ErrOrStderr().(*screen); ok {
		return s.to
	}
	return cmd.ErrOrStderr()
}

// bar is a progress bar on a terminal; the zero value does nothing.
type bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
}

func (b *bar) done() {
	if b.progress != nil {
		b.bar.Abort(true)
		b.progress.Wait()
	}
}

// set shows how much of total is done.
func (b *bar) set(done, total int64) {
	if b.bar != nil {
		b.bar.SetTotal(max(total, 0), false)
		b.bar.SetCurrent(done)
	}
}

// onTerminal reports whether progress may be drawn on standard error.
func (a *app) onTerminal(cmd *cobra.Command) bool { return !a.quiet && isTerminal(cmd.ErrOrStderr()) }

// newBar draws a bar, if standard error is a terminal.
func (a *app) newBar(cmd *cobra.Command, style mpb.BarFillerBuilder, options ...mpb.BarOption) *bar {
	if !a.onTerminal(cmd) {
		return &bar{}
	}
	p := mpb.New(mpb.WithOutput(terminal(cmd)))
	return &bar{p, p.New(0, style, options...)}
}

// described draws a bar beside a text: starting, and then what the function that was
// last given to say returns.
func (a *app) described(cmd *cobra.Command, style mpb.BarFillerBuilder, starting string,
	more ...decor.Decorator) (show *bar, say func(func() string)) {
	var last atomic.Pointer[func() string]
	say = func(f func() string) { last.Store(&f) }
	say(func() string { return starting })
	text := decor.Any(func(decor.Statistics) string { return (*last.Load())() })
	show = a.newBar(cmd, style, mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(append([]decor.Decorator{text}, more...)...))
	return show, say
}

// progress shows rounds and calls while a council decides.
func (a *app) progress(cmd *cobra.Command, ask *council.Ask) *bar {
	show, say := a.described(cmd, mpb.SpinnerStyle().PositionLeft(), "starting the members",
		decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6}))
	if show.bar != nil {
		ask.Progress = func(now council.Progress) {
			say(func() string {
				if now.Round < 0 {
					return fmt.Sprintf("first answers · %d calls", now.Calls)
				}
				return fmt.Sprintf("round %d of at most %d · %d calls", now.Round+1, now.Rounds, now.Calls)
			})
		}
	}
	return show
}

// eta estimates the time left from how many steps this process has done in the time
// took. It gives no estimate before three are done.
func eta(done, left int, took time.Duration) string {
	if done < 3 {
		return "time left: unknown"
	}
	rest := time.Duration(float64(took) / float64(done) * float64(left))
	return "about " + rest.Round(time.Second).String() + " left"
}

// benchProgress shows how many questions of a run are finished and the estimated time left.
func (a *app) benchProgress(cmd *cobra.Command, outage time.Duration) (show *bar, at func(lab.Progress)) {
	if !a.quiet && !a.onTerminal(cmd) {
		return &bar{}, announceWaits(cmd.ErrOrStderr(), outage)
	}
	start := time.Now()
	show, say := a.described(cmd, mpb.BarStyle(), "starting the members")
	return show, func(now lab.Progress) {
		say(func() string {
			text := fmt.Sprintf("%d of %d questions · %d calls · %s", now.Finished, now.Total, now.Calls,
				eta(now.Now, now.Left(), time.Since(start)))
			if now.Failed > 0 {
				text += fmt.Sprintf(" · %d failed", now.Failed)
			}
			if now.Again {
				text += " · asking the failed ones again"
			}
			for _, w := range now.Waiting {
				text += " · " + waiting(w, outage)
			}
			return text
		})
		show.set(int64(now.Finished), int64(now.Total))
	}
}

// waiting says what calls wait for, since when, and how long they will.
func waiting(w llm.Waiting, outage time.Duration) string {
	return fmt.Sprintf("waiting for %s (%s): %v of at most %v", oneLine(w.Model), oneLine(w.Reason),
		time.Since(w.Since).Round(time.Second), outage)
}

// announceWaits prints a line where a model begins to be waited for, and where that ends.
func announceWaits(out io.Writer, outage time.Duration) func(lab.Progress) {
	before := map[string]time.Time{}
	return func(now lab.Progress) {
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
				fmt.Fprintf(out, "synod: no longer waiting for %s, after %v\n", oneLine(model),
					time.Since(since).Round(time.Second))
			}
		}
	}
}

// download shows how many bytes of a file have been fetched.
func (a *app) download(cmd *cobra.Command, name string) (show *bar, at func(done, total int64)) {
	show = a.newBar(cmd, mpb.BarStyle(), mpb.PrependDecorators(decor.Name(name+" ")),
		mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f")))
	return show, show.set
}

// steps shows how many of total steps are done and the estimated time left.
func (a *app) steps(cmd *cobra.Command, what string) (show *bar, at func(done, total int)) {
	start, first := time.Now(), -1
	show, say := a.described(cmd, mpb.BarStyle(), "starting the model")
	return show, func(done, total int) {
		if first < 0 {
			first = done
		}
		before := first
		say(func() string {
			return fmt.Sprintf("%d of %d %s · %s", done, total, what, eta(done-before, total-done, time.Since(start)))
		})
		show.set(int64(done), int64(total))
	}
}

// writeFile writes a file with the access rights 0644. The file is replaced
// atomically: after a failure it is absent or has its old content.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".synod-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after a successful rename
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return durable.Rename(f.Name(), path)
}

// writeBytes is writeFile with the content as bytes.
func writeBytes(path string, content []byte) error {
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
