package gateway

import (
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
)

// TestBegin: a question of this process goes the way of a request: it is watched, counted and kept. Stop cancels
// its calls, and the store says that it was stopped.
func TestBegin(t *testing.T) {
	w := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"stubbed": stubbed(w.URL + "/v1")})
	var replies, notes atomic.Int64
	eyes := func(*Running) Watch {
		return Watch{Replied: func(synod.NodeID, *synod.Reply) { replies.Add(1) },
			Noted: func(synod.NodeID, *synod.Opinion) { notes.Add(1) }}
	}
	r, e := h.Begin("page", nil, []byte(questionBody("stubbed", sum)), eyes)
	if e != nil {
		t.Fatal(e)
	}
	<-r.Done()
	a, e := r.Result()
	if e != nil || a.Choices[0].Text != "42" || replies.Load() != w.total.Load() || notes.Load() < 5 {
		t.Fatal(e, a, replies.Load(), notes.Load())
	}
	row := h.rows(t)["agreed"]
	if len(row) != 1 || row[0].API != "page" || row[0].ID != r.ID || row[0].Answer != "42" || row[0].Question != sum {
		t.Errorf("%+v", row)
	}
	release := w.stop()
	defer release()
	if r, e = h.Begin("page", nil, []byte(questionBody("stubbed", "What is 3 + 4?")), eyes); e != nil {
		t.Fatal(e)
	}
	until(t, 5*time.Second, "asked", func() bool { return w.open.Load() == 5 })
	r.Stop()
	until(t, 5*time.Second, "cancelled", func() bool { return w.open.Load() == 0 })
	<-r.Done()
	if _, e = r.Result(); e == nil || e.Code != "stopped" || len(h.rows(t)["stopped"]) != 1 {
		t.Error(e, h.rows(t))
	}
	if _, e = h.Begin("page", nil, []byte(questionBody("none", sum)), eyes); e == nil || e.HTTP != 404 {
		t.Error(e)
	}
	if n := h.places.now(); n != 0 {
		t.Error(n, "requests are counted as running")
	}
}
