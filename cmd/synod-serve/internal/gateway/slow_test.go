package gateway

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// short are times for tests.
var short = Times{Header: 300 * time.Millisecond, Body: 600 * time.Millisecond, Idle: 300 * time.Millisecond,
	Write: 300 * time.Millisecond}

// slowHouse starts a gateway with short times, and a page of 64 MiB. gone is closed when its handler has ended.
func slowHouse(t *testing.T) (addr string, gone chan error) {
	h := open(t, map[string]string{"dice": dice})
	gone = make(chan error, 1)
	h.Mount("GET /large", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(make([]byte, 64<<20))
		gone <- err
	}))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := h.Server(short)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	t.Cleanup(func() {
		srv.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return ln.Addr().String(), gone
}

// dial opens a connection and sends a text.
func dial(t *testing.T, addr, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err == nil {
		_, err = io.WriteString(c, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// closed waits until the server closes a connection, and returns what it sent.
func closed(t *testing.T, what string, c net.Conn) string {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		t.Errorf("%s: the connection is still open after 20 s", what)
	}
	return string(b)
}

// drip sends a text byte by byte until the connection is closed or the text has ended.
func drip(c net.Conn, text string) {
	for i := range len(text) {
		if _, err := io.WriteString(c, text[i:i+1]); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Clients that send slowly, send nothing or send too much are cut off, and others are served meanwhile [SC-05].
func TestSlowSenders(t *testing.T) {
	addr, _ := slowHouse(t)
	const body = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"Content-Length: 1000\r\n\r\n"
	long := strings.Repeat("x", 1000)
	silent := map[string]net.Conn{"nothing": dial(t, addr, ""), "half a header": dial(t, addr, "GET / HTTP/1.1\r\nHo"),
		"no body": dial(t, addr, body), "one request": dial(t, addr, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")}
	header, dripped := dial(t, addr, "GET / HTTP/1.1\r\nX: "), dial(t, addr, body)
	go drip(header, long)
	go drip(dripped, long)
	huge := dial(t, addr, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
	go io.WriteString(huge, "X: "+strings.Repeat("x", 100<<10)+"\r\n\r\n")
	if res, err := http.Get("http://" + addr + "/healthz"); err != nil || res.StatusCode != 200 {
		t.Errorf("another client: %v", err)
	} else {
		res.Body.Close()
	}
	for what, c := range silent {
		closed(t, what, c)
	}
	closed(t, "a header byte by byte", header)
	closed(t, "a body byte by byte", dripped)
	if got := closed(t, "a header of 100 KiB", huge); !strings.Contains(got, " 431 ") {
		t.Errorf("a header of 100 KiB: %.40q", got)
	}
}

// A client that reads nothing does not hold its request, and one that reads slowly gets all [SC-05].
func TestSlowReaders(t *testing.T) {
	addr, gone := slowHouse(t)
	const request = "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	dial(t, addr, request)
	select {
	case err := <-gone:
		if err == nil {
			t.Error("64 MiB were written to a client that reads nothing")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the handler of a client that reads nothing goes on after 20 s")
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(dial(t, addr, request), 16), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for b := make([]byte, 4<<20); err == nil; time.Sleep(50 * time.Millisecond) { // longer in all than a piece may take
		var some int
		some, err = io.ReadFull(res.Body, b)
		n += int64(some)
	}
	if n != 64<<20 || <-gone != nil {
		t.Errorf("a slow client gets %d bytes: %v", n, err)
	}
}

// Ten thousand connections that send nothing do not keep others out [SC-05].
func TestManyConnections(t *testing.T) {
	addr, _ := slowHouse(t)
	opened := 0
	for range manyConnections {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			break // the machine allows no more files
		}
		opened++
		defer c.Close()
	}
	client := &http.Client{Timeout: 20 * time.Second}
	res, err := client.Get("http://" + addr + "/healthz")
	if err != nil || opened < 100 {
		t.Fatalf("beside %d connections: %v", opened, err)
	}
	res.Body.Close()
	t.Logf("%d connections that send nothing", opened)
}

// manyConnections is the number of connections that TestManyConnections opens; both ends are files of one process.
const manyConnections = 2_000
