package llm

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"synod.dev/synod"
)

// counting answers "42" and counts its calls; it fails while status is not OK.
func counting(n *int, status *synod.Status) fake {
	var mu sync.Mutex
	return fake{Endpoint, func(context.Context, Request) (synod.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		*n++
		if *status != synod.OK {
			return failing(*status, false)
		}
		return fine("42")
	}}
}

func newTestCache(t *testing.T, dir string) *cache {
	t.Helper()
	c, err := newCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCache(t *testing.T) {
	n, status := 0, synod.OK
	dir := filepath.Join(t.TempDir(), "cache")
	m := newTestCache(t, dir).layer()(counting(&n, &status))
	r := ask(t, "6 x 7?")
	if reply, err := m.Complete(t.Context(), r); err != nil || reply.Reused || reply.Calls != 1 {
		t.Fatalf("%+v, %v", reply, err)
	}
	m = newTestCache(t, dir).layer()(counting(&n, &status)) // a later run
	reply, err := m.Complete(t.Context(), r)
	if err != nil || n != 1 || !reply.Reused || reply.Calls != 0 || reply.Usage != (synod.Usage{}) ||
		reply.Text != "42" {
		t.Errorf("%d calls, %+v, %v", n, reply, err)
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		info, _ := d.Info()
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	})
}

// TestCacheKey: everything that changes an answer changes the key.
func TestCacheKey(t *testing.T) {
	base := func() (string, Request) { return "id", ask(t, "6 x 7?") }
	seen := map[string]string{}
	for name, change := range map[string]func(*string, *Request){
		"nothing":   func(*string, *Request) {},
		"identity":  func(id *string, _ *Request) { *id = "other" },
		"seat":      func(_ *string, r *Request) { r.Seat = "a2" },
		"sample":    func(_ *string, r *Request) { r.Sample = 1 },
		"seed":      func(_ *string, r *Request) { r.Prompt.Seed++ },
		"text":      func(_ *string, r *Request) { r.Prompt.Question.Text += " " },
		"form":      func(_ *string, r *Request) { r.Prompt.Question.Form = synod.Text },
		"exact":     func(_ *string, r *Request) { r.Prompt.Exact = true },
		"purpose":   func(_ *string, r *Request) { r.Prompt.Purpose = synod.Scoring },
		"candidate": func(_ *string, r *Request) { r.Prompt.Candidate = "1" },
		"typed":     func(_ *string, r *Request) { r.Templates = nil },
		"completion": func(_ *string, r *Request) {
			*r = r.rendering()
			if _, err := r.Chat(); err != nil {
				t.Fatal(err)
			}
			r.chat.chat.Completion = "Question: 6 x 7?\nAnswer:"
		},
		"peers": func(_ *string, r *Request) { r.Prompt.Peers = []synod.Rated{{Answer: "1", Score: 0.5}} },
	} {
		id, r := base()
		change(&id, &r)
		key := cacheKey(id, r)
		if other := seen[key]; other != "" {
			t.Errorf("%s and %s share a key", name, other)
		}
		seen[key] = name
	}
	id, r := base()
	id2, r2 := base()
	if cacheKey(id, r) != cacheKey(id2, r2) {
		t.Error("the same request has two keys")
	}
}

// TestCacheCorrupt flips every bit of an entry and cuts it at every byte: no
// corrupt reply is returned.
func TestCacheCorrupt(t *testing.T) {
	n, status := 0, synod.OK
	c := newTestCache(t, t.TempDir())
	m := c.layer()(counting(&n, &status))
	r := ask(t, "6 x 7?")
	_, _ = m.Complete(t.Context(), r)
	key := cacheKey(m.Info().Identity, r)
	good, err := os.ReadFile(c.path(key))
	if err != nil {
		t.Fatal(err)
	}
	bad := func(b []byte) {
		if err := os.WriteFile(c.path(key), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if reply, ok := c.load(key); ok {
			t.Fatalf("read %+v out of %q", reply, b)
		}
	}
	for i := range good {
		for bit := range 8 {
			b := append([]byte(nil), good...)
			b[i] ^= 1 << bit
			bad(b)
		}
		bad(good[:i])
	}
	before := n
	if reply, err := m.Complete(t.Context(), r); err != nil || n != before+1 || reply.Reused {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, ok := c.load(key); !ok {
		t.Error("a corrupt entry was not replaced")
	}
}

func TestCacheKeepsNoFailure(t *testing.T) {
	n, status := 0, synod.Unavailable
	m := newTestCache(t, t.TempDir()).layer()(counting(&n, &status))
	r := ask(t, "?")
	_, err := m.Complete(t.Context(), r)
	status = synod.OK
	reply, err2 := m.Complete(t.Context(), r)
	if err == nil || err2 != nil || reply.Reused || n != 2 {
		t.Errorf("%v, %v, %+v", err, err2, reply)
	}
}

// TestCacheAtOnce: identical concurrent calls are sent once; if the one that was
// sent is stopped, another one is sent for the others.
func TestCacheAtOnce(t *testing.T) {
	dir := t.TempDir()
	r := ask(t, "?")
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := newTestCache(t, dir).layer()(fake{Endpoint, func(ctx context.Context, _ Request) (synod.Reply, error) {
			n++
			if !sleep(ctx, time.Minute) {
				return failed(synod.Reply{Calls: 1}, ended(ctx, "waiting"))
			}
			return fine("42")
		}})
		stopped, cancel := context.WithCancel(t.Context())
		go func() { _, _ = m.Complete(stopped, r) }()
		synctest.Wait()
		var wg sync.WaitGroup
		calls := make([]int, 5)
		for i := range calls {
			wg.Go(func() {
				reply, err := m.Complete(t.Context(), r)
				if err != nil || reply.Text != "42" {
					t.Errorf("%+v, %v", reply, err)
				}
				calls[i] = reply.Calls
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		sum := 0
		for _, c := range calls {
			sum += c
		}
		if n != 2 || sum != 1 {
			t.Errorf("%d calls, of which %d are reported", n, sum)
		}
	})
}

func TestCacheThatCannotBeWritten(t *testing.T) {
	n, status := 0, synod.OK
	dir := t.TempDir()
	c := newTestCache(t, dir)
	m := c.layer()(counting(&n, &status))
	r := ask(t, "?")
	if err := os.WriteFile(filepath.Join(dir, cacheKey(m.Info().Identity, r)[:2]), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reply, err := m.Complete(t.Context(), r)
	if err != nil || reply.Text != "42" {
		t.Errorf("%+v, %v", reply, err)
	}
	if m.(Closer).Close() == nil {
		t.Error("a reply that could not be kept is no error")
	}
}
