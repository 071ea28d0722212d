package main

import (
	"fmt"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"synod.dev/synod/council"
)

// bar is a progress line on a terminal; without a terminal it does nothing.
type bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
}

func (a *app) onTerminal() bool { return !a.quiet && isTerminal(os.Stderr) }

// progress shows rounds and calls while a council works.
func (a *app) progress(cmd *cobra.Command, ask *council.Ask) *bar {
	if !a.onTerminal() {
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

// download shows bytes of a file.
func (a *app) download(cmd *cobra.Command, name string) (show *bar, at func(done, total int64)) {
	if !a.onTerminal() {
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
