package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// net/http logs what a server sends on an idle connection. The program does not print it: it may contain a key, or
// escape sequences of the terminal.
func TestHTTPLogIsSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var conns, unasked atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if slow := conns.Add(1) > 1; slow { // the program must live while the first connection is idle
					answer(conn, 500*time.Millisecond)
				} else if answer(conn, 0) && sendUnasked(conn) {
					unasked.Add(1)
				}
			}()
		}
	}()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	program := filepath.Join(home, "synod")
	if err := os.Symlink(self, program); err != nil {
		t.Skip("this system makes no symbolic links: ", err)
	}
	council := filepath.Join(home, "c.yaml")
	text := fmt.Sprintf("models: {m: {provider: openai, model: x, url: %q, private: true}}\n"+
		"protocol: {name: majority}\nseats: [{id: a, model: m, count: 2}]\n", "http://"+l.Addr().String()+"/v1")
	if err := os.WriteFile(council, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "ask", "-c", council, "--home", home, "--form", "number", "--no-preflight",
		"What is 6*7?")
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if unasked.Load() == 0 {
		t.Fatalf("nothing was sent unasked: %v\n%s", err, &messages)
	}
	if all := string(out) + messages.String(); err != nil || string(out) != "42\n" ||
		strings.Contains(all, "leaked") || strings.Contains(all, "nsolicited") {
		t.Errorf("%v\n%s", err, all)
	}
}

// answer answers one request with 42.
func answer(conn net.Conn, after time.Duration) bool {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return false
	}
	time.Sleep(after)
	body := `{"choices":[{"message":{"role":"assistant","content":"ANSWER: 42"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":3}}`
	_, err = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body)
	return err == nil
}

// sendUnasked sends a response for which there was no request.
func sendUnasked(conn net.Conn) bool {
	time.Sleep(100 * time.Millisecond) // until the client has put the connection aside
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nX: leaked\r\n\r\n")
	time.Sleep(100 * time.Millisecond)
	return err == nil
}
