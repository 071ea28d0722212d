package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// A request can be refused before anything of it is held, also the first one of a gateway.
func TestFirstRequestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		body, header, value string
		status              int
	}{
		"no JSON":    {questionBody("dice", sum), "Content-Type", "application/x-www-form-urlencoded", 415},
		"compressed": {questionBody("dice", sum), "Content-Encoding", "gzip", 415},
		"long":       {questionBody("dice", strings.Repeat("x", 2000)), "Accept", "*/*", 413},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, map[string]string{"dice": dice}, func(o *Options) { o.Settings.Body = 1000 })
			if r := h.post(t, chats, c.body, c.header, c.value); r.StatusCode != c.status {
				t.Errorf("%d %s", r.StatusCode, r.body)
			}
			if r := h.post(t, chats, questionBody("dice", sum)); r.StatusCode != 200 {
				t.Errorf("after it: %d %s", r.StatusCode, r.body)
			}
		})
	}
}

// A key that takes all it can leaves room for another one, and that for a third; nothing is taken beyond the whole.
func TestShare(t *testing.T) {
	s := share{most: 100}
	fill := func(key string) (n int) {
		for ok, _ := s.take(key, 1); ok; ok, _ = s.take(key, 1) {
			n++
		}
		return n
	}
	a, b, c := fill("a"), fill("b"), fill("c")
	if a != 50 || b < 20 || c < 10 || s.now() != int64(a+b+c) {
		t.Errorf("%d, %d and %d of 100", a, b, c)
	}
	if _, own := s.take("a", 1); !own {
		t.Error("the whole is full for a, who has its share")
	}
	if n := fill(""); n != 100-a-b-c {
		t.Errorf("requests without a key get %d", n)
	}
	if ok, own := s.take("d", 1); ok || own {
		t.Error("there is more than the whole")
	}
	for key, n := range map[string]int{"a": a, "b": b, "c": c, "": 100 - a - b - c} {
		s.give(key, int64(n))
	}
	if s.now() != 0 || len(s.by) != 0 {
		t.Errorf("%d are left: %v", s.now(), s.by)
	}
}

// heap returns the bytes of live objects.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Connections of one key that announce long bodies and send 150 bytes take little memory, and those that send much
// leave room for another key.
func TestAnnouncedBodies(t *testing.T) {
	h := open(t, map[string]string{"dice": dice}, func(o *Options) { o.NeedKey, o.Settings.Bodies = true, 16<<20 })
	hog, honest := h.key(t, store.Key{Name: "hog"}), h.key(t, store.Key{Name: "honest"})
	addr := strings.TrimPrefix(h.url, "http://")
	const connections = 400
	before := heap()
	var open []net.Conn
	for range connections {
		c := dial(t, addr, fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
			"application/json\r\nAuthorization: %s\r\nContent-Length: 8000000\r\n\r\n%150s", hog, ""))
		open = append(open, c)
	}
	until(t, 10*time.Second, "all bodies begun", func() bool { return h.bodies.now() >= connections*firstPiece })
	if grown := int64(heap()) - int64(before); grown > 40<<20 {
		t.Errorf("%d connections take %d MiB", connections, grown>>20)
	}
	for _, c := range open { // together far more than all bodies may have
		go io.WriteString(c, strings.Repeat(" ", 200_000))
	}
	until(t, 10*time.Second, "the share of the key taken", func() bool { return h.bodies.now() > 6<<20 })
	long := questionBody("dice", sum, `"user": "`+strings.Repeat("x", 1<<20)+`"`)
	r := h.post(t, chats, long, "Authorization", honest)
	if r.StatusCode != 200 {
		t.Errorf("another key: %d %.200s", r.StatusCode, r.body)
	}
	if n := h.bodies.now(); n > 16<<20 {
		t.Errorf("%d bytes are held", n)
	}
	for _, c := range open {
		c.Close()
	}
	until(t, 10*time.Second, "all is free again", func() bool { return h.bodies.now() == 0 && h.places.now() == 0 })
}

// Requests of one key leave places for another.
func TestPlaces(t *testing.T) {
	up := newUpstream(t)
	release := make(chan struct{})
	up.chunk = func(w io.Writer, flush func()) {
		io.WriteString(w, delta("a", ""))
		flush()
		<-release
		io.WriteString(w, delta("b", "stop")+"data: [DONE]\n\n")
	}
	ten := func(o *Options) { o.NeedKey, o.Settings.AtOnce = true, 10 }
	h := open(t, map[string]string{"seven": stubbed(up.URL)}, ten)
	hog, honest := h.key(t, store.Key{Name: "hog"}), h.key(t, store.Key{Name: "honest"})
	codes := make(chan int, 20)
	for range 20 {
		go func() {
			r := h.post(t, chats, questionBody("solo:stub", "hi", `"stream": true`), "Authorization", hog)
			codes <- r.StatusCode
		}()
	}
	for range 15 {
		if code := <-codes; code != http.StatusTooManyRequests {
			t.Errorf("code %d", code)
		}
	}
	if r := h.post(t, chats, questionBody("solo:stub", "hi"), "Authorization", honest); r.StatusCode != 200 {
		t.Errorf("another key: %d %s", r.StatusCode, r.body)
	}
	close(release)
	for range 5 {
		if code := <-codes; code != 200 {
			t.Errorf("code %d", code)
		}
	}
}
