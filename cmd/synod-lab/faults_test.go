package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"synod.dev/synod/bench"
	"synod.dev/synod/internal/llmtest"
)

// endpoints is a manifest whose members are models of a server.
func endpoints(url, limits, budget string, cells int) string {
	return strings.Replace(strings.Replace(simulated(cells), "{provider: simulated, ability: 0.7}",
		"{provider: openai, url: "+url+", model: stub, key_env: LAB_TEST_KEY, max_tokens: 50"+limits+"}", 1),
		"\naxes:", budget+"\naxes:", 1)
}

// counter is a server that counts requests and when they came.
type counter struct {
	*llmtest.Server
	mu   sync.Mutex
	came []time.Time
}

// usage is what each request reports.
const usage = `{"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220}`

// price is that of a token, so that a request costs 0.022 USD.
const price = "prices:\n- {server: '*', model: stub, prompt: 100, completion: 100, date: 2026-11-01}\n"

const perCall = 220 * 100 / 1e6

func counting(t *testing.T, latency time.Duration) *counter {
	t.Helper()
	c := &counter{}
	c.Server = llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Latency(latency), llmtest.Quiet(),
		llmtest.With(func(x *llmtest.Exchange) {
			c.mu.Lock()
			c.came = append(c.came, time.Now())
			c.mu.Unlock()
			llmtest.Usage(usage)(x)
		}))
	return c
}

func (c *counter) times() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Time(nil), c.came...)
}

// pricesFile writes the price table and returns flags for it.
func pricesFile(t *testing.T, dir string) []string {
	t.Helper()
	path := filepath.Join(dir, "prices.yaml")
	if err := os.WriteFile(path, []byte(price), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--prices", path, "--trust"}
}

// TestLimits: 20 calls a second and 5 USD hold over three workers, as the server counts, though one worker and the hub
// are killed; and no key is in what hub and workers write.
func TestLimits(t *testing.T) { checkLimits(t, func(int) []string { return nil }) }

// checkLimits plays TestLimits with further variables in the environment of each process; 0 is the hub.
func checkLimits(t *testing.T, more func(process int) []string) {
	t.Helper()
	const perSecond, usd, key = 20, 5.0, "sk-canary-0123456789abcdef"
	server := counting(t, 50*time.Millisecond)
	dir := study(t, endpoints(server.URL, fmt.Sprintf(", per_minute: %d", 60*perSecond),
		fmt.Sprintf("\nbudget: {usd: %v}", usd), 40), 4)
	address := "127.0.0.1:" + freePort(t)
	hub := start(t, more(0), "hub", filepath.Join(dir, "run"), "--listen", address, "--lease", testLease)
	hub.expect("listening on", 30*time.Second)
	all := []*process{hub}
	args := append(pricesFile(t, dir), "--parallel", "6") // once: a worker may read the file while it is written again
	for i := range 3 {
		env := append(more(i+1), "LAB_TEST_KEY="+key)
		all = append(all, runWorker(t, env, dir, fmt.Sprint("w", i), address, args...))
	}
	for _, at := range []struct{ calls, victim int }{{40, 1}, {90, 0}} {
		for end := time.Now().Add(time.Minute); len(server.times()) < at.calls; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d calls:\n%s%s", len(server.times()), hub.output(), all[1].output())
			}
		}
		all[at.victim].kill()
		all[at.victim].again()
	}
	for i, p := range all {
		if code := p.code(3 * time.Minute); code != exitBudget {
			t.Errorf("process %d ends with %d:\n%s", i, code, p.output())
		}
		if strings.Contains(p.output(), "canary") {
			t.Error("a process writes the key")
		}
	}
	came := server.times()
	cost, worst := float64(len(came))*perCall, time.Hour
	for i := perSecond; i < len(came); i++ {
		worst = min(worst, came[i].Sub(came[i-perSecond]))
	}
	if cost > usd || cost < usd/2 {
		t.Errorf("%d calls for %.2f USD", len(came), cost)
	}
	if worst < 900*time.Millisecond { // requests arrive a little later than they were granted
		t.Errorf("%d calls within %v", perSecond+1, worst)
	}
	s, err := bench.ReadHubStatus(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Spent.Calls < len(came) || s.Spent.USD < cost-1e-9 || s.Spent.USD > usd {
		t.Errorf("the hub counts %+v; the server %d calls for %.3f USD", s.Spent, len(came), cost)
	}
	noSecret(t, dir, key)
	t.Logf("%d calls in %v, %.2f USD (the hub: %.2f); %d calls took at least %v", len(came),
		came[len(came)-1].Sub(came[0]).Round(time.Millisecond), cost, s.Spent.USD, perSecond+1,
		worst.Round(time.Millisecond))
}

