package llmtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Fast is a server for benchmarks of the client. It parses as little of a request as
// possible and sends each reply one latency after its request, with an error of about ten
// microseconds. It implements only the parts of HTTP/1.1 that a client with persistent
// connections needs. It is a separate process, because the processor time of a server in the
// same process could not be separated from that of the client.
type Fast struct {
	URL string

	process *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
}

// fastEnv is the environment variable with the settings of the server process.
const fastEnv = "SYNOD_FAST_SERVER"

// StartFast starts a server that replies as Fixed does until the test ends. The
// process is the test binary, whose TestMain must call ServeFast first.
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
	if s.stdin, err = s.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.stdout = bufio.NewReader(out)
	if _, err := fmt.Fscanln(s.stdout, &s.URL); err != nil {
		t.Fatal("the server did not start; does TestMain call llmtest.ServeFast? ", err)
	}
	return s
}

// Count returns the number of requests so far.
func (s *Fast) Count() (n int) {
	if _, err := fmt.Fprintln(s.stdin); err != nil {
		panic("llmtest: " + err.Error())
	}
	if _, err := fmt.Fscanln(s.stdout, &n); err != nil {
		panic("llmtest: " + err.Error())
	}
	return n
}

// Close ends the server and returns the processor time that it used.
func (s *Fast) Close() time.Duration {
	_ = s.stdin.Close()
	_ = s.process.Wait()
	if s.process.ProcessState == nil {
		return 0
	}
	return s.process.ProcessState.UserTime() + s.process.ProcessState.SystemTime()
}

// ServeFast runs the server until standard input ends and exits, in a process that
// StartFast has started. In any other process it does nothing.
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

// fastServer is the server that Fast starts.
type fastServer struct {
	latency time.Duration
	reply   func(body []byte) []byte
	queue   chan due
	count   atomic.Int64
}

// due is a reply and the time at which it is sent. All replies wait for the same time, so they
// are sent in the order of their requests.
type due struct {
	at   time.Time
	conn net.Conn
	wire []byte
}

// serveFast writes its URL to out and then, for each line of in, the number of requests so far.
// It returns at the end of in.
func serveFast(latency time.Duration, answer string, score float64, in io.Reader, out io.Writer) error {
	runtime.GOMAXPROCS(1) // it only copies bytes
	l, err := (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &fastServer{latency: latency, reply: fixedWires(answer, score), queue: make(chan due, 1<<14)}
	go s.send()
	go s.accept(l)
	fmt.Fprintf(out, "http://%s/v1\n", l.Addr())
	for lines := bufio.NewScanner(in); lines.Scan(); {
		fmt.Fprintln(out, s.count.Load())
	}
	return nil
}

// fixedWires returns a function like Fixed whose possible replies are encoded in advance.
func fixedWires(answer string, score float64) func(body []byte) []byte {
	h := Fixed(answer, score)
	scored := wire(h(Call{Format: "json_schema", Schema: json.RawMessage(`"score"`)}))
	answered := wire(h(Call{Format: "json_schema"}))
	proseScore, proseAnswer := wire(h(Call{User: "Score:"})), wire(h(Call{}))
	return func(body []byte) []byte {
		switch typed := bytes.Contains(body, []byte(`"response_format":{`)); {
		case typed && bytes.Contains(body, []byte(`"score":{`)):
			return scored
		case typed:
			return answered
		case bytes.Contains(body, []byte(`Score:"}`)):
			return proseScore
		}
		return proseAnswer
	}
}

func wire(text string) []byte {
	x := Exchange{Call: Call{User: "0123456789"}}
	body := x.completion(text, "stop")
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	return append([]byte(head), body...)
}

func (s *fastServer) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go s.read(c)
	}
}

// read reads the requests of one connection.
func (s *fastServer) read(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	var body []byte
	for {
		n, err := head(in)
		if err != nil {
			return
		}
		if cap(body) < n {
			body = make([]byte, n)
		}
		body = body[:n]
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		at := time.Now().Add(s.latency)
		s.count.Add(1)
		s.queue <- due{at, c, s.reply(body)}
	}
}

// head reads the head of a request and returns the length of the body.
func head(in *bufio.Reader) (length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			return length, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && len(name) == len("Content-Length") && strings.EqualFold(string(name), "Content-Length") {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 || length > 8<<20 {
				return 0, errors.New("llmtest: invalid Content-Length")
			}
		}
	}
}

// send writes each reply when it is due.
func (s *fastServer) send() {
	wait, stop := newWaiter()
	defer stop()
	for d := range s.queue {
		wait(time.Until(d.at))
		_, _ = d.conn.Write(d.wire)
	}
}
