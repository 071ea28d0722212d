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
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// fastServer is the server that Fast starts.
type fastServer struct {
	latency time.Duration
	reply   func(body []byte) []byte
	queue   chan due
	count   atomic.Int64
}

// due is a reply and when it leaves. All wait equally long, so they are due in
// the order in which they came.
type due struct {
	at   time.Time
	conn net.Conn
	wire []byte
}

// serveFast says where it listens, and for every line that comes how many requests
// there were, until no more lines come.
func serveFast(latency time.Duration, answer string, score float64, in io.Reader, out io.Writer) error {
	runtime.GOMAXPROCS(1) // all it does is hand bytes on
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

// fixedWires is Fixed, with the few replies that there are made beforehand.
func fixedWires(answer string, score float64) func(body []byte) []byte {
	h := Fixed(answer, score)
	scored, answered := wire(h(Call{Format: "json_schema", Schema: json.RawMessage(`"score"`)})), wire(h(Call{Format: "json_schema"}))
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

// read takes requests off one connection.
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

// head reads to the end of a request's head and returns the body's length.
func head(in *bufio.Reader) (length int, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			return length, nil
		}
		if name, value, ok := bytes.Cut(line, []byte(":")); ok && len(name) == len("Content-Length") && strings.EqualFold(string(name), "Content-Length") {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 || length > 8<<20 {
				return 0, errors.New("llmtest: length of the body")
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