// waitingRoom is a server whose calls wait until its door is opened.
type waitingRoom struct {
	*llmtest.Server
	door chan struct{}

	mu            sync.Mutex
	came, running int
	lost, left    int // calls of the worker that is lost, which came first, and how many of them are over
	most, above   int // calls that ran at a time, and those that were not of the lost worker
}

func openRoom(t *testing.T, lost int) *waitingRoom {
	t.Helper()
	r := &waitingRoom{door: make(chan struct{}), lost: lost}
	r.Server = llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Quiet(), llmtest.With(func(x *llmtest.Exchange) {
		r.mu.Lock()
		r.came++
		r.running++
		stale := r.came <= r.lost
		r.most, r.above = max(r.most, r.running), max(r.above, r.running-min(r.came, r.lost)+r.left)
		r.mu.Unlock()
		select {
		case <-r.door:
		case <-x.R.Context().Done():
		}
		r.mu.Lock()
		r.running--
		if stale {
			r.left++
		}
		r.mu.Unlock()
		llmtest.Usage(usage)(x)
	}))
	return r
}

// fill waits until so many calls run.
func (r *waitingRoom) fill(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		r.mu.Lock()
		running := r.running
		r.mu.Unlock()
		if running >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d calls run, not %d", running, n)
		}
	}
}

// TestLostCalls: when a lease ends, the permits of the lost worker are free though its calls still run. Its calls are
// all that runs beyond the concurrency of the account, also after it has come back.
func TestLostCalls(t *testing.T) {
	const concurrency = 4
	room := openRoom(t, concurrency)
	dir := study(t, endpoints(room.URL, fmt.Sprintf(", concurrency: %d", concurrency), "", 2), 4)
	address := "127.0.0.1:" + freePort(t)
	hub := startHub(t, dir, address)
	hub.expect("listening on", 30*time.Second)
	env, more := []string{"LAB_TEST_KEY=x"}, append(pricesFile(t, dir), "--parallel", "4")
	a := runWorker(t, env, dir, "a", address, more...)
	room.fill(t, concurrency)
	if err := a.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	hub.expect("is silent for "+testLease, time.Minute)
	b := runWorker(t, env, dir, "b", address, more...)
	room.fill(t, 2*concurrency)
	if err := a.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	const said = "is here"
	for end := time.Now().Add(time.Minute); strings.Count(hub.output(), said) < 3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the worker has not come back:\n%s", hub.output())
		}
	}
	close(room.door)
	for i, p := range []*process{hub, a, b} {
		if code := p.code(2 * time.Minute); code != 0 {
			t.Fatalf("process %d ends with %d:\n%s", i, code, p.output())
		}
	}
	if room.most != 2*concurrency || room.above != concurrency {
		t.Errorf("%d calls ran at a time, %d of them not of the lost worker, which had %d; the limit is %d", room.most,
			room.above, concurrency, concurrency)
	}
}

