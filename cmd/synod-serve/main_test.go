package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// command runs a command line to its end.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var a, b bytes.Buffer
	code = run(t.Context(), args, &a, &b)
	return code, a.String(), b.String()
}

const diceFile = `protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
models: {dice: {provider: simulated}}
seats: [{id: d, model: dice, count: 5}]
`

// The gateway listens, says so, answers, counts for Prometheus, and ends when it is told to.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	councils := filepath.Join(dir, "councils")
	if err := os.Mkdir(councils, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"dice.yaml": diceFile, "broken.yaml": "seets: []\n"} {
		if err := os.WriteFile(filepath.Join(councils, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "serve.yaml")
	if err := os.WriteFile(config, []byte("councils: councils\nmetrics: 127.0.0.1:0\nkeep: {days: 1}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SYNOD_SERVE_LISTEN", "127.0.0.1:0")
	ctx, cancel := context.WithCancel(t.Context())
	errs, done := &lockedBuffer{}, make(chan int, 1)
	go func() { done <- run(ctx, []string{"serve", "--home", dir, "--config", config}, &bytes.Buffer{}, errs) }()
	address := regexp.MustCompile(`(?m)^listening on (http://127\.0\.0\.1:\d+)$`)
	for begun := time.Now(); !address.MatchString(errs.String()); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal(errs.String())
		}
	}
	url := address.FindStringSubmatch(errs.String())[1]
	res, err := http.Post(url+"/v1/chat/completions", "application/json", // dice do not agree with every seed
		strings.NewReader(`{"model": "dice", "seed": 1, "messages": [{"role":"user", "content": "What is 17 + 25?"}]}`))
	if err != nil || res.StatusCode != 200 {
		t.Error(res, err)
	}
	res.Body.Close()
	metrics := regexp.MustCompile(`metrics on (http://\S+)`).FindStringSubmatch(errs.String())[1]
	if res, err = http.Get(metrics); err != nil || res.StatusCode != 200 {
		t.Error(res, err)
	}
	res.Body.Close()
	if code, _, text := command(t, "serve", "--home", dir, "--config", config); code != 2 || !strings.Contains(text,
		"another gateway") {
		t.Errorf("a second gateway on one store: %d %s", code, text)
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if code := <-done; code != 0 {
		t.Errorf("code %d: %s", code, errs.String())
	}
	if text := errs.String(); !strings.Contains(text, "unknown key") || strings.Contains(text, "17 + 25") {
		t.Errorf("the log: %s", text)
	}
}

// Mistakes have exit code 2, and say what to do.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "x.yaml")
	for _, test := range []struct {
		config string
		args   []string
		want   string
	}{
		{"", []string{"--listen", "8080"}, "HOST:PORT"},
		{"", []string{"--listen", "0.0.0.0:0"}, "synod serve keys new"},
		{"", []string{"--frobnicate"}, "unknown flag"},
		{"", []string{"--councils", "/nowhere"}, "folder of councils"},
		{"deadlin: 3s\n", nil, `did you mean "deadline"`},
		{"at_once: 0\n", nil, "at_once"},
		{"on_no_consensus: maybe\n", nil, "best-effort"},
		{"models: {seven: {form: haiku}}\n", nil, "models.seven.form"},
		{"tools: sometimes\n", nil, "vote, primary or reject"},
		{"", []string{"keys", "new", "a b"}, "letters"},
		{"", []string{"keys", "new", "x", "--usd-day", "-1"}, "--usd-day"},
		{"", []string{"keys", "new", "x", "--tokens-day", "-1"}, "--tokens-day"},
		{"", []string{"keys", "new", "x", "--expires", "2020-01-01"}, "expired already"},
		{"", []string{"keys", "new", "x", "--expires", "soon"}, "90d"},
		{"", []string{"keys", "new", "x", "--expires", "0d"}, "90d"},
		{"", []string{"keys", "new", "x", "--owner", "a\x1b[2J"}, "one line"},
		{"", []string{"keys", "edit", "x", "--rpm", "1"}, "keys list"},
		{"", []string{"keys", "edit", "x"}, "give what to change"},
		{"", []string{"keys", "revoke", "x"}, "keys list"},
		{"", []string{"labels"}, "list, export or withdraw"},
		{"", []string{"labels", "withdraw", "x"}, "keys list"},
		{"", []string{"labels", "withdraw", ""}, "empty"},
		{"", []string{"keys"}, "new, list, edit or revoke"},
	} {
		if err := os.WriteFile(config, []byte(test.config), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"serve", "--home", dir, "--config", config}, test.args...)
		if code, _, errs := command(t, args...); code != 2 || !strings.Contains(errs, test.want) {
			t.Errorf("%v %q: %d %s", test.args, test.config, code, errs)
		}
	}
}

// Keys are made, listed, changed and revoked; the secret is alone on stdout.
func TestKeysCommand(t *testing.T) {
	dir := t.TempDir()
	code, secret, _ := command(t, "serve", "keys", "new", "alice", "--usd-day", "5", "--rpm", "60", "--councils", "a,b",
		"--tokens-day", "2000", "--home", dir)
	if code != 0 || !regexp.MustCompile(`^sk-synod-[A-Z0-9]{36}\n$`).MatchString(secret) {
		t.Errorf("%d %q", code, secret)
	}
	if code, out, _ := command(t, "serve", "keys", "list", "--json", "--home", dir); code != 0 ||
		!strings.Contains(out, `"usd_day": 5`) || !strings.Contains(out, `"tokens_day": 2000`) ||
		strings.Contains(out, strings.TrimSpace(secret)) {
		t.Errorf("%d %s", code, out)
	}
	if code, _, errs := command(t, "serve", "keys", "edit", "alice", "--usd-day", "10", "--owner", "team search",
		"--expires", "9999-12-31", "--tokens-day", "3000", "--home", dir); code != 0 ||
		!strings.Contains(errs, "$10 a day, 3000 tokens a day, 60 requests a minute, models a, b, until 9999-12-31") {
		t.Errorf("%d %s", code, errs)
	}
	if _, out, _ := command(t, "serve", "keys", "list", "--home", dir); !strings.Contains(out, "team search") ||
		!strings.Contains(out, "valid") {
		t.Error(out)
	}
	if code, _, _ := command(t, "serve", "keys", "revoke", "alice", "--home", dir); code != 0 {
		t.Error(code)
	}
	if _, out, _ := command(t, "serve", "keys", "list", "--home", dir); !strings.Contains(out, "revoked") {
		t.Error(out)
	}
}
