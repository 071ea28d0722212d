package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/protocol"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// untaught is a council of one tier without graded questions.
func untaught(url string) string {
	text, _, _ := strings.Cut(tiered(url, ""), "trust:")
	return strings.Replace(text, "[[a, b], [c]]", "[[a, b, c]]", 1)
}

// counted asks a question and returns its run and the probability of the answer.
func (h *house) counted(t *testing.T, model, question string, headers ...string) (string, *protocol.Probability) {
	t.Helper()
	r := h.post(t, chats, questionBody(model, question, `"synod": {"form": "number"}`), headers...)
	var got struct{ Synod Report }
	if r.into(t, &got); r.StatusCode != 200 {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	return r.Header.Get("X-Request-Id"), got.Synod.Probability
}

func (h *house) mark(t *testing.T, run, more string, headers ...string) reply {
	t.Helper()
	return h.post(t, "/v1/synod/feedback", fmt.Sprintf(`{"run": %q, %s}`, run, more), headers...)
}

// fill labels questions until the council has n labels, two of three right.
func (h *house) fill(t *testing.T, model string, from, n int, headers ...string) {
	t.Helper()
	for i := from; i < n; i++ {
		run, _ := h.counted(t, model, fmt.Sprintf("What is %d + 26?", i), headers...)
		label := `"label": "right"`
		if i%3 == 0 {
			label = `"value": "7"`
		}
		if r := h.mark(t, run, label, headers...); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
	}
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
}

// A probability appears with the thirtieth label, says that it rests on feedback, and is gone when the key's labels are
// withdrawn. A question that is asked again counts once, and a label that is given again replaces the first.
func TestFeedback(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"known": untaught(stub.URL), "other": untaught(stub.URL)})
	h.fill(t, "known", 0, 29)
	run, p := h.counted(t, "known", sum)
	if p != nil {
		t.Errorf("29 labels: %+v", p)
	}
	for _, more := range []string{`"label": "wrong"`, `"label": "right"`, `"value": "42.0"`} {
		if r := h.mark(t, run, more); r.StatusCode != 200 {
			t.Errorf("%d %s", r.StatusCode, r.body)
		}
	}
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	again, p := h.counted(t, "known", sum)
	if p == nil || p.Labels != 30 || p.Feedback != 30 || p.Value < 0.5 || p.Value > 0.85 {
		t.Fatalf("30 labels, 20 of them right: %+v", p)
	}
	before := *p
	h.mark(t, again, `"label": "right"`)
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, p = h.counted(t, "known", sum); p == nil || *p != before {
		t.Errorf("the same question again: %+v, before %+v", p, before)
	}
	if _, p = h.counted(t, "other", sum); p != nil {
		t.Errorf("labels of another council count: %+v", p)
	}
	if n, err := h.store.Unlabel("", ""); n != 31 || err != nil {
		t.Errorf("%d labels withdrawn, %v", n, err)
	}
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, p = h.counted(t, "known", sum); p != nil {
		t.Errorf("after the labels were withdrawn: %+v", p)
	}
}

// Graded questions and feedback count together, and the outcome says how many are feedback.
func TestFeedbackBesideGraded(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	file := filepath.Join(t.TempDir(), "trust.json")
	graded(t, file, 40)
	h := open(t, map[string]string{"tiers": tiered(stub.URL, file)})
	h.fill(t, "tiers", 0, 5)
	if _, p := h.counted(t, "tiers", sum); p == nil || p.Labels != 45 || p.Feedback != 5 {
		t.Errorf("%+v", p)
	}
}

// A tier that was not asked in 30 labelled questions has no probability, also when earlier tiers have one: here the
// first tier's is below p, so the second is asked and decides.
func TestFeedbackOfLaterTiers(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	text, _, _ := strings.Cut(tiered(stub.URL, ""), "trust:")
	h := open(t, map[string]string{"tiers": text})
	h.fill(t, "tiers", 0, 30)
	r := h.post(t, chats, questionBody("tiers", sum, `"synod": {"form": "number", "at_least": 0.1}`))
	if r.StatusCode != 422 || !strings.Contains(string(r.body), "is not known") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if _, p := h.counted(t, "tiers", sum); p != nil {
		t.Errorf("%+v", p)
	}
}

