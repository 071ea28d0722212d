package app

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// Bar is a line on a terminal that is drawn again ten times a second; the zero value does nothing.
type Bar struct {
	To      io.Writer
	columns func() int
	spins   bool // it turns, and shows the time since it began, instead of a share
	began   time.Time

	mu          sync.Mutex
	text        func() string
	part, total int64

	stop, stopped chan struct{}
}

// OnTerminal reports whether progress may be drawn on standard error.
func (a *App) OnTerminal(cmd *cobra.Command) bool { return !a.Quiet && IsTerminal(cmd.ErrOrStderr()) }

// NewBar draws a bar beside a text, if standard error is a terminal.
func (a *App) NewBar(cmd *cobra.Command, spins bool, text string) *Bar {
	if !a.OnTerminal(cmd) {
		return &Bar{}
	}
	to := cmd.ErrOrStderr()
	if s, ok := to.(*Screen); ok {
		to = s.To // a bar is drawn with escapes
	}
	b := &Bar{To: to, columns: func() int { return Columns(to) }, spins: spins, began: time.Now(),
		text: func() string { return text }, stop: make(chan struct{}), stopped: make(chan struct{})}
	go b.draw()
	return b
}

// draw draws the bar until it is done, and then removes it.
func (b *Bar) draw() {
	defer close(b.stopped)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		fmt.Fprint(b.To, "\r"+b.line(time.Since(b.began))+"\x1b[K")
		select {
		case <-tick.C:
		case <-b.stop:
			fmt.Fprint(b.To, "\r\x1b[K")
			return
		}
	}
}

// line returns what the bar shows, no wider than the terminal.
func (b *Bar) line(took time.Duration) string {
	b.mu.Lock()
	text, part, total := b.text, b.part, b.total
	b.mu.Unlock()
	line := OneLine(text())
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

// Done removes the bar.
func (b *Bar) Done() {
	if b.stop != nil {
		close(b.stop)
		<-b.stopped
	}
}

// Set shows how much of total is done.
func (b *Bar) Set(part, total int64) {
	b.mu.Lock()
	b.part, b.total = part, total
	b.mu.Unlock()
}

// Say shows what text returns.
func (b *Bar) Say(text func() string) {
	b.mu.Lock()
	b.text = text
	b.mu.Unlock()
}

// Eta estimates the time left from how many steps this process has done in the time
// took. It gives no estimate before three are done.
func Eta(done, left int, took time.Duration) string {
	if done < 3 {
		return "time left: unknown"
	}
	rest := time.Duration(float64(took) / float64(done) * float64(left))
	return "about " + rest.Round(time.Second).String() + " left"
}

// Download shows how many bytes of a file have been fetched.
func (a *App) Download(cmd *cobra.Command, name string) (show *Bar, at func(done, total int64)) {
	show = a.NewBar(cmd, false, name)
	return show, func(done, total int64) {
		show.Say(func() string {
			if total <= 0 {
				return fmt.Sprintf("%s %.1f MB", name, float64(done)/1e6)
			}
			return fmt.Sprintf("%s %.1f of %.1f MB", name, float64(done)/1e6, float64(total)/1e6)
		})
		show.Set(done, total)
	}
}

// Steps shows how many of total steps are done and the estimated time left.
func (a *App) Steps(cmd *cobra.Command, what string) (show *Bar, at func(done, total int)) {
	start, first := time.Now(), -1
	show = a.NewBar(cmd, false, "starting the model")
	return show, func(done, total int) {
		if first < 0 {
			first = done
		}
		before := first
		show.Say(func() string {
			return fmt.Sprintf("%d of %d %s · %s", done, total, what, Eta(done-before, total-done, time.Since(start)))
		})
		show.Set(int64(done), int64(total))
	}
}
