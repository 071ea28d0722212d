package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/pgtest"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// gatewayProcess is the program in a process of its own, which a test may kill.
type gatewayProcess struct {
	*exec.Cmd
	url string
	log *lockedBuffer
}

// TestAsProgram is the program itself, where a test of this file starts it.
func TestAsProgram(t *testing.T) {
	args := os.Getenv("SYNOD_SERVE_TEST_ARGS")
	if args == "" {
		t.Skip("other tests start it")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, strings.Split(args, "\n"), os.Stdout, os.Stderr))
}

var listens = regexp.MustCompile(`(?m)^listening on (https?://\S+)$`)

// startGateway starts the program; before is a shell command in front of it, such as a limit.
func startGateway(t *testing.T, before string, args ...string) *gatewayProcess {
	t.Helper()
	g := &gatewayProcess{Cmd: exec.Command("sh", "-c", before+`exec "$0" -test.run '^TestAsProgram$'`, os.Args[0]),
		log: &lockedBuffer{}}
	args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
	g.Env = append(os.Environ(), "SYNOD_SERVE_TEST_ARGS="+strings.Join(args, "\n"))
	g.Stdout, g.Stderr = g.log, g.log
	if err := g.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.end(syscall.SIGKILL) })
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if m := listens.FindStringSubmatch(g.log.String()); m != nil {
			g.url = m[1]
			return g
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatal(g.log.String())
		}
	}
}

// end sends a signal and waits for the end of the process.
func (g *gatewayProcess) end(signal syscall.Signal) {
	if g.ProcessState == nil {
		_ = g.Process.Signal(signal)
		_ = g.Wait() // it was told to end
	}
}

// ask sends a question and returns the status and the body; 0 if the connection broke.
func (g *gatewayProcess) ask(key, model string, seed int) (int, string) {
	body := fmt.Sprintf(`{"model": %q, "seed": %d, "messages": [{"role": "user", "content": "What is 17 + 25?"}]}`,
		model, seed)
	req, err := http.NewRequest(http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(b)
}

// site is a folder with a council of five behind a stub, whose calls wait while hold is set.
type site struct {
	dir, councils, prices string
	calls                 atomic.Int64
	hold                  atomic.Bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	members := llmtest.New(llmtest.Fixed("42", 0.9))
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
		for s.hold.Load() && r.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		members.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { s.hold.Store(false); up.Close(); http.DefaultClient.CloseIdleConnections() })
	s.councils, s.prices = filepath.Join(s.dir, "councils"), filepath.Join(s.dir, "prices.yaml")
	text := strings.Replace(diceFile, "dice: {provider: simulated}", `stub: {provider: openai, url: "`+up.URL+
		`/v1", model: stub, max_tokens: 100}`, 1)
	for path, content := range map[string]string{
		filepath.Join(s.councils, "five.yaml"): strings.Replace(text, "model: dice", "model: stub", 1),
		s.prices:                               "prices: [{server: '*', model: stub, prompt: 1, completion: 10}]\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *site) args(url string) []string {
	return []string{"--home", s.dir, "--councils", s.councils, "--prices", s.prices, "--store", url}
}

func (s *site) key(t *testing.T, url string, k store.Key) string {
	t.Helper()
	st, err := store.Open(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	secret, _, err := st.NewKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatal("not " + what)
		}
	}
}

// After kill -9 and a restart all that was answered is in the history, what was running counts as spent with all that
// it had reserved, and nothing is counted twice.
func TestKilledAndRestarted(t *testing.T) {
	s := newSite(t)
	url := filepath.Join(s.dir, "serve.db")
	for _, k := range []store.Key{{Name: "limited", PerDay: store.USD(1)}, {Name: "free"}} {
		key := s.key(t, url, k)
		g := startGateway(t, "", s.args(url)...)
		const answered = 5
		for i := range answered {
			if status, body := g.ask(key, "five", i); status != 200 {
				t.Fatal(status, body)
			}
		}
		before := s.calls.Load()
		s.hold.Store(true)
		broken := make(chan int, 1)
		go func() { status, _ := g.ask(key, "five", 100); broken <- status }()
		waitFor(t, "a run in flight", func() bool { return s.calls.Load() >= before+5 })
		g.end(syscall.SIGKILL)
		s.hold.Store(false)
		if status := <-broken; status != 0 {
			t.Errorf("the client of a gateway that was killed got %d", status)
		}
		g = startGateway(t, "", s.args(url)...)
		if status, body := g.ask(key, "five", 200); status != 200 {
			t.Error(status, body)
		}
		g.end(syscall.SIGTERM)
		s.books(t, url, k.Name, answered+1, 1)
	}
}

