//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"synod.dev/synod/llm/engine/internal/batch"
	"synod.dev/synod/llm/engine/internal/llama"
)

// haveEngine reports whether this build can run a model.
const haveEngine = true

// Serve runs the child: it loads the model, sends a first message and answers requests
// until stdin ends or ctx ends. It changes descriptor 1, the priority and the limits of
// its process, so it must run in a process of its own.
func Serve(ctx context.Context, opts Options, stdin io.Reader, stdout io.Writer) error {
	runtime.GOMAXPROCS(2) // one for the model, one for the pipes
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if f, ok := stdout.(*os.File); ok && f.Fd() == 1 {
		own, err := claimStdout()
		if err != nil {
			return fmt.Errorf("engine: %w", err)
		}
		defer own.Close()
		stdout = own
	}
	opts = opts.withDefaults()
	commands := make(chan toChild, 256)
	go listenTo(stdin, commands) // before loading, to notice if the parent ends meanwhile
	s, err := load(opts)
	if err != nil {
		return errors.Join(err, writeFrame(stdout, fromChild{Err: toWire(err)}))
	}
	defer s.session.Close()
	s.out = stdout
	info := s.info()
	if err := writeFrame(stdout, fromChild{Hello: &info}); err != nil {
		return err
	}
	return s.loop(ctx, commands)
}

// listenTo reads commands until stdin ends. Then it ends the process after a short
// time, because the loop may be in a long computation that is not needed any more.
func listenTo(stdin io.Reader, commands chan<- toChild) {
	r := bufio.NewReaderSize(stdin, 64<<10)
	for {
		var m toChild
		if err := readFrame(r, &m); err != nil {
			close(commands)
			time.AfterFunc(300*time.Millisecond, func() { os.Exit(0) })
			return
		}
		commands <- m
	}
}

// server is the state of the child. Only one goroutine uses it.
type server struct {
	opts    Options
	lib     *llama.Library
	session *llama.Session
	chat    chat
	runner  *batch.Runner
	prompts map[uint64]int // prompt tokens by job
	wanted  map[uint64]Capture
	out     io.Writer
	failed  error // set if writing failed because the parent has ended
}

func load(opts Options) (*server, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	lower(memoryLimit(opts.ModelPath))
	lib, err := llama.Open(opts.LibDir)
	if err != nil {
		return nil, fmt.Errorf("engine: %w: %w", ErrLibrary, err)
	}
	if err := supported(lib.Version, opts); err != nil {
		return nil, err
	}
	lib.LoadBackends()
	session, err := lib.Load(opts.ModelPath, llama.SessionConfig{
		Cells: opts.cells(), Seqs: opts.Seqs + branches, Batch: batchTokens, Threads: opts.Threads, Hidden: opts.Hidden,
	})
	if err != nil {
		return nil, fmt.Errorf("engine: %w: %w", ErrModel, err)
	}
	s := &server{opts: opts, lib: lib, session: session, chat: newChat(session), prompts: map[uint64]int{},
		wanted: map[uint64]Capture{}}
	s.runner = batch.New(session, batch.Config{
		Seqs: opts.Seqs, Branches: branches, Context: opts.Context, Cells: opts.cells(),
		Batch: batchTokens, Chunk: chunkTokens,
	}, s.report)
	return s, nil
}

// memoryLimit returns the limit of the child's private memory in bytes.
func memoryLimit(model string) int64 {
	limit := int64(4 << 30)
	if st, err := os.Stat(model); err == nil {
		limit += 2 * st.Size()
	}
	return limit
}

func (s *server) info() Info {
	return Info{
		Description: s.session.Description(), Name: s.session.Meta("general.name"),
		Architecture: s.session.Meta("general.architecture"), Params: s.session.Params(), Bytes: s.session.Size(),
		ContextTrained: s.session.ContextTrained(), Vocabulary: s.session.Vocab(),
		Layers: s.session.Layers(), Width: s.session.Width(), Hidden: s.opts.Hidden && s.session.Ordered(),
		Template: s.chat.template, TemplateSHA256: s.chat.sha256(), Rendering: s.chat.rendering,
		Library: s.lib.Version, Ggml: s.lib.Ggml, CPU: s.lib.CPUVariant(), System: s.lib.SystemInfo(),
		Threads: s.opts.Threads, Seqs: s.opts.Seqs, Context: s.opts.Context, Cells: s.opts.cells(), Batch: batchTokens,
	}
}

// An idle engine starts a wave of requests when no request has arrived for quiet, or
// after maxWait. The seats of a council ask within microseconds of one another, and a
// wave that is complete before it starts is decoded in a repeatable way.
const (
	quiet   = 3 * time.Millisecond
	maxWait = 20 * time.Millisecond
)

func (s *server) loop(ctx context.Context, commands <-chan toChild) error {
	for s.failed == nil {
		wave, open := s.gather(ctx, commands)
		if !open {
			return ctx.Err()
		}
		s.submit(wave)
		if s.runner.Busy() {
			s.runner.Step()
		}
	}
	return s.failed
}

// gather returns the commands that have arrived. If the engine is idle it waits for some.
// open is false when there will be no more.
func (s *server) gather(ctx context.Context, commands <-chan toChild) (wave []toChild, open bool) {
	var deadline time.Time // of the wave, once it has a command
	for {
		var m toChild
		switch {
		case s.runner.Busy():
			select {
			case m, open = <-commands:
			default:
				return wave, ctx.Err() == nil
			}
		case wave == nil:
			select {
			case m, open = <-commands:
			case <-ctx.Done():
				return nil, false
			}
			deadline = time.Now().Add(maxWait)
		case time.Now().Before(deadline):
			select {
			case m, open = <-commands:
			case <-time.After(quiet):
				return wave, true
			}
		default:
			return wave, true
		}
		if !open {
			return nil, false
		}
		wave = append(wave, m)
	}
}