// A key that lies about everything moves the probability by its share of the labels, and withdrawing its labels gives
// back what it was, exactly.
func TestFeedbackOfLiar(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"known": untaught(stub.URL)}, func(o *Options) { o.NeedKey = true })
	honest, _ := h.newKey(t, store.Key{Name: "honest", Label: true})
	liar, id := h.newKey(t, store.Key{Name: "liar", Label: true})
	h.fill(t, "known", 0, 40, "X-Api-Key", honest)
	_, before := h.counted(t, "known", sum, "X-Api-Key", honest)
	for i := range 40 {
		run, _ := h.counted(t, "known", fmt.Sprintf("What is %d + 26?", i), "X-Api-Key", liar)
		if r := h.mark(t, run, `"label": "wrong"`, "X-Api-Key", liar); r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.body)
		}
	}
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	_, p := h.counted(t, "known", sum, "X-Api-Key", honest)
	t.Logf("from %.2f to %.2f by a liar with half of the labels", before.Value, p.Value)
	if p.Labels != 80 || p.Value > before.Value-0.2 {
		t.Errorf("%+v, before %+v", p, before)
	}
	if _, err := h.store.Unlabel(id, ""); err != nil {
		t.Fatal(err)
	}
	if err := h.reg.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, p = h.counted(t, "known", sum, "X-Api-Key", honest); *p != *before {
		t.Errorf("%+v after the lies were withdrawn, %+v before", p, before)
	}
}

func (h *house) newKey(t *testing.T, k store.Key) (secret, id string) {
	t.Helper()
	secret, made, err := h.store.NewKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return secret, made.ID
}

// Who may not label, and what cannot be labelled.
func TestFeedbackRefused(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"known": untaught(stub.URL), "dice": dice}, func(o *Options) { o.NeedKey = true })
	may, _ := h.newKey(t, store.Key{Name: "may", Label: true})
	other, _ := h.newKey(t, store.Key{Name: "other", Label: true})
	not, _ := h.newKey(t, store.Key{Name: "not"})
	run, _ := h.counted(t, "known", sum, "X-Api-Key", may)
	mine, _ := h.counted(t, "known", sum, "X-Api-Key", not)
	invented, _ := h.counted(t, "dice", sum, "X-Api-Key", may)
	alone := h.post(t, chats, questionBody("solo:a", sum), "X-Api-Key", may).Header.Get("X-Request-Id")
	right := `"label": "right"`
	for _, test := range []struct {
		key, run, more string
		status         int
		code           string
	}{
		{"", run, right, 401, "invalid_api_key"}, {not, mine, right, 403, "may_not_label"},
		{other, run, right, 404, "run_not_found"}, {may, "req-0", right, 404, "run_not_found"},
		{may, "../../x", right, 404, "run_not_found"}, {may, "", right, 404, "run_not_found"},
		{may, invented, right, 409, "not_labelled"}, {may, alone, right, 409, "not_labelled"},
		{may, run, `"label": "maybe"`, 400, "invalid_value"}, {may, run, `"label": "right", "value": "42"`, 400, "invalid_value"},
		{may, run, `"value": "a horse"`, 400, "invalid_value"}, {may, run, `"value": ""`, 400, "invalid_value"},
		{may, run, `"label": "right", "x": 1`, 400, "invalid_value"}, {may, run, `"label": 7`, 400, "invalid_value"},
		{may, run, `"value": "` + strings.Repeat("9", 70_000) + `"`, 413, "body_too_large"},
	} {
		r := h.mark(t, test.run, test.more, "X-Api-Key", test.key)
		if p := r.problem(t); r.StatusCode != test.status || p.Error.Code != test.code {
			t.Errorf("%+v: %d %s", test, r.StatusCode, r.body)
		}
	}
	if all, err := h.store.Labels(t.Context(), ""); len(all) != 0 || err != nil {
		t.Errorf("%+v %v", all, err)
	}
	if r := h.mark(t, run, right, "X-Api-Key", may); r.StatusCode != 200 {
		t.Fatalf("%d %s", r.StatusCode, r.body)
	}
	if r := h.post(t, "/v1/synod/feedback", `{}`, "X-Api-Key", may, "Content-Type", "text/plain"); r.StatusCode != 415 {
		t.Errorf("no JSON: %d", r.StatusCode)
	}
	for key, want := range map[string]bool{other: false, may: true} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, h.url+"/v1/synod/feedback/"+run, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var said struct{ Deleted bool }
		err = json.NewDecoder(res.Body).Decode(&said)
		if res.Body.Close(); err != nil || said.Deleted != want {
			t.Errorf("%v %v", said, err)
		}
	}
}
