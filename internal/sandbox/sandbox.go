// Package sandbox runs a program of the operator on a text of a model, in bubblewrap (bwrap). The program has no
// network, sees /usr, one folder of the operator and nothing else of the machine, and can write to a small folder in
// memory only. Its time, memory, processes and output are limited. It has no environment of the caller.
//
// The text is untrusted, and so is the program once it has read it. What the kernel itself does wrong is not
// prevented: bubblewrap uses its namespaces.
//
//	got, err := sandbox.Run(ctx, sandbox.Command{Argv: []string{"grep", "-q", "^[0-9]*$"}, Input: "42"})
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command is a program with its limits.
type Command struct {
	Argv     []string
	Mount    string        // a folder that it sees as /check; "": none
	Memory   int           // MiB that all its processes use together; 0: 256
	Within   time.Duration // the time that it may take; 0: 5 s
	Question string        // the content of the file /question
	Input    string        // its standard input
}

// Result is how a program ended that ran within its limits.
type Result struct {
	Passed bool   // its exit status was 0
	Line   string // the first line that it wrote, untrusted; without one, its exit status
}

// The limits that nobody sets.
const (
	defaultMemory = 256 // MiB
	defaultWithin = 5 * time.Second
	maxOutput     = 64 << 10
	maxProcesses  = 64
	maxWritten    = 16 << 20 // bytes of a file, and of all files together
	nobody        = 65534
)

// slots bounds how many programs run at once.
var slots = make(chan struct{}, max(runtime.NumCPU(), 2))

// usable has what Usable has found out, by program and folder.
var usable struct {
	sync.Mutex
	known map[[2]string]error
}

// Usable reports why a command cannot be run here: bubblewrap is missing or not allowed, the folder cannot be read, or
// there is no such program; nil if it can. The command itself is not run.
func Usable(c Command) error {
	key := [2]string{c.Argv[0], c.Mount}
	usable.Lock()
	defer usable.Unlock()
	err, ok := usable.known[key]
	if ok {
		return err
	}
	if _, err = exec.LookPath("bwrap"); err != nil {
		err = errors.New("bubblewrap (bwrap) is not installed, and no command runs without it: install the package " +
			"bubblewrap, or remove the command")
	} else {
		err = try(c)
	}
	if usable.known == nil {
		usable.known = map[[2]string]error{}
	}
	usable.known[key] = err
	return err
}

// try looks for the program of a command in the sandbox.
func try(c Command) error {
	found := Command{Argv: []string{"sh", "-c", `command -v "$0" >/dev/null || echo "there is no program $0"`, c.Argv[0]},
		Mount: c.Mount, Within: time.Minute}
	got, err := Run(context.Background(), found)
	switch {
	case err != nil:
		return fmt.Errorf("bubblewrap (bwrap) cannot run here: the program %w", err)
	case !got.Passed || got.Line != "":
		return fmt.Errorf("bubblewrap (bwrap 0.8 or newer) cannot run it here: %s", got.Line)
	}
	return nil
}

// Run runs a program. The error says which limit it has exceeded, as the rest of a sentence that begins with "the
// program".
func Run(ctx context.Context, c Command) (Result, error) {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return Result{}, errors.New("was not run, because the question has ended")
	}
	within, memory := c.Within, c.Memory
	if within == 0 {
		within = defaultWithin
	}
	if memory == 0 {
		memory = defaultMemory
	}
	timed, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("did not end within %v", within))
	defer cancel()
	limited, stop := context.WithCancelCause(timed)
	defer stop(nil)
	out := &output{full: func() { stop(fmt.Errorf("wrote more than %d KiB", maxOutput>>10)) }}
	err := start(limited, c, memory, out, stop)
	if cause := context.Cause(limited); cause != nil {
		if ctx.Err() != nil {
			cause = errors.New("was stopped, because the question has ended")
		}
		return Result{}, cause
	}
	return result(err, out)
}

// start runs a program until it ends or the context does.
func start(ctx context.Context, c Command, memory int, out *output, stop context.CancelCauseFunc) error {
	question, err := textFile(c.Question)
	if err != nil {
		return err
	}
	defer question.Close()
	calls, err := textFile(string(filter()))
	if err != nil {
		return err
	}
	defer calls.Close()
	cmd := exec.CommandContext(ctx, "bwrap", append(arguments(c, memory), c.Argv...)...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.Input), out, out
	cmd.ExtraFiles = []*os.File{question, calls}
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// The first process inside is in the group, and with it all inside end.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if os.Getuid() == 0 { // limits on processes do not hold for root
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	runtime.LockOSThread() // bwrap dies with the thread that starts it
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	watched, done := context.WithCancel(ctx)
	defer done()
	go watch(watched, cmd.Process.Pid, memory, stop)
	return cmd.Wait()
}

// textFile returns an open file with a text, which has no name any more.
func textFile(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "synod-check-*")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(0, 0)
	return f, err
}

// result says how a program ended that was not stopped.
func result(err error, out *output) (Result, error) {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out.text)), "\n")
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return Result{Passed: true, Line: line}, nil
	case !exited:
		return Result{}, fmt.Errorf("could not be run: %w", err)
	case line == "":
		return Result{Line: "the program ended with " + exit.Error()}, nil
	}
	return Result{Line: line}, nil
}

// output keeps what a program writes, up to a limit.
type output struct {
	text []byte
	full func()
}

// Write keeps a part, and stops the program if it is too much.
func (o *output) Write(b []byte) (int, error) {
	if len(o.text)+len(b) > maxOutput {
		o.full()
		return 0, errors.New("too much output")
	}
	o.text = append(o.text, b...)
	return len(b), nil
}
