package llmtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Fast is a server for measuring a council and not the server: it reads no more
// of a request than it must, and every reply leaves its latency after the request
// came, to some ten microseconds. It speaks just enough HTTP/1.1 for a client that
// keeps connections open, and misbehaves in no way. It is a process of its own, as
// servers are: one that shares the council's scheduler also shares its queues, and
// what it costs cannot be told apart.
type Fast struct {
	URL string

	process *exec.Cmd
	ask     io.WriteCloser
	says    *bufio.Reader
}

// fastEnv tells a test binary that it is the server, and how it answers.
const fastEnv = "SYNOD_FAST_SERVER"

// StartFast serves until the test ends: one answer, and one score to whatever the
// server is asked to judge, as Fixed gives them. The process is the test binary,
// whose TestMain must call ServeFast first.
func StartFast(t testing.TB, latency time.Duration, answer string, score float64) *Fast {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &Fast{process: exec.Command(self, "-test.run=^$")}
	s.process.Env = append(os.Environ(), fmt.Sprintf("%s=%s %g %s", fastEnv, latency, score, answer))
	s.process.Stderr = os.Stderr
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if s.ask, err = s.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.says = bufio.NewReader(out)
	if _, err := fmt.Fscanln(s.says, &s.URL); err != nil {
		t.Fatal("the server did not start; does TestMain call llmtest.ServeFast? ", err)
	}
	return s
}

// Count is the number of requests so far.
func (s *Fast) Count() (n int) {
	if _, err := fmt.Fprintln(s.ask); err != nil {
		panic("llmtest: " + err.Error())
	}
	if _, err := fmt.Fscanln(s.says, &n); err != nil {
		panic("llmtest: " + err.Error())
	}
	return n
}

// Close ends the server and returns the processor time that it took.
func (s *Fast) Close() time.Duration {
	_ = s.ask.Close()
	_ = s.process.Wait()
	if s.process.ProcessState == nil {
		return 0
	}
	return s.process.ProcessState.UserTime() + s.process.ProcessState.SystemTime()
}

// ServeFast is the whole process of a fast server, until its standard input ends.
// In any other it does nothing.
func ServeFast() {
	var latency time.Duration
	var score float64
	var answer, wait string
	if os.Getenv(fastEnv) == "" {
		return
	}
	_, err := fmt.Sscan(os.Getenv(fastEnv), &wait, &score, &answer)
	if err == nil {
		latency, err = time.ParseDuration(wait)
	}
	if err == nil {
		err = serveFast(latency, answer, score, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "llmtest:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
