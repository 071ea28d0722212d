package gateway

import (
	"math"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
)

// A response says what the question would have cost the reference model alone; the accounting and the metrics sum it.
// A council without a reference has no such figures.
func TestReferenceModel(t *testing.T) {
	usage := llmtest.Usage(`{"prompt_tokens":200,"completion_tokens":20}`)
	stub := watch(t, llmtest.Fixed("42", 0.9), llmtest.With(usage))
	text, _, _ := strings.Cut(tiered(stub.URL, ""), "trust:")
	text = strings.NewReplacer("ma,", "stub,", "mb,", "stub,", "mc,", "stub,").Replace(text)
	h := open(t, map[string]string{"plain": text, "measured": text + "reference: {model: a}\n",
		"mean": text + "reference: {model: c, usd: 0.003}\n", "unknown": text + "reference: {model: c}\n"})
	m := NewMetrics()
	h.o.Observe = m.Observe
	const call = 0.0004 // USD, and two are made
	for model, want := range map[string]struct {
		usd      *float64
		measured bool
	}{"measured": {new(call), true}, "mean": {new(0.003), false}, "unknown": {nil, false}} {
		r := h.post(t, chats, questionBody(model, sum, `"synod": {"form": "number"}`))
		var got struct{ Synod Report }
		r.into(t, &got)
		ref := got.Synod.Reference
		if r.StatusCode != 200 || ref == nil || (ref.USD == nil) != (want.usd == nil) || ref.Measured != want.measured {
			t.Fatalf("%s: %d %+v %s", model, r.StatusCode, ref, r.body)
		}
		if ref.USD != nil && (math.Abs(*ref.USD-*want.usd) > 1e-12 || math.Abs(*ref.Saved-(*want.usd-2*call)) > 1e-12) {
			t.Errorf("%s: %s", model, ref.String())
		}
	}
	if r := h.post(t, chats, questionBody("plain", sum, `"synod": {"form": "number"}`)); strings.Contains(string(r.body),
		"reference") {
		t.Errorf("%s", r.body)
	}
	spend, err := h.store.SpendByModel(t.Context(), "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for model, saved := range map[string]float64{"measured": call - 2*call, "mean": 0.003 - 2*call} {
		if x := spend[model]; x.Compared != 1 || math.Abs(x.Saved().USD()-saved) > 1e-9 || x.Against != x.Spent {
			t.Errorf("%s: %+v, want %v saved", model, x, saved)
		}
	}
	if spend["plain"].Compared != 0 || spend["unknown"].Compared != 0 {
		t.Errorf("%+v", spend)
	}
	for _, want := range []string{`synod_reference_usd_total{model="mean"} 0.003`,
		`synod_compared_usd_total{model="mean"} 0.0008`} {
		if text := scraped(m); !strings.Contains(text, want+"\n") || strings.Contains(text, `usd_total{model="unknown"}`) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
