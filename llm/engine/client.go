package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says what to run.
type Config struct {
	// Exe is the command of the child, "engine" and its flags are appended.
	// Nil is this executable.
	Exe []string

	LibDir    string
	ModelPath string

	Context int // tokens a sequence may have, prompt and reply; 0 is 2048
	Seqs    int // requests decoded at once; 0 is 8
	// Threads of the child, 0 is 1. ggml's threads spin at a barrier after
	// every operation: as many as cores on a busy machine is far slower than one.
	Threads int

	// AnyLibrary accepts another version than LibraryVersion, if it has all
	// symbols and the struct layout this build knows. For a directory that
	// somebody chose by hand.
	AnyLibrary bool
	// Memory bounds the child's private memory in bytes; 0 is 4 GiB and twice
	// the model file; negative is no bound.
	Memory int64
	// Hidden makes hidden states available to requests that ask for them. All
	// requests then pay a few per cent: see BenchmarkHidden.
	Hidden bool
}

// Client talks to a running child. It is safe for concurrent use.
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

	done chan struct{} // closed when the child has been reaped
	died error         // set before done is closed
}

// childMark is set in a child's environment. A program that does not know the
// verb (a test binary, another program with this library in it) runs its own main
// as the "child", and would start children of its own without end.
const childMark = "SYNOD_ENGINE_CHILD"

var errNested = fmt.Errorf("%w: this process was itself started as a model process, but its program does not serve the verb engine; name a command that does in Config.Exe", ErrRequest)

// Start starts a child and waits until its model is loaded. ctx bounds the
// start only; use Close to end the child.
func Start(ctx context.Context, cfg Config) (*Client, error) {
	opts := Options{
		LibDir: cfg.LibDir, ModelPath: cfg.ModelPath, Context: cfg.Context, Seqs: cfg.Seqs,
		Threads: cfg.Threads, AnyLibrary: cfg.AnyLibrary, Memory: cfg.Memory, Hidden: cfg.Hidden,
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
		select { // it may have said why before it went
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
		return nil, errors.New("engine: the child did not say hello")
	}
	said := slices.DeleteFunc(c.tail.last(4), func(line string) bool { return strings.Contains(line, m.Err.Text) })
	if len(said) > 0 {
		err = fmt.Errorf("%w; it said: %s", err, strings.Join(said, " | "))
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

// listen hands replies out until the child's stdout ends, then reaps it.
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
			ch <- m // room for one, and only one is ever sent
		}
	}
	if bad != nil { // a child that talks rubbish is as good as dead
		_ = c.cmd.Process.Kill()
	}
	_ = c.cmd.Wait() // the state says it better
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

// Info says what is running.
func (c *Client) Info() Info { return c.info }

// Pid is the child's process id.
func (c *Client) Pid() int { return c.cmd.Process.Pid }

// Done is closed when the child has ended.
func (c *Client) Done() <-chan struct{} { return c.done }

// closeGrace is how long a child may take to leave after its stdin is closed.
const closeGrace = 2 * time.Second

// Close ends the child and waits for it. Calls under way fail with ErrClosed.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if first {
		_ = c.stdin.Close() // its end of input; a dead child's pipe may be gone
	}
	select {
	case <-c.done:
	case <-time.After(closeGrace):
		c.kill()
	}
	return nil
}

func (c *Client) kill() {
	_ = c.cmd.Process.Kill() // already gone is fine
	<-c.done
	_ = c.stdin.Close()
}
