package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// freePort returns a port that nothing listens on now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startCaddy starts Caddy with examples/serve/Caddyfile in front of a gateway, with a certificate of its own, and
// returns its address and a client that trusts it.
func startCaddy(t *testing.T, gateway string) (url string, client *http.Client) {
	t.Helper()
	program, err := exec.LookPath("caddy")
	if err != nil {
		t.Skip("caddy is not installed (Debian: apt-get install caddy)")
	}
	example, err := filepath.Abs(filepath.Join("..", "..", "examples", "serve", "Caddyfile"))
	if err != nil {
		t.Fatal(err)
	}
	dir, port := t.TempDir(), freePort(t)
	config := filepath.Join(dir, "Caddyfile")
	text := fmt.Sprintf("{\n\tskip_install_trust\n\tadmin off\n\tauto_https disable_redirects\n\thttps_port %d\n"+
		"\tstorage file_system %s\n}\nimport %s\n", port, dir, example)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	caddy := exec.Command(program, "run", "--config", config, "--adapter", "caddyfile")
	caddy.Env = append(os.Environ(), "SYNOD_HOST=localhost", "SYNOD_GATEWAYS="+strings.TrimPrefix(gateway, "http://"),
		"HOME="+dir)
	log := &lockedBuffer{}
	caddy.Stdout, caddy.Stderr = log, log
	if err := caddy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = caddy.Process.Signal(syscall.SIGTERM); _ = caddy.Wait() })
	url = fmt.Sprintf("https://localhost:%d", port)
	roots := x509.NewCertPool()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	client = &http.Client{Transport: transport}
	waitFor(t, "up: "+log.String(), func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "pki", "authorities", "local", "root.crt"))
		if err != nil || !roots.AppendCertsFromPEM(b) {
			return false
		}
		res, err := client.Get(url + "/healthz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == 200
	})
	return url, client
}

// Behind Caddy with the example's settings the gateway asks for keys, knows its name, and each event of a stream
// arrives at once, also over HTTP/2; when the client goes, the calls of members end.
func TestCaddy(t *testing.T) {
	s := newSite(t)
	file := filepath.Join(s.dir, "serve.db")
	key := s.key(t, file, store.Key{Name: "alice"})
	g := startGateway(t, "", append(s.args(file), "--hosts", "gate.example")...)
	defer g.end(syscall.SIGTERM)
	url, client := startCaddy(t, g.url)
	ask := func(ctx context.Context, key, more string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(
			`{"model": "five", "messages": [{"role": "user", "content": "What is 17 + 25?"}]`+more+`}`))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		return client.Do(req)
	}
	for key, want := range map[string]int{"": 401, key: 200} {
		res, err := ask(t.Context(), key, "")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want || res.ProtoMajor != 2 {
			t.Errorf("%s %s %s %v; want %d", res.Proto, res.Status, body, err, want)
		}
		res.Body.Close()
	}
	s.hold.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	res, err := ask(ctx, key, `, "stream": true`)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	line, err := bufio.NewReader(res.Body).ReadString('\n') // while no member has answered
	if err != nil || !strings.Contains(line, `"finish_reason":null`) {
		t.Errorf("%q %v; want the first event at once", line, err)
	}
	cancel()
	waitFor(t, "ended by the client", func() bool { return strings.Contains(g.log.String(), "client_gone") })
	s.hold.Store(false)
}