// books checks that a key's day is the sum of its requests: so many were answered, and so many lost.
func (s *site) books(t *testing.T, url, name string, answered, lost int) {
	t.Helper()
	st, err := store.Open(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	keys, err := st.Keys(t.Context())
	rows, err2 := st.Recent(t.Context(), 10000)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, k := range keys {
		if k.Name != name {
			continue
		}
		var spent store.Money
		count := map[string]int{}
		for _, r := range rows {
			if r.Key == k.ID {
				spent += r.Spent
				count[r.Status]++
				if r.Spent == 0 && r.HTTP != 429 && r.HTTP != 503 {
					t.Errorf("%+v cost nothing", r)
				}
			}
		}
		if count["agreed"] != answered || count[store.Lost] != lost || k.Today != spent || k.Reserved != 0 {
			t.Errorf("%s: %v; %v spent by the requests, %+v", name, count, spent, k)
		}
	}
}

// With a full disk requests get 503 with a stated code and no member is called for nothing; the gateway lives, and
// what was answered before stays.
func TestDiskFull(t *testing.T) {
	s := newSite(t)
	url := filepath.Join(s.dir, "serve.db")
	g := startGateway(t, "", s.args(url)...)
	g.end(syscall.SIGTERM) // the tables are made
	g = startGateway(t, "trap '' XFSZ; ulimit -f 1500; ", s.args(url)...)
	refused, answered := 0, 0
	for i := range 4000 {
		status, body := g.ask("", "five", i)
		var e struct {
			Error struct{ Code string }
		}
		switch {
		case status == 200:
			answered++
		case status == 503 && json.Unmarshal([]byte(body), &e) == nil &&
			(e.Error.Code == "store_unavailable" || e.Error.Code == "journal_unwritten"):
			refused++
		default:
			t.Fatalf("request %d: %d %s\n%s", i, status, body, g.log)
		}
		if refused > 20 {
			break
		}
	}
	if refused == 0 || answered == 0 {
		t.Errorf("%d answered and %d refused\n%s", answered, refused, g.log)
	}
	if res, err := http.Get(g.url + "/healthz"); err != nil || res.StatusCode != 200 {
		t.Error("the gateway is gone", err)
	} else {
		res.Body.Close()
	}
	g.end(syscall.SIGTERM)
	g = startGateway(t, "", s.args(url)...) // there is room again
	if status, body := g.ask("", "five", 1000); status != 200 {
		t.Error(status, body)
	}
	g.end(syscall.SIGTERM)
	st, err := store.Open(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rows, err := st.Recent(t.Context(), 10000)
	agreed := 0
	for _, r := range rows {
		if r.Status == "agreed" {
			agreed++
		}
	}
	if err != nil || agreed < answered/2 {
		t.Errorf("%d of %d answers are in the history, %v", agreed, answered+1, err)
	}
}

// Two gateways share one PostgreSQL. When one is killed the other answers on, the key's limit holds over both, and
// what the dead one had reserved counts.
func TestOneOfTwoGatewaysKilled(t *testing.T) {
	s := newSite(t)
	url := pgtest.Start(t)
	key := s.key(t, url, store.Key{Name: "k", PerDay: store.USD(1)})
	one, two := startGateway(t, "", s.args(url)...), startGateway(t, "", s.args(url)...)
	for i, g := range []*gatewayProcess{one, two} {
		if status, body := g.ask(key, "five", i); status != 200 {
			t.Fatal(status, body)
		}
	}
	before := s.calls.Load()
	s.hold.Store(true)
	broken := make(chan int, 1)
	go func() { status, _ := one.ask(key, "five", 100); broken <- status }()
	waitFor(t, "a run in flight", func() bool { return s.calls.Load() >= before+5 })
	one.end(syscall.SIGKILL)
	s.hold.Store(false)
	if status := <-broken; status != 0 {
		t.Errorf("the client of the gateway that was killed got %d", status)
	}
	for i := range 5 {
		if status, body := two.ask(key, "five", 200+i); status != 200 {
			t.Error(status, body)
		}
	}
	st, err := store.Open(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	keys, err := st.Keys(t.Context())
	if err != nil || keys[0].Reserved == 0 || keys[0].Today == 0 {
		t.Errorf("what the dead gateway has reserved does not count: %+v, %v", keys, err)
	}
	two.end(syscall.SIGTERM)
}

// No file and no line of the log has a key of a model's server or of a client, files are the owner's alone, and
// metrics and profiles are not on the listener of clients.
func TestNoSecretsInFiles(t *testing.T) {
	s := newSite(t)
	const planted = "sk-planted-7f3a9c"
	t.Setenv("PLANTED_KEY", planted)
	file := filepath.Join(s.councils, "five.yaml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	with := strings.Replace(string(b), "model: stub,", "model: stub, key_env: PLANTED_KEY,", 1)
	if err := os.WriteFile(file, []byte(with), 0o600); err != nil {
		t.Fatal(err)
	}
	url := filepath.Join(s.dir, "serve.db")
	key := s.key(t, url, store.Key{Name: "k"})
	g := startGateway(t, "umask 0; ", s.args(url)...)
	for _, model := range []string{"five", "solo:stub"} {
		if status, body := g.ask(key, model, 1); status != 200 {
			t.Fatal(status, body)
		}
	}
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		res, err := http.Get(g.url + path)
		if err != nil || res.StatusCode == 200 {
			t.Errorf("%s: %v %v", path, res, err)
		}
		res.Body.Close()
	}
	g.end(syscall.SIGTERM)
	read := 0
	err = filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		read++
		b, err := os.ReadFile(path)
		if text := string(b); strings.Contains(text, planted) || strings.Contains(text, key) {
			t.Errorf("%s has a key", path)
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || read < 3 {
		t.Error(read, err)
	}
	for _, secret := range []string{planted, key, "17 + 25"} {
		if log := g.log.String(); strings.Contains(log, secret) {
			t.Error(log)
		}
	}
}
