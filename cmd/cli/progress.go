package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench"
	"synod.dev/synod/council"
	"synod.dev/synod/llm"
)

// bar is a line on a terminal that is drawn again ten times a second; the zero value does nothing.
type bar struct {
	to      io.Writer
	columns func() int
	spins   bool // it turns, and shows the time since it began, instead of a share
	began   time.Time

	mu          sync.Mutex
	text        func() string
	part, total int64

	stop, stopped chan struct{}
}

// onTerminal reports whether progress may be drawn on standard error.
func (a *app) onTerminal(cmd *cobra.Command) bool { return !a.quiet && isTerminal(cmd.ErrOrStderr()) }

// newBar draws a bar beside a text, if standard error is a terminal.
func (a *app) newBar(cmd *cobra.Command, spins bool, text string) *bar {
	if !a.onTerminal(cmd) {
		return &bar{}
	}
	to := cmd.ErrOrStderr()
	if s, ok := to.(*screen); ok {
		to = s.To // a bar is drawn with escapes
	}
	b := &bar{to: to, columns: func() int { return columns(to) }, spins: spins, began: time.Now(),
		text: func() string { return text }, stop: make(chan struct{}), stopped: make(chan struct{})}
	go b.draw()
	return b
}

// draw draws the bar until it is done, and then removes it.
func (b *bar) draw() {
	defer close(b.stopped)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		fmt.Fprint(b.to, "\r"+b.line(time.Since(b.began))+"\x1b[K")
		select {
		case <-tick.C:
		case <-b.stop:
			fmt.Fprint(b.to, "\r\x1b[K")
			return
		}
	}
}

// line returns what the bar shows, no wider than the terminal.
func (b *bar) line(took time.Duration) string {
	b.mu.Lock()
	text, part, total := b.text, b.part, b.total
	b.mu.Unlock()
	line := oneLine(text())
	if b.spins {
		line = fmt.Sprintf("%c %s %v", `|/-\`[took/(100*time.Millisecond)%4], line, took.Truncate(time.Second))
	} else if total > 0 {
		const width = 20
		full := int(width * min(max(part, 0), total) / total)
		line = fmt.Sprintf("[%s%s] %s", strings.Repeat("=", full), strings.Repeat("-", width-full), line)
	}
	room := b.columns() - 1 // a full line would continue on the next one
	for i, r := range line {
		if room--; r >= 0x1100 {
			room-- // from here on, many characters are two columns wide
		}
		if room < 0 {
			return line[:i]
		}
	}
	return line
}

func (b *bar) done() {
	if b.stop != nil {
		close(b.stop)
		<-b.stopped
	}
}

// set shows how much of total is done.
func (b *bar) set(part, total int64) {
	b.mu.Lock()
	b.part, b.total = part, total
	b.mu.Unlock()
}

// say shows what text returns.
func (b *bar) say(text func() string) {
	b.mu.Lock()
	b.text = text
	b.mu.Unlock()
}

// progress shows rounds and calls while a council decides.
func (a *app) progress(cmd *cobra.Command, ask *council.Ask) *bar {
	show := a.newBar(cmd, true, "starting the members")
	if show.to != nil {
		ask.Progress = func(now council.Progress) {
			show.say(func() string {
				if now.Round < 0 {
					return fmt.Sprintf("first answers · %d calls%s", now.Calls, awaited(now.Awaited))
				}
				return fmt.Sprintf("round %d of at most %d · %d calls%s", now.Round+1, now.Rounds, now.Calls,
					awaited(now.Awaited))
			})
		}
	}
	return show
}

// awaited says whom a council waits for: names as long as they are few.
func awaited(ids []string) string {
	const most = 3
	switch {
	case len(ids) == 0:
		return ""
	case len(ids) > most:
		return fmt.Sprintf(" · waiting for %d members", len(ids))
	}
	return " · waiting for " + strings.Join(ids, ", ")
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

// plainEvery is the time between lines of progress where standard error is no terminal.
const plainEvery = 30 * time.Second

// benchProgress shows how many questions of a run are finished and the estimated time left: in a bar on a terminal, and
// in a line from time to time elsewhere.
func (a *app) benchProgress(cmd *cobra.Command, outage time.Duration) (show *bar, at func(bench.Progress)) {
	start := time.Now()
	switch {
	case a.quiet:
		return &bar{}, func(bench.Progress) {}
	case !a.onTerminal(cmd):
		waits := announceWaits(cmd.ErrOrStderr(), outage)
		line := plainly(cmd.ErrOrStderr(), plainEvery, start)
		return &bar{}, func(now bench.Progress) {
			waits(now)
			line(time.Now(), func() string { return questionsOf(now, time.Since(start)) })
		}
	}
	show = a.newBar(cmd, false, "starting the members")
	return show, func(now bench.Progress) {
		show.say(func() string {
			text := questionsOf(now, time.Since(start))
			for _, w := range now.Waiting {
				text += " · " + waiting(w, outage)
			}
			return text
		})
		show.set(int64(now.Finished), int64(now.Total))
	}
}

// questionsOf says how many questions are finished after a time.
func questionsOf(now bench.Progress, took time.Duration) string {
	text := fmt.Sprintf("%d of %d questions · %d calls · %s", now.Finished, now.Total, now.Calls,
		eta(now.Now, now.Left(), took))
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
			fmt.Fprintln(out, "synod:", oneLine(text()))
		}
	}
}

// waiting says what calls wait for, since when, and how long they will.
func waiting(w llm.Waiting, outage time.Duration) string {
	return fmt.Sprintf("waiting for %s (%s): %v of at most %v", oneLine(w.Model), oneLine(w.Reason),
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
				fmt.Fprintf(out, "synod: no longer waiting for %s, after %v\n", oneLine(model),
					time.Since(since).Round(time.Second))
			}
		}
	}
}

// download shows how many bytes of a file have been fetched.
func (a *app) download(cmd *cobra.Command, name string) (show *bar, at func(done, total int64)) {
	show = a.newBar(cmd, false, name)
	return show, func(done, total int64) {
		show.say(func() string {
			if total <= 0 {
				return fmt.Sprintf("%s %.1f MB", name, float64(done)/1e6)
			}
			return fmt.Sprintf("%s %.1f of %.1f MB", name, float64(done)/1e6, float64(total)/1e6)
		})
		show.set(done, total)
	}
}

// steps shows how many of total steps are done and the estimated time left.
func (a *app) steps(cmd *cobra.Command, what string) (show *bar, at func(done, total int)) {
	start, first := time.Now(), -1
	show = a.newBar(cmd, false, "starting the model")
	return show, func(done, total int) {
		if first < 0 {
			first = done
		}
		before := first
		show.say(func() string {
			return fmt.Sprintf("%d of %d %s · %s", done, total, what, eta(done-before, total-done, time.Since(start)))
		})
		show.set(int64(done), int64(total))
	}
}
