package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config has the settings of a model process.
type Config struct {
	// Exe is the command of the child, to which "engine" and its flags are appended.
	// Nil means this executable.
	Exe []string

	LibDir    string
	ModelPath string

	Context int // limit of prompt and reply in tokens, 64 to 1<<20; 0 means 2048
	Seqs    int // requests decoded at once, 1 to 64; 0 means 8
	// Threads of the child, 1 to 256; 0 means 1. ggml's threads spin at a barrier after
	// every operation: on a busy machine one thread is much faster than one per core.
	Threads int

	// AnyLibrary accepts another version than LibraryVersion, if it has all
	// symbols and the struct layout that this build knows.
	AnyLibrary bool
	// Hidden makes hidden states available to requests that ask for them. All
	// requests are then a few per cent slower; see BenchmarkHidden.
	Hidden bool
}

// Client sends requests to a running child. It is safe for concurrent use.
type Client struct {
	info Info
	cmd  *exec.Cmd
	tail *tail

	writing sync.Mutex
	stdin   io.WriteCloser

	mu      sync.Mutex
	next    uint64
	pending map[uint64]chan fromChild
	closed  bool

	done chan struct{} // closed when the child has ended
	died error         // set before done is closed
}

// childMark is set in the environment of a child. A program without the command
// engine (a test binary, or another program that uses this package) would run its
// own main as the child, and would start children without end.
const childMark = "SYNOD_ENGINE_CHILD"

var errNested = fmt.Errorf("%w: this process was started as a model process, but its program has no command engine; "+
	"set Config.Exe to a program that has", ErrRequest)

// Start starts a child and waits until its model is loaded. ctx limits the start
// only; Close ends the child. Errors are ErrModel, ErrLibrary, ErrRequest, a DiedError
// or that of ctx.
func Start(ctx context.Context, cfg Config) (*Client, error) {
	opts := Options{
		LibDir: cfg.LibDir, ModelPath: cfg.ModelPath, Context: cfg.Context, Seqs: cfg.Seqs,
		Threads: cfg.Threads, AnyLibrary: cfg.AnyLibrary, Hidden: cfg.Hidden,
	}.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
	}
	if os.Getenv(childMark) != "" {
		return nil, errNested
	}
	exe := cfg.Exe
	if len(exe) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		exe = []string{self}
	}
	args := append(append(append([]string{}, exe[1:]...), "engine"), opts.args()...)
	c := &Client{
		cmd: exec.Command(exe[0], args...), tail: &tail{}, next: 1,
		pending: map[uint64]chan fromChild{}, done: make(chan struct{}),
	}
	hello := make(chan fromChild, 1)
	c.pending[0] = hello
	if err := c.spawn(cfg.LibDir); err != nil {
		return nil, err
	}
	select {
	case m := <-hello:
		return c.greet(m)
	case <-c.done:
		select { // it may have sent an error before it ended
		case m := <-hello:
			return c.greet(m)
		default:
			return nil, c.died
		}
	case <-ctx.Done():
		c.kill()
		return nil, fmt.Errorf("engine: starting: %w", ctx.Err())
	}
}

func (c *Client) greet(m fromChild) (*Client, error) {
	if m.Err == nil && m.Hello != nil {
		c.info = *m.Hello
		return c, nil
	}
	c.kill()
	err := m.Err.err()
	if err == nil {
		return nil, errors.New("engine: the child did not send its first message")
	}
	lines := slices.DeleteFunc(c.tail.last(4), func(line string) bool { return strings.Contains(line, m.Err.Text) })
	if len(lines) > 0 {
		err = fmt.Errorf("%w; its last output: %s", err, strings.Join(lines, " | "))
	}
	return nil, err
}

func (c *Client) spawn(lib string) error {
	c.cmd.Env = append(childEnv(lib), childMark+"=1")
	c.cmd.Stderr = c.tail
	c.cmd.WaitDelay = time.Second
	detach(c.cmd)
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	c.stdin = in
	go c.listen(out)
	return nil
}

// listen delivers replies until the child's stdout ends, then waits for the child.
func (c *Client) listen(out io.Reader) {
	r := bufio.NewReaderSize(out, 64<<10)
	var bad error
	for {
		var m fromChild
		if err := readFrame(r, &m); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				bad = err
			}
			break
		}
		c.mu.Lock()
		ch := c.pending[m.ID]
		delete(c.pending, m.ID)
		c.mu.Unlock()
		if ch != nil {
			ch <- m // does not block: it has room for the only reply
		}
	}
	if bad != nil { // a child that sends an unreadable message cannot be used any more
		_ = c.cmd.Process.Kill()
	}
	_ = c.cmd.Wait() // ProcessState has more details
	exit := "unknown"
	if c.cmd.ProcessState != nil {
		exit = c.cmd.ProcessState.String()
	}
	if bad != nil {
		exit += ", after unreadable output: " + bad.Error()
	}
	c.died = &DiedError{Exit: exit, Stderr: c.tail.last(6)}
	close(c.done)
}

