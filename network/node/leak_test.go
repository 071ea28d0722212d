package node_test

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"synod.dev/synod"
)

var leakQuestions = flag.Int("questions", 200, "questions of TestRunsLeaveNothing, after 200")

// mostPerQuestion bounds what a node may keep in memory of a question that is over, in bytes.
const mostPerQuestion = 1 << 10

// A node keeps at most 1 KB in memory of a question that is over, and no goroutine.
func TestRunsLeaveNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks hundreds of questions")
	}
	net := convene(t, "protocol: {name: majority}\nf: 0\npace: {think: 1s, within: 1s}\n"+
		"models: {m: {provider: simulated, ability: 1}}\nseats: [{id: a, model: m, count: 3}]\n", 210)
	net.startAll()
	client, asked := net.client(), 0
	defer client.Close()
	ask := func(questions int) (bytes, goroutines int) {
		for range questions {
			asked++
			q := synod.Question{Text: fmt.Sprintf("What is %d + 17?", asked), Form: synod.Number}
			if _, err := client.Ask(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(200 * time.Millisecond) // goroutines of the last run end
		return heap(), runtime.NumGoroutine()
	}
	before, goroutines := ask(200)
	after, now := ask(*leakQuestions)
	slope := float64(after-before) / float64(*leakQuestions) / float64(len(net.nodes))
	t.Logf("%d questions after 200: heap %d and %d bytes, %.0f bytes a question and node, goroutines %d and %d",
		*leakQuestions, before, after, slope, goroutines, now)
	if slope > mostPerQuestion {
		t.Errorf("a node keeps %.0f bytes of a question that is over; at most %d are allowed", slope, mostPerQuestion)
	}
	if now > goroutines+10 {
		t.Errorf("%d goroutines are left, after %d", now, goroutines)
	}
}

// heap is what is in use after a collection, in bytes.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
