package llm

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

func yamlSettings(text string) func(any) error {
	return func(into any) error { return yaml.UnmarshalWithOptions([]byte(text), into, yaml.Strict()) }
}

// openStub opens a model of a server with a key in a pool.
func openStub(t *testing.T, p *Pool, url, key, more string) Model {
	t.Helper()
	env := Env{Getenv: func(string) string { return key }, Cache: t.TempDir()}
	m, err := p.Open("openai", yamlSettings("url: "+url+"\nmodel: stub\nkey_env: KEY\n"+more), Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func closeModel(t *testing.T, m Model) {
	t.Helper()
	if err := m.(Closer).Close(); err != nil {
		t.Error(err)
	}
}

// TestPoolManyUsers: a hundred users of one account, whose limits are 10 calls
// at once and 50 calls a second, never exceed them, as the server counts.
//
// The server counts a call as open until it begins to write the reply, which is
// before the client can know of it, so 10 is exact. A request arrives some time
// after it has left, on a busy machine up to some tenths of a second, so calls
// that left a second apart may arrive in less: 51 calls have to take half a
// second, and all calls as long as the limit says, but for half a second. Limits
// of each user would let all calls arrive within half a second.
func TestPoolManyUsers(t *testing.T) {
	const users, callsEach, atOnce, perSecond = 100, 2, 10, 50
	var now, most atomic.Int64
	var mu sync.Mutex
	var came []time.Time
	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Quiet(), llmtest.With(func(x *llmtest.Exchange) {
		mu.Lock()
		came = append(came, time.Now())
		most.Store(max(most.Load(), now.Add(1)))
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
		x.OK()
	}))
	goroutines, files := runtime.NumGoroutine(), openFiles()
	var p Pool
	var wg sync.WaitGroup
	begun := time.Now()
	for user := range users {
		wg.Go(func() {
			m := openStub(t, &p, s.URL, canary, fmt.Sprintf("concurrency: %d\nper_minute: %d", atOnce, 60*perSecond))
			defer closeModel(t, m)
			for i := range callsEach {
				r := ask(t, "?")
				r.Sample = user*callsEach + i
				if _, err := m.Complete(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d calls in %v, at most %d at once", len(came), time.Since(begun).Round(time.Millisecond), most.Load())
	if len(came) != users*callsEach || most.Load() > atOnce {
		t.Errorf("%d calls, %d at once", len(came), most.Load())
	}
	slices.SortFunc(came, time.Time.Compare)
	for i := perSecond; i < len(came); i++ {
		if d := came[i].Sub(came[i-perSecond]); d < 500*time.Millisecond {
			t.Fatalf("%d calls within %v", perSecond+1, d)
		}
	}
	least := time.Second*(users*callsEach/perSecond-1) - 500*time.Millisecond
	if took := came[len(came)-1].Sub(came[0]); took < least {
		t.Errorf("%d calls came within %v", len(came), took)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("%v for %d calls at %d a second", took, len(came), perSecond)
	}
	for begun := time.Now(); runtime.NumGoroutine() > goroutines ||
		openFiles() > files; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("%d goroutines, %d before; %d files, %d before", runtime.NumGoroutine(), goroutines, openFiles(),
				files)
		}
	}
	if n := len(p.models); n != 1 {
		t.Errorf("%d models in the pool", n)
	}
}

// openFiles counts the open files of this process; 0 where that is not known.
func openFiles() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

// bottom is the client within the layers.
func bottom(m Model) Model {
	for {
		l, ok := m.(interface{ Within() Model })
		if !ok {
			return m
		}
		m = l.Within()
	}
}

// TestPoolSharing: users share a client where account and settings are equal, a
// limiter where account and model are, and nothing with another key or pool.
func TestPoolSharing(t *testing.T) {
	s := llmtest.Start(t, nil)
	var p, q Pool
	a := openStub(t, &p, s.URL, canary, "")
	for name, x := range map[string]struct {
		m               Model
		client, limiter bool
	}{
		"equal":         {openStub(t, &p, s.URL, canary, "concurrency: 3"), true, true},
		"other sampler": {openStub(t, &p, s.URL, canary, "temperature: 0.5"), false, true},
		"other timeout": {openStub(t, &p, s.URL, canary, "timeout: 1s"), false, true},
		"other key":     {openStub(t, &p, s.URL, "another-key", ""), false, false},
		"other pool":    {openStub(t, &q, s.URL, canary, ""), false, false},
	} {
		if got := bottom(a) == bottom(x.m); got != x.client {
			t.Errorf("%s: client shared: %v", name, got)
		}
		if got := layerOf[*limited](a).l == layerOf[*limited](x.m).l; got != x.limiter {
			t.Errorf("%s: limits shared: %v", name, got)
		}
		closeModel(t, x.m)
	}
	if _, err := a.Complete(t.Context(), ask(t, "?")); err != nil {
		t.Errorf("after others were closed: %v", err)
	}
	closeModel(t, a)
	closeModel(t, a) // the second time does nothing
	for key := range p.models {
		if n := p.models[key].users; n != 0 || strings.Contains(fmt.Sprint(key), canary) {
			t.Errorf("%v: %d users", key, n)
		}
	}
}

// layerOf finds a layer of a stack.
func layerOf[L Model](m Model) L {
	for {
		if l, ok := m.(L); ok {
			return l
		}
		m = m.(interface{ Within() Model }).Within()
	}
}

// TestPoolRemembers: limits and breakers outlive their users for an hour, and
// the lowest of the limits that are open counts.
func TestPoolRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pool
		down := true
		model := fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
			if down {
				return failing(synod.Unavailable, false)
			}
			time.Sleep(time.Second)
			return fine("42")
		}}
		call := func(m Model) error {
			_, err := m.Complete(t.Context(), Request{})
			return err
		}
		a := pooled(&p, model, testLayers{})
		for range 3 {
			_ = call(a)
		}
		closeModel(t, a)
		a, down = pooled(&p, model, testLayers{}), false
		if err := call(a); err == nil || !strings.Contains(err.Error(), "not called for another 30s") {
			t.Errorf("the breaker was forgotten: %v", err)
		}
		time.Sleep(31 * time.Second)
		b := pooled(&p, model, testLayers{limits: limits{concurrency: 1, perMinute: 6}})
		begun := time.Now()
		_, _, _ = call(a), call(b), call(a)
		if took := time.Since(begun); took != 21*time.Second {
			t.Errorf("three calls at 6 a minute took %v", took)
		}
		closeModel(t, b)
		begun = time.Now()
		_, _ = call(a), call(a)
		if took := time.Since(begun); took != 2*time.Second {
			t.Errorf("two calls without limits took %v", took)
		}
		closeModel(t, a)
		time.Sleep(idleTime + time.Second)
		closeModel(t, pooled(&p, named{name: "other"}, testLayers{}))
		if len(p.models) != 1 {
			t.Errorf("%d models; the one that was not used for an hour is still kept", len(p.models))
		}
	})
}

// TestPoolCacheShared: councils with one cache folder send an identical call
// once, also at the same time.
func TestPoolCacheShared(t *testing.T) {
	s := llmtest.Start(t, llmtest.Fixed("42", 0.9), llmtest.Latency(50*time.Millisecond))
	var p Pool
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			m, err := p.Open("openai", yamlSettings("url: "+s.URL+"\nmodel: stub\ncache: true"),
				Options{Env: Env{Cache: dir}})
			if err != nil {
				t.Error(err)
				return
			}
			defer closeModel(t, m)
			if reply, err := m.Complete(t.Context(), ask(t, "?")); err != nil || reply.Text == "" {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
	wg.Wait()
	if s.Count() != 1 {
		t.Errorf("%d requests", s.Count())
	}
}
