package page

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/trust"
	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// tier is a council of one tier behind the server at a URL.
func tier(url string) string {
	return `council: tier
protocol: {name: cascade, tiers: [[a, b, c]], p: 0.9}
graph: {family: complete}
f: 0
models:
  a: {provider: openai, url: "` + url + `", model: ma, attempts: 1}
  b: {provider: openai, url: "` + url + `", model: mb, attempts: 1}
  c: {provider: openai, url: "` + url + `", model: mc, attempts: 1}
seats: [{id: a, model: a}, {id: b, model: b}, {id: c, model: c}]
`
}

// A person marks an answer right, wrong, or by its right value, sees it, and withdraws it. Who has no right to label
// sees no button, and a file that is shared has none.
func TestFeedback(t *testing.T) {
	stub := llmtest.Start(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"tier": tier(stub.URL)})
	run, shown := h.asked(t, "question", sum, "council", "tier")
	if !strings.Contains(shown.body, `value="right"`) || !strings.Contains(shown.body, "0 answers of this council") {
		t.Fatalf("%s", shown.body)
	}
	for label, want := range map[string]string{"right": "You said: right.", "wrong": "You said: wrong.",
		"value": "You said: another value is right."} {
		if r := h.post(t, run+"/label", "csrf", shown.token(t), "label", label, "value", "41"); r.StatusCode != 200 ||
			!strings.Contains(r.body, want) || !strings.Contains(r.body, "1 answers of this council are labelled") {
			t.Errorf("%s: %d %s", label, r.StatusCode, r.body)
		}
	}
	if r := h.post(t, run+"/label", "csrf", "wrong", "label", "right"); r.StatusCode != http.StatusForbidden {
		t.Errorf("a wrong token: %d", r.StatusCode)
	}
	r := h.post(t, run+"/label", "csrf", shown.token(t), "label", "value", "value", "<b>x</b>")
	if r.StatusCode != 400 || strings.Contains(r.body, "<b>x") {
		t.Errorf("no number: %d %s", r.StatusCode, r.body)
	}
	r = h.post(t, run+"/label", "csrf", shown.token(t), "label", "withdraw")
	if !strings.Contains(r.body, "0 answers") {
		t.Errorf("withdrawn: %d %s", r.StatusCode, r.body)
	}
	if r := h.get(t, run+"/share"); r.StatusCode != 200 || strings.Contains(r.body, `/label"`) {
		t.Errorf("the shared file has a form: %d", r.StatusCode)
	}
	h.login(t, h.key(t, store.Key{Name: "not"}))
	own, shown := h.asked(t, "question", sum, "council", "tier")
	if strings.Contains(shown.body, `/label"`) {
		t.Error("a key without the right has buttons")
	}
	r = h.post(t, own+"/label", "csrf", shown.token(t), "label", "right")
	n, err := h.store.CountLabels(t.Context(), "tier")
	if r.StatusCode != http.StatusForbidden || n != 0 || err != nil {
		t.Errorf("%d, %d labels, %v", r.StatusCode, n, err)
	}
}

// The page of a council compares labels with what was stated, and warns where that promised too much.
func TestDriftOnPage(t *testing.T) {
	stub := llmtest.Start(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"tier": tier(stub.URL)})
	if r := h.get(t, "/councils/tier"); strings.Contains(r.body, "Labelled answers") {
		t.Error("figures without labels")
	}
	for i := range 60 {
		l := store.Label{Run: fmt.Sprint("r", i), Model: "tier", Mark: "right", Predicted: 0.9, Correct: i%2 == 0}
		if err := h.store.SetLabel(l); err != nil {
			t.Fatal(err)
		}
	}
	r := h.get(t, "/councils/tier")
	for _, want := range []string{"Labelled answers", `aria-label="Share of right answers by stated probability, of 60 `,
		"<td>90.0 %</td><td>50.0 % (", `role="alert">probabilities ` +
			`promise too much: 60 answers were graded, 90 % of them were to be right, and 50 % were`} {
		if !strings.Contains(r.body, want) {
			t.Errorf("no %s in %s", want, r.body)
		}
	}
}

// The pages of keys and of a council say what was saved against the reference model.
func TestSavedOnPages(t *testing.T) {
	stub := llmtest.Start(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"tier": tier(stub.URL), "other": tier(stub.URL)})
	for model, r := range map[string]store.Result{
		"tier":  {Status: "agreed", HTTP: 200, Spent: store.USD(0.25), Alone: store.USD(1), Compared: true},
		"other": {Status: "agreed", HTTP: 200, Spent: store.USD(0.25)}} {
		g, err := h.store.Begin(store.Request{ID: "r-" + model, Model: model})
		if err == nil {
			err = h.store.Settle(g, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/keys": `<td class="n">$1.0000 for 1</td><td class="n">$0.7500</td>`,
		"/councils/tier": "<dt>Saved</dt><dd>$0.7500; the reference model alone would have cost $1.0000, where 1 " +
			"request cost $0.2500",
	} {
		if r := h.get(t, path); !strings.Contains(r.body, want) {
			t.Errorf("%s: no %s in %s", path, want, r.body)
		}
	}
	if r := h.get(t, "/councils/other"); strings.Contains(r.body, "Saved") {
		t.Error("savings of a council without a reference")
	}
}

// graded writes a trust file with 40 questions, of which each member of the tier answered half rightly.
func graded(t *testing.T, path string) {
	t.Helper()
	var all []reliability.Observation
	for q := range 40 {
		for i, m := range []string{"ma", "mb", "mc"} {
			o := reliability.Observation{Question: fmt.Sprint(q), Kind: "number", Member: m, Answer: fmt.Sprint("w", i),
				Label: reliability.Wrong}
			if (q>>i)%2 == 0 {
				o.Answer, o.Label = "r", reliability.Right
			}
			all = append(all, o)
		}
	}
	if err := trust.Update(path, func(h *trust.History) error { h.Add(all); return nil }); err != nil {
		t.Fatal(err)
	}
}

// The form of a question has a field for the least probability of a decision. The page of the run shows it, and a
// mistake in it, or a council without a probability, is said with the form as it was filled.
func TestAtLeastOnPage(t *testing.T) {
	stub := llmtest.Start(t, llmtest.Fixed("42", 0.9))
	file := filepath.Join(t.TempDir(), "trust.json")
	graded(t, file)
	h := open(t, map[string]string{"tier": tier(stub.URL) + "trust: {file: " + strconv.Quote(file) + "}\n",
		"unlabelled": tier(stub.URL)})
	for least, want := range map[string][]string{
		"0.2":    {`class="decision"`, "from 40 labelled questions; a decision needs at least 0.2<"},
		"0.9999": {"no decision", "; a decision needs at least 0.9999<", "and at_least is 0.9999"},
		"":       {`class="decision"`, "from 40 labelled questions<"},
	} {
		_, r := h.asked(t, "question", sum, "council", "tier", "form", "number", "at_least", least)
		contains(t, "at least "+least, r, want...)
	}
	token := h.get(t, "/").token(t)
	for _, c := range [][3]string{{"tier", "often", "Probability at least is &#34;often&#34;"},
		{"tier", "-1", "it must be a number above 0, such as 0.9"}, {"tier", "2", "synod.at_least is 2"},
		{"unlabelled", "0.9", "none without labels"}} {
		r := h.post(t, "/ask", "csrf", token, "question", sum, "council", c[0], "at_least", c[1])
		if r.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %d", c, r.StatusCode)
		}
		contains(t, c[1], r, c[2], `name="at_least" inputmode="decimal" value="`+c[1]+`"`, "<details open>")
	}
}
