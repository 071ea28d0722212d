package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a program under measurement.
type process struct {
	cmd *exec.Cmd
	log string
	url string
}

// launch starts a program with its output in a file.
func launch(ctx context.Context, log string, env []string, program string, args ...string) (*process, error) {
	f, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = f, f, append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd: cmd, log: log}, nil
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)

// start starts a program and waits until it says where it listens.
func start(ctx context.Context, log string, env []string, program string, args ...string) (*process, error) {
	p, err := launch(ctx, log, env, program, args...)
	if err != nil {
		return nil, err
	}
	for range 200 {
		b, err := os.ReadFile(log)
		if m := listening.FindSubmatch(b); err == nil && m != nil {
			p.url = string(m[1])
			return p, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.end()
	b, err := os.ReadFile(log)
	return nil, errors.Join(fmt.Errorf("%s does not listen: %s", program, b), err)
}

// answers waits until a URL answers with 200.
func (p *process) answers(ctx context.Context, url string, longest time.Duration) error {
	for begun := time.Now(); time.Since(begun) < longest; time.Sleep(500 * time.Millisecond) {
		b, err := get(ctx, url)
		if err == nil && len(b) > 0 {
			return nil
		}
	}
	b, err := os.ReadFile(p.log)
	return errors.Join(fmt.Errorf("%s does not answer: %s", p.cmd.Path, b), err)
}

func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	t := time.AfterFunc(10*time.Second, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Wait() // its status says nothing about the measurement
	t.Stop()
}

// tick is the unit of times in /proc: Linux has it at 100 a second on all machines that Go runs on.
const tick = 10 * time.Millisecond

// cpu is the processor time of the process, user's and kernel's.
func (p *process) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("/proc has another form")
	}
	user, err := strconv.Atoi(fields[11])
	kernel, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+kernel) * tick, errors.Join(err, err2)
}

// memory is the resident memory now and at most, in MiB.
func (p *process) memory() (now, most float64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
		switch name {
		case "VmRSS":
			now = kb / 1024
		case "VmHWM":
			most = kb / 1024
		}
	}
	return now, most, nil
}

var metrics = regexp.MustCompile(`(?m)^metrics on (http://[^/]+)/`)

// admin is where a gateway has its metrics and profiles.
func (p *process) admin() (string, error) {
	b, err := os.ReadFile(p.log)
	if m := metrics.FindSubmatch(b); err == nil && m != nil {
		return string(m[1]), nil
	}
	return "", errors.Join(errors.New("the gateway has no metrics"), err)
}

// said returns the first line of the log with a word.
func (p *process) said(word string) (string, error) {
	b, err := os.ReadFile(p.log)
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, word) {
			return line, nil
		}
	}
	return "", err
}

// profile takes a profile of the next seconds of a gateway with metrics.
func (p *process) profile(ctx context.Context, into string) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		at, err := p.admin()
		var b []byte
		if err == nil {
			b, err = get(ctx, at+"/debug/pprof/profile?seconds=3")
		}
		if err == nil {
			err = os.WriteFile(filepath.Clean(into), b, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "overhead: profile:", err)
		}
	}()
	return func() { <-done }
}

func get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	return io.ReadAll(res.Body)
}

// output runs a program and returns what it prints.
func output(ctx context.Context, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	b, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, b)
	}
	return string(b), nil
}

var secret = regexp.MustCompile(`sk-synod-\S+`)

func secretIn(text string) string { return secret.FindString(text) }

func lookup(program string) (string, error) { return exec.LookPath(program) }

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
