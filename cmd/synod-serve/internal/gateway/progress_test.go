package gateway

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
)

// While one member hangs, the progress says that the others have answered, and it never counts the one that has not.
func TestProgressCountsReplies(t *testing.T) {
	inner := llmtest.New(llmtest.Fixed("42", 0.9))
	var calls atomic.Int64
	release := make(chan struct{})
	up := serveModel(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			<-release
			w.WriteHeader(400)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(up.Close)
	h := open(t, map[string]string{"five": stubbed(up.URL, "patience: {spare: 0}")})
	fl := &flight{done: make(chan struct{}), changed: make(chan struct{}), waiting: 1, landed: func() {}}
	j, e := h.inquiry(Inquiry{API: "page", Model: "five", Body: []byte(questionBody("five", sum))}, nil)
	if e != nil {
		t.Fatal(e)
	}
	h.start(fl, j)
	answered := func() int { p, _ := fl.now(); return p.Answered }
	until(t, limitOfTests, "four of five", func() bool { return answered() == 4 })
	time.Sleep(20 * time.Millisecond)
	if n := answered(); n != 4 {
		t.Errorf("%d have answered, and four did", n)
	}
	close(release)
	<-fl.done
}