// noSecret fails if a file has the key.
func noSecret(t *testing.T, dir, key string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), key) {
			t.Errorf("%s has the key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHubLost: while the hub does not answer, running calls end and none begins; afterwards all goes on, and no reply
// was paid for twice.
func TestHubLost(t *testing.T) {
	server := counting(t, 20*time.Millisecond)
	dir := study(t, endpoints(server.URL, ", per_minute: 3000", "", 6), 4)
	address := "127.0.0.1:" + freePort(t)
	hub := startHub(t, dir, address)
	hub.expect("listening on", 30*time.Second)
	w := runWorker(t, []string{"LAB_TEST_KEY=x"}, dir, "w", address, append(pricesFile(t, dir), "--parallel", "2")...)
	for end := time.Now().Add(time.Minute); len(server.times()) < 20 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := hub.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // what was granted has left
	before := len(server.times())
	time.Sleep(*lostTime)
	if n := len(server.times()) - before; n > 0 || before < 20 {
		t.Errorf("%d calls before, and %d began without the hub", before, n)
	}
	w.expect("the hub does not answer", time.Second)
	if err := hub.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if a, b := hub.code(3*time.Minute), w.code(time.Minute); a != 0 || b != 0 {
		t.Fatalf("exit codes %d and %d:\n%s\n%s", a, b, hub.output(), w.output())
	}
	grid, err := bench.OpenGrid(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := grid.Report()
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls.Made != len(server.times()) || r.Finished != 24 {
		t.Errorf("%d calls in the report of %d questions, %d at the server", r.Calls.Made, r.Finished,
			len(server.times()))
	}
}

// TestWorkerGoesOn: a worker that was killed and started again goes on with its paid replies.
func TestWorkerGoesOn(t *testing.T) {
	server := counting(t, 150*time.Millisecond)
	dir := study(t, endpoints(server.URL, ", concurrency: 4", "", 1), 2)
	address := "127.0.0.1:" + freePort(t)
	hub := startHub(t, dir, address, "--lease", "20s")
	hub.expect("listening on", 30*time.Second)
	w := runWorker(t, []string{"LAB_TEST_KEY=x"}, dir, "w", address, append(pricesFile(t, dir), "--parallel", "2")...)
	for end := time.Now().Add(time.Minute); len(server.times()) < 12 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	w.kill()
	w.again()
	if a, b := hub.code(2*time.Minute), w.code(time.Minute); a != 0 || b != 0 {
		t.Fatalf("exit codes %d and %d:\n%s\n%s", a, b, hub.output(), w.output())
	}
	if !strings.Contains(w.output(), "going on with") {
		t.Errorf("the worker has not gone on:\n%s", w.output())
	}
	server2 := counting(t, 0)
	other := study(t, endpoints(server2.URL, "", "", 1), 2)
	t.Setenv("LAB_TEST_KEY", "x")
	alone(t, other)
	if n, without := len(server.times()), len(server2.times()); n > without+4 { // those on their way when it was killed
		t.Errorf("%d calls; without the kill there are %d", n, without)
	}
}

// TestSecondHub: a second hub is refused, on one folder and on one queue of a NATS server, also with a copy of the
// folder. The copy is served when the first hub is gone.
func TestSecondHub(t *testing.T) {
	dir, other, moved := study(t, simulated(2), 1), study(t, simulated(2), 1), t.TempDir()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true,
		StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(startWithin) {
		t.Fatal("no server")
	}
	first := startHub(t, dir, "", "--nats", s.ClientURL())
	first.expect("listening on", 30*time.Second)
	if p := startHub(t, dir, "127.0.0.1:0"); p.code(30*time.Second) != 1 || !strings.Contains(p.output(), "another") {
		t.Errorf("a second hub of the folder: %s", p.output())
	}
	if p := startHub(t, other, "", "--nats", s.ClientURL()); p.code(30*time.Second) != 1 ||
		!strings.Contains(p.output(), errSecondHub.Error()) {
		t.Errorf("a second hub of the queue: %s", p.output())
	}
	if err := os.CopyFS(filepath.Join(moved, "run"), os.DirFS(filepath.Join(dir, "run"))); err != nil {
		t.Fatal(err)
	}
	if p := startHub(t, moved, "", "--nats", s.ClientURL()); p.code(30*time.Second) != 1 ||
		!strings.Contains(p.output(), errSecondHub.Error()) {
		t.Errorf("a second hub of the queue, with a copy of the folder: %s", p.output())
	}
	first.kill()
	first = startHub(t, moved, "", "--nats", s.ClientURL())
	first.expect("listening on", time.Minute)
	if p := startHub(t, dir, "", "--nats", s.ClientURL()); p.code(30*time.Second) != 1 ||
		!strings.Contains(p.output(), errSecondHub.Error()) {
		t.Errorf("the first hub, after its copy has begun: %s", p.output())
	}
	second := startHub(t, other, "", "--nats", s.ClientURL(), "--queue", "other")
	second.expect("listening on", 30*time.Second)
	a := runWorker(t, nil, dir, "w", s.ClientURL())
	b := runWorker(t, nil, other, "w", s.ClientURL(), "--queue", "other")
	for _, p := range []*process{first, second, a, b} {
		if code := p.code(time.Minute); code != 0 {
			t.Errorf("%v ends with %d:\n%s", p.args, code, p.output())
		}
	}
}

// TestLostLock: a hub that did not renew its lock in time ends when another hub has it; until then it takes it again.
func TestLostLock(t *testing.T) {
	nc, err := nats.Connect(natsServer(t, server.Options{JetStream: true}).ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	n := names{defaultQueue}
	first, err := takeLock(t.Context(), nc, n, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := first.bucket.Delete(t.Context(), lockKey); err != nil { // as if it had expired
			t.Fatal(err)
		}
		if err := first.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.bucket.Delete(t.Context(), lockKey); err != nil {
		t.Fatal(err)
	}
	second, err := takeLock(t.Context(), nc, n, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.renew(t.Context()); !errors.Is(err, errSecondHub) {
		t.Errorf("the hub that has lost its lock says %v", err)
	}
	if err := first.release(t.Context()); err == nil {
		t.Error("the hub that has lost its lock releases that of another hub")
	}
	if err := second.renew(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRefusedWorkers: a worker of another version, one without a key beyond loopback, and one whose user does not trust
// the councils of the hub; with the key a worker may work, and do nothing else.
func TestRefusedWorkers(t *testing.T) {
	dir := study(t, endpoints("http://127.0.0.1:1/v1", "", "", 1), 1)
	port := freePort(t)
	hub, address := startHub(t, dir, "0.0.0.0:"+port), "127.0.0.1:"+port
	hub.expect("listening on", 30*time.Second)
	key := filepath.Join(dir, "run", "hub", "worker.key")
	for name, c := range map[string]struct {
		env, args []string
		says      string
	}{
		"version": {[]string{asProgram + "=9.9"}, []string{"--key", key}, "this worker is synod 9.9: install the same"},
		"no key":  {nil, nil, "--key FILE"},
		"trust":   {nil, []string{"--key", key}, "sends questions to http://127.0.0.1:1/v1 with the key in"},
	} {
		w := runWorker(t, c.env, dir, name, address, c.args...)
		if code := w.code(time.Minute); code != 1 || !strings.Contains(w.output(), c.says) {
			t.Errorf("%s: exit code %d:\n%s", name, code, w.output())
		}
	}
	nc, err := dial(address, key, natsAccess{})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, subject := range []string{"synod.sweep.work", "$JS.API.STREAM.DELETE.SYNOD_sweep", "_INBOX.x"} {
		if m, err := nc.Request(subject, []byte("{}"), time.Second); err == nil {
			t.Errorf("a worker may send to %s: %s", subject, m.Data)
		}
	}
	if err := nc.LastError(); err == nil || !strings.Contains(err.Error(), "ermission") {
		t.Errorf("the server says %v", err)
	}
	if m, err := nc.Request("synod.sweep.hub.claim", []byte(`{"sweep": "x"}`), time.Second); err != nil ||
		!strings.Contains(string(m.Data), "another hub") {
		t.Errorf("a request of a stranger: %v, %v", m, err)
	}
}

// TestDiskFull: a hub whose disk is full ends and loses nothing: the workers keep what they have finished, and when
// there is room the next hub takes it.
func TestDiskFull(t *testing.T) {
	dir := study(t, simulated(60), 2)
	want := alone(t, dir)
	small := filepath.Join(dir, "small")
	if err := os.Mkdir(small, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", small).CombinedOutput()
	if err != nil {
		t.Skipf("no small file system can be mounted here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", small).Run() })
	run := filepath.Join(dir, "run")
	if err := os.CopyFS(filepath.Join(small, "run"), os.DirFS(run)); err != nil {
		t.Skipf("the folder does not fit: %v", err)
	}
	if err := os.RemoveAll(run); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(small, "run"), run); err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + freePort(t)
	hub := startHub(t, dir, address)
	w := runWorker(t, nil, dir, "w", address, "--parallel", "2")
	if code := hub.code(time.Minute); code != 1 || !strings.Contains(hub.output(), "go on with") &&
		!strings.Contains(hub.output(), "no space") && !strings.Contains(hub.output(), "full") {
		t.Fatalf("the hub ends with %d:\n%s", code, hub.output())
	}
	t.Logf("the hub: %s", hub.output())
	if out, err := exec.Command("mount", "-o", "remount,size=200m", small).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hub.again()
	if a, b := hub.code(2*time.Minute), w.code(time.Minute); a != 0 || b != 0 {
		t.Fatalf("exit codes %d and %d:\n%s\n%s", a, b, hub.output(), w.output())
	}
	checkTable(t, dir, want, 120)
}
