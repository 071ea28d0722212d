package gateway

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod/core/reliability"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// labels are n labels of a council, each of a question of its own, whose answers were to be right with probability 0.9;
// wrong of them are not.
func labels(t *testing.T, st *store.Store, model string, n, wrong int) {
	t.Helper()
	for i := range n {
		id := fmt.Sprintf("%s-%d", model, i)
		l := store.Label{Run: id, Model: model, Mark: MarkRight, Predicted: 0.9, Correct: i >= wrong,
			Answers: []reliability.Observation{{Question: id, Member: "a"}}}
		if err := st.SetLabel(l); err != nil {
			t.Fatal(err)
		}
	}
}

// A council whose labels show that it promises too much is in the log and in the metrics; one of which one answer in
// ten is wrong, as was stated, is not. When its labels are withdrawn the warning is gone.
func TestDriftOfLabels(t *testing.T) {
	h := open(t, map[string]string{})
	m := NewMetrics()
	m.Drift(h.store)
	if text := scraped(m); strings.Contains(text, "synod_probability_drift") {
		t.Errorf("a test without labels: %s", text)
	}
	labels(t, h.store, "good", 80, 8)
	labels(t, h.store, "bad", 80, 24)
	h.WarnOfDrift(t.Context())
	if log := h.log.String(); !strings.Contains(log, "model=bad") || strings.Contains(log, "model=good") ||
		!strings.Contains(log, "80 answers were graded") {
		t.Errorf("%s", log)
	}
	expect := func(want ...string) {
		t.Helper()
		text := scraped(m)
		for _, w := range want {
			if !strings.Contains(text, w+"\n") {
				t.Errorf("no %s in %s", w, text)
			}
		}
	}
	expect(`synod_probability_drift{model="good"} 0`, `synod_probability_drift{model="bad"} 1`)
	expect(`synod_probability_drift{model="bad"} 1`) // it is not tested again
	for i := range 20 {
		if _, err := h.store.Unlabel("", fmt.Sprintf("bad-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	expect(`synod_probability_drift{model="bad"} 0`)
}