// Info describes the model and the library that are running.
func (c *Client) Info() Info { return c.info }

// Pid returns the process id of the child.
func (c *Client) Pid() int { return c.cmd.Process.Pid }

// Done returns a channel that is closed when the child has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// closeGrace is the time that a child has to end after its stdin is closed.
const closeGrace = 2 * time.Second

// Close ends the child and waits for it. Calls in progress return ErrClosed.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if first {
		_ = c.stdin.Close() // fails if the child has already ended
	}
	select {
	case <-c.done:
	case <-time.After(closeGrace):
		c.kill()
	}
	return nil
}

func (c *Client) kill() {
	_ = c.cmd.Process.Kill() // fails if the child has already ended
	<-c.done
	_ = c.stdin.Close()
}

// Generate sends a request and waits for the text. If ctx ends first, the child drops
// the request. Errors are ErrRequest for an invalid request, ErrClosed, a DiedError or
// that of ctx.
func (c *Client) Generate(ctx context.Context, req Request) (Result, error) {
	m, err := c.call(ctx, toChild{Generate: &req})
	if err != nil {
		return Result{}, err
	}
	if m.Result == nil {
		return Result{}, fmt.Errorf("engine: the child sent no result")
	}
	if req.Capture != nil && !m.Result.States.whole() {
		return Result{}, fmt.Errorf("engine: the child sent no hidden states")
	}
	return *m.Result, nil
}

// Weigh returns the log-probability of each continuation after prefix, in their order,
// and if want is not nil their hidden states. Both are plain text, without the chat
// template. A continuation should begin with the space or line break that separates it
// from the prefix. The prefix is computed once. Errors are those of Generate.
func (c *Client) Weigh(
	ctx context.Context, prefix string, continuations []string, want *Capture,
) ([]LogProb, []*States, Usage, error) {
	n := len(continuations)
	if n == 0 {
		return nil, nil, Usage{}, fmt.Errorf("engine: %w: no continuations", ErrRequest)
	}
	m, err := c.call(ctx, toChild{Prefix: prefix, Continuations: continuations, Capture: want})
	if err != nil {
		return nil, nil, Usage{}, err
	}
	if len(m.Scores) != n || m.Usage == nil {
		return nil, nil, Usage{}, fmt.Errorf("engine: the child sent %d scores for %d continuations", len(m.Scores), n)
	}
	damaged := func(s *States) bool { return !s.whole() }
	if want != nil && (len(m.States) != n || slices.ContainsFunc(m.States, damaged)) {
		return nil, nil, Usage{}, fmt.Errorf("engine: the child sent %d hidden states for %d continuations",
			len(m.States), n)
	}
	return m.Scores, m.States, *m.Usage, nil
}

func (c *Client) call(ctx context.Context, msg toChild) (fromChild, error) {
	if err := ctx.Err(); err != nil {
		return fromChild{}, fmt.Errorf("engine: %w", err)
	}
	ch := make(chan fromChild, 1)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fromChild{}, ErrClosed
	}
	msg.ID = c.next
	c.next++
	c.pending[msg.ID] = ch
	c.mu.Unlock()

	if err := c.send(msg); err != nil {
		c.forget(msg.ID)
		if pipe := (*fs.PathError)(nil); errors.As(err, &pipe) {
			c.kill() // the child does not read any more; how it ended is known after the wait
			return fromChild{}, c.gone()
		}
		return fromChild{}, err
	}
	select {
	case m := <-ch:
		return m, m.Err.err()
	case <-c.done:
		select {
		case m := <-ch: // it answered before it ended
			return m, m.Err.err()
		default:
			c.forget(msg.ID)
			return fromChild{}, c.gone()
		}
	case <-ctx.Done():
		c.forget(msg.ID)
		_ = c.send(toChild{ID: msg.ID, Cancel: true}) // fails only if the child has ended
		return fromChild{}, fmt.Errorf("engine: %w", ctx.Err())
	}
}

func (c *Client) send(msg toChild) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := writeFrame(c.stdin, msg); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

func (c *Client) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// gone returns the reason why there is no child any more.
func (c *Client) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	return c.died
}
