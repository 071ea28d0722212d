package engine

import (
	"bytes"
	"errors"
	"strings"
	"sync"
)

var (
	// ErrEngineDied means that the child process ended; see [DiedError].
	ErrEngineDied = errors.New("the model process died")
	// ErrClosed means that the Client was closed.
	ErrClosed = errors.New("engine: closed")
	// ErrRequest means that the request is invalid; sending it again will not help.
	ErrRequest = errors.New("bad request")
	// ErrModel means that the model file cannot be used.
	ErrModel = errors.New("unusable model file")
	// ErrLibrary means that llama.cpp's libraries cannot be used.
	ErrLibrary = errors.New("unusable library")
)

// DiedError describes how the child ended. It unwraps to ErrEngineDied.
type DiedError struct {
	Exit   string   // such as "signal: killed" or "exit status 2"
	Stderr []string // the last lines of its stderr
}

func (e *DiedError) Error() string {
	text := "engine: " + ErrEngineDied.Error() + " (" + e.Exit + ")"
	if len(e.Stderr) > 0 {
		text += "; its last output: " + strings.Join(e.Stderr, " | ")
	}
	return text
}

// Unwrap returns ErrEngineDied.
func (e *DiedError) Unwrap() error { return ErrEngineDied }

// tail keeps the last lines written to it.
type tail struct {
	mu    sync.Mutex
	lines []string
	part  []byte
}

const (
	tailLines = 12
	tailWidth = 300
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.part = append(t.part, p...)
	for {
		i := bytes.IndexByte(t.part, '\n')
		if i < 0 && len(t.part) < 4*tailWidth {
			return len(p), nil
		}
		if i < 0 {
			i = len(t.part) - 1
		}
		t.keep(string(bytes.TrimSpace(t.part[:i+1])))
		t.part = append(t.part[:0], t.part[i+1:]...)
	}
}

func (t *tail) keep(line string) {
	if line == "" {
		return
	}
	if len(line) > tailWidth {
		line = strings.ToValidUTF8(line[:tailWidth], "") + "…"
	}
	t.lines = append(t.lines, line)
	if len(t.lines) > tailLines {
		t.lines = t.lines[1:]
	}
}

// last returns at most n of the last lines.
func (t *tail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if rest := strings.TrimSpace(string(t.part)); rest != "" {
		lines = append(lines[:len(lines):len(lines)], rest)
	}
	return append([]string(nil), lines[max(0, len(lines)-n):]...)
}
