package main

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// lateWriter collects what is written, because a system call for each line of the log costs as much processor time as
// the line itself. It writes what it has after writeLate at most, or as soon as that is longer than writeFull bytes.
type lateWriter struct {
	to io.Writer

	mu    sync.Mutex
	text  []byte
	timer *time.Timer // nil: nothing waits
}

const (
	writeLate = 100 * time.Millisecond
	writeFull = 32 << 10
)

// Write implements io.Writer.
func (w *lateWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	switch {
	case len(w.text) > writeFull:
		w.put()
	case w.timer == nil:
		w.timer = time.AfterFunc(writeLate, w.flush)
	}
	return len(b), nil
}

// flush writes what was collected.
func (w *lateWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put()
}

func (w *lateWriter) put() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if len(w.text) > 0 {
		_, _ = w.to.Write(w.text) // there is no other place to say that the log cannot be written
		w.text = w.text[:0]
	}
}

// promptly writes warnings and errors at once, with what was collected before them.
type promptly struct {
	slog.Handler
	out *lateWriter
}

// Handle implements slog.Handler.
func (p promptly) Handle(ctx context.Context, r slog.Record) error {
	err := p.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		p.out.flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (p promptly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptly{p.Handler.WithAttrs(attrs), p.out}
}

// WithGroup implements slog.Handler.
func (p promptly) WithGroup(name string) slog.Handler {
	return promptly{p.Handler.WithGroup(name), p.out}
}

// lateLogger writes the log late, except for warnings and errors; flush writes the rest at the end.
func (f *flags) lateLogger(w io.Writer) (log *slog.Logger, flush func()) {
	out := &lateWriter{to: w}
	return slog.New(promptly{f.logger(out).Handler(), out}), out.flush
}
