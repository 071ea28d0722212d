// Package altered builds programs and tests from changed texts of source files, which stay as they are on disk, and
// runs them with limits. Mutation tests (internal/mutants) and seeded bugs (internal/bugs) are built with it.
//
// Its rank is 0: it uses nothing of this module.
package altered

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Overlay writes changed texts, by absolute path of the source file, into a folder, and returns the path of the file
// for the flag -overlay of the go command. A path without a file adds the file to its package.
func Overlay(folder string, text map[string]string) (path string, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, t := range text {
		changed := filepath.Join(folder, fmt.Sprintf("%d.go", len(overlay.Replace)))
		if err := os.WriteFile(changed, []byte(t), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[file] = changed
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, raw, 0o600)
}

// Go runs the go command in a folder. The error has what the command printed.
func Go(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, said)
	}
	return nil
}

// Test builds the tests of the package in a folder with an overlay, and further flags of the go command. It reports
// whether the package has tests, without which no binary is made.
func Test(overlay, dir, output string, flags ...string) (some bool, err error) {
	args := append([]string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", output}, flags...)
	if err := Go(dir, append(args, ".")...); err != nil {
		return false, err
	}
	_, err = os.Stat(output)
	return err == nil, nil
}

// ErrEndless is the error of a process that was killed at one of its limits of time.
var ErrEndless = errors.New("it does not end")

// Process is a program to run. It gets the environment of this process and Env.
type Process struct {
	Path string
	Args []string
	Dir  string
	Env  []string
	// CPU limits the processor time; 0: no limit. A process that was changed may loop for ever, and the machine may
	// be busy, so this limit counts and not the time on the clock.
	CPU    time.Duration
	Wall   time.Duration // the longest time on the clock
	Memory int           // the most addresses, in KiB
}

// Result is how a process ended.
type Result struct {
	Passed bool // it exited with status 0
	Output []byte
	CPU    time.Duration // of user and system
	Wall   time.Duration
}

// Run runs the process and waits for it and all its children. The error is ErrEndless at a limit of time, and nil for
// any exit status.
func (p *Process) Run() (r Result, err error) {
	seconds := "unlimited"
	if p.CPU > 0 {
		seconds = strconv.Itoa(int(p.CPU/time.Second) + 1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.Wall)
	defer cancel()
	// The shell sets the limits for the process and its children.
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c",
		`ulimit -t "$1" && ulimit -v "$2" && shift 2 && exec "$@"`, "sh", seconds, strconv.Itoa(p.Memory), p.Path},
		p.Args...)...)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), p.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	begun := time.Now()
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return r, err
	}
	r = Result{Passed: err == nil, Output: said.Bytes(), Wall: time.Since(begun),
		CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && (ctx.Err() != nil ||
		status.Signaled() && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL)) {
		return r, ErrEndless
	}
	return r, nil
}

// Decode returns the JSON values at the begin of what a process has written. A process that has failed may have
// written other text after them.
func Decode[T any](output []byte) (all []T) {
	in := json.NewDecoder(bytes.NewReader(output))
	for {
		var one T
		if in.Decode(&one) != nil {
			return all
		}
		all = append(all, one)
	}
}
