package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"synod.dev/synod/council"
	"synod.dev/synod/lab"
)

// printable makes untrusted words safe for a terminal: control, format and
// bidirectional characters, tags and escapes are shown, not obeyed (SC-37).
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == unicode.ReplacementChar, unicode.Is(unicode.C, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), r >= 0xFE00 && r <= 0xFE0F:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine is printable on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// writeJSON prints v, indented, with HTML characters escaped as encoding/json
// does by default.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// bar is a progress line on a terminal; without a terminal it does nothing.
type bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
}

// onTerminal reports whether progress may be drawn on standard error.
func (a *app) onTerminal(cmd *cobra.Command) bool { return !a.quiet && isTerminal(cmd.ErrOrStderr()) }

// progress shows rounds and calls while a council works.
func (a *app) progress(cmd *cobra.Command, ask *council.Ask) *bar {
	if !a.onTerminal(cmd) {
		return &bar{}
	}
	var last atomic.Pointer[council.Progress]
	p := mpb.New(mpb.WithOutput(cmd.ErrOrStderr()))
	b := p.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarRemoveOnComplete(), mpb.AppendDecorators(
		decor.Any(func(decor.Statistics) string {
			now := last.Load()
			if now == nil {
				return "waking the members"
			}
			if now.Round < 0 {
				return fmt.Sprintf("first answers · %d calls", now.Calls)
			}
			return fmt.Sprintf("round %d of at most %d · %d calls", now.Round+1, now.Rounds, now.Calls)
		}),
		decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6}),
	))
	ask.Progress = func(now council.Progress) { last.Store(&now) }
	return &bar{p, b}
}

// benchBar shows a run's questions and when it will probably be done.
type benchBar struct {
	bar
	at func(lab.Progress)
}

// eta is honest in that it says nothing before it knows something: it takes the
// pace of what this process has finished.
func eta(p lab.Progress, took time.Duration) string {
	if p.Now < 3 {
		return "time left: not known yet"
	}
	left := time.Duration(float64(took) / float64(p.Now) * float64(p.Left()))
	return "about " + left.Round(time.Second).String() + " left"
}

func (a *app) benchProgress(cmd *cobra.Command) *benchBar {
	if !a.onTerminal(cmd) {
		return &benchBar{}
	}
	start := time.Now()
	var last atomic.Pointer[lab.Progress]
	p := mpb.New(mpb.WithOutput(cmd.ErrOrStderr()))
	b := p.AddBar(0, mpb.BarRemoveOnComplete(), mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
		now := last.Load()
		if now == nil {
			return "waking the members"
		}
		text := fmt.Sprintf("%d of %d questions · %d calls · %s", now.Finished, now.Total, now.Calls, eta(*now, time.Since(start)))
		if now.Failed > 0 {
			text += fmt.Sprintf(" · %d failed", now.Failed)
		}
		return text
	})))
	return &benchBar{bar{p, b}, func(now lab.Progress) {
		last.Store(&now)
		b.SetTotal(int64(now.Total), false)
		b.SetCurrent(int64(now.Finished))
	}}
}

// download shows bytes of a file.
func (a *app) download(cmd *cobra.Command, name string) (show *bar, at func(done, total int64)) {
	if !a.onTerminal(cmd) {
		return &bar{}, func(int64, int64) {}
	}
	p := mpb.New(mpb.WithOutput(cmd.ErrOrStderr()))
	b := p.AddBar(0, mpb.PrependDecorators(decor.Name(name+" ")), mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f")))
	return &bar{p, b}, func(done, total int64) {
		b.SetTotal(max(total, 0), false)
		b.SetCurrent(done)
	}
}

func (b *bar) done() {
	if b.progress != nil {
		b.bar.Abort(true)
		b.progress.Wait()
	}
}

// counter shows a count with words that say makes of it.
func (a *app) counter(cmd *cobra.Command, say func(done, total int) string) (*bar, func(done, total int)) {
	if !a.onTerminal(cmd) {
		return &bar{}, func(int, int) {}
	}
	var words atomic.Pointer[string]
	p := mpb.New(mpb.WithOutput(cmd.ErrOrStderr()))
	b := p.AddBar(0, mpb.BarRemoveOnComplete(), mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
		if w := words.Load(); w != nil {
			return *w
		}
		return "waking the model"
	})))
	return &bar{p, b}, func(done, total int) {
		w := say(done, total)
		words.Store(&w)
		b.SetTotal(int64(total), false)
		b.SetCurrent(int64(done))
	}
}

// steps shows how many of a number of things are done, and how long the rest takes.
func (a *app) steps(cmd *cobra.Command, what string) (*bar, func(done, total int)) {
	start, first := time.Now(), -1
	return a.counter(cmd, func(done, total int) string {
		if first < 0 {
			first = done
		}
		left := "time left: not known yet"
		if n := done - first; n >= 3 {
			left = "about " + (time.Since(start) / time.Duration(n) * time.Duration(total-done)).Round(time.Second).String() + " left"
		}
		return fmt.Sprintf("%d of %d %s · %s", done, cmp.Or(total, 1), what, left)
	})
}
