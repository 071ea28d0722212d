package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// calls counts what is written.
type calls struct {
	mu  sync.Mutex
	n   int
	all bytes.Buffer
}

func (c *calls) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.all.Write(b)
}

func (c *calls) now() (int, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.all.String()
}

// Lines of requests share a system call and come after a moment; a warning comes at once, after what was before it.
func TestLateLog(t *testing.T) {
	var out calls
	log, flush := (&flags{}).lateLogger(&out)
	for range 10 {
		log.Info("request")
	}
	if n, _ := out.now(); n != 0 {
		t.Errorf("%d system calls for ten lines", n)
	}
	log.With("a", 1).Warn("bad")
	if n, text := out.now(); n != 1 || strings.Count(text, "\n") != 11 || !strings.HasSuffix(text, "msg=bad a=1\n") {
		t.Errorf("%d system calls: %s", n, text)
	}
	log.Info("alone")
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, text := out.now(); strings.Contains(text, "msg=alone") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a line without others is never written")
		}
	}
	log.Info(strings.Repeat("x", writeFull))
	if n, _ := out.now(); n != 3 {
		t.Errorf("%d system calls: a long text waits", n)
	}
	log.Info("last")
	flush()
	if _, text := out.now(); !strings.HasSuffix(text, "msg=last\n") {
		t.Error("the last line is lost")
	}
}
