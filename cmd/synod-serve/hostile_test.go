package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// peak returns the most memory that a process has had, in MiB; 0 where the system does not say.
func peak(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
			if err != nil {
				return 0
			}
			return n >> 10
		}
	}
	return 0
}

// spellings sends requests that cost more than they seem to, and returns how they were answered.
func (g *gatewayProcess) spellings(t *testing.T, key string) map[int]int {
	codes := map[int]int{}
	for _, more := range []string{`"max_completion_tokens": 1e6`, `"max_completion_tokens": 1000000.0`,
		`"max_completion_tokens": "1000000"`, `"n": 1e2`, `"best_of": 100`, `"max_tokens": 1, "max_tokens": 1e6`,
		`"Max_Tokens": 1000000`, `"prediction": {"type": "content", "content": "x"}`} {
		body := `{"model": "solo:stub", "messages": [{"role": "user", "content": "hi"}], ` + more + "}"
		req, err := http.NewRequest(http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		codes[res.StatusCode]++
	}
	return codes
}

// flood opens connections that announce long bodies and send a part of them.
func (g *gatewayProcess) flood(t *testing.T, key string, connections int) {
	at, err := url.Parse(g.url)
	if err != nil {
		t.Fatal(err)
	}
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"Authorization: Bearer " + key + "\r\nContent-Length: 8000000\r\n\r\n"
	for range connections {
		c, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		go io.WriteString(c, head+strings.Repeat(" ", 60_000))
	}
}

// TestHostile attacks a gateway that was started with defaults and 256 MiB: spellings of limits, a thousand bodies that
// do not come, and dry runs of a user of the machine who has no token. An honest key is answered meanwhile.
func TestHostile(t *testing.T) {
	s := newSite(t)
	file := filepath.Join(s.dir, "serve.db")
	hog := s.key(t, file, store.Key{Name: "hog", PerDay: store.USD(0.05)})
	honest := s.key(t, file, store.Key{Name: "honest"})
	g := startGateway(t, "", append(s.args(file), "--memory", "256MiB")...)
	codes := g.spellings(t, hog)
	g.flood(t, hog, 1000)
	for i := range 5 {
		if status, body := g.ask(honest, "five", i); status != 200 {
			t.Errorf("the honest key: %d %s", status, body)
		}
		time.Sleep(200 * time.Millisecond)
	}
	text := "models: {m: {provider: simulated}}\nseats: [{id: a, model: m, count: 16384}]\n"
	res, err := http.PostForm(g.url+"/councils/-/check", url.Values{"text": {text}})
	if err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a dry run without the token: %v %v", res, err)
	}
	res.Body.Close()
	memory := peak(g.Process.Pid)
	g.end(syscall.SIGTERM)
	st, err := store.Open(t.Context(), file, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	keys, err := st.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refused := strings.Count(g.log.String(), "msg=refused")
	for _, k := range keys {
		t.Logf("%s: %.4f USD spent of %v a day", k.Name, k.Today.USD(), k.PerDay.USD())
		if k.PerDay > 0 && k.Today > k.PerDay {
			t.Errorf("%s has spent more than its limit", k.Name)
		}
	}
	t.Logf("spellings were answered %v; %d requests were refused; %d MiB at most; %d calls of models", codes, refused,
		memory, s.calls.Load())
	if memory > 256 || refused == 0 || codes[200] > 1 {
		t.Errorf("%d MiB, %d refused, codes %v", memory, refused, codes)
	}
}
