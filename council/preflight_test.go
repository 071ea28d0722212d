package council_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/llm"
)

// lister lists the models x and y, and hangs where the path begins with /slow.
func lister(t *testing.T) string {
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/slow"):
			<-over
		case strings.HasSuffix(r.URL.Path, "/models"):
			fmt.Fprint(w, `{"data": [{"id": "x"}, {"id": "y"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(over) })
	return s.URL
}

// Each model is checked once, however many seats it has. What would fail is told apart from
// what could not be checked.
func TestPreflight(t *testing.T) {
	url := lister(t)
	c := convene(t, fmt.Sprintf(`models:
  good: {provider: openai, url: "%[1]s/v1", model: x}
  other: {provider: openai, url: "%[1]s/v1", model: z}
  gone: {provider: openai, url: "http://127.0.0.1:1/v1", model: x}
  slow: {provider: openai, url: "%[1]s/slow/v1", model: x}
  dice: {provider: simulated}
seats: [{id: a, model: good, count: 2}, {id: b, model: other}, {id: c, model: gone}, {id: d, model: slow},
  {id: e, model: dice}, {id: f, model: good}]
`, url))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	checks := c.Preflight(ctx)
	if len(checks) != 5 {
		t.Fatalf("%d checks: %+v", len(checks), checks)
	}
	for i, want := range []struct {
		model, seats, found string
		status              synod.Status // "": no failure
		advice              string
	}{
		{"good", "[a1 a2 f]", "lists the model", "", ""},
		{"other", "[b]", "", synod.Unavailable, "correct models.other.model"},
		{"gone", "[c]", "", synod.Unavailable, "start the server at 127.0.0.1:1, or correct models.gone.url"},
		{"slow", "[d]", "not checked: ", "", ""},
		{"dice", "[e]", "", "", ""},
	} {
		k := checks[i]
		if k.Model != want.model || fmt.Sprint(k.Seats) != want.seats || !strings.Contains(k.Found, want.found) ||
			want.found == "" && k.Found != "" {
			t.Errorf("%s: %+v", want.model, k)
		}
		if (k.Err == nil) != (want.status == "") || k.Err != nil && k.Err.Status != want.status ||
			!strings.Contains(k.Advice, want.advice) || want.advice == "" && k.Advice != "" {
			t.Errorf("%s: %v, %q", want.model, k.Err, k.Advice)
		}
		if (k.Server == "") != (want.model == "dice") {
			t.Errorf("%s: server %q", want.model, k.Server)
		}
	}
}

// A run is not begun if too few of the members that vote can answer; one that can be decided
// is.
func TestUnreached(t *testing.T) {
	const file = `f: 1
models:
  gone: {provider: openai, url: "http://127.0.0.1:1/v1", model: x}
  dice: {provider: simulated}
`
	for _, c := range []struct {
		seats, reason string // "": the run is begun
		gone          []string
	}{
		{"seats: [{id: a, model: dice, count: 2}, {id: b, model: gone}]", "", nil},
		{"seats: [{id: a, model: dice}, {id: b, model: gone, count: 2}]",
			"2 of 3 members that vote cannot answer, and majority needs 2; no question was asked", []string{"b1",
				"b2"}},
		{"seats: [{id: a, model: dice, count: 2}, {id: b, model: gone}]\nrule: {name: supermajority}", "", nil},
		{"seats: [{id: a, model: dice, count: 3}, {id: b, model: gone, count: 2}]\nrule: {name: supermajority}",
			"2 of 5 members that vote cannot answer, and supermajority needs 4; no question was asked",
			[]string{"b1", "b2"}},
		// Workers of decentllms do not vote.
		{"protocol: {name: decentllms}\nseats: [{id: a, model: gone, role: worker, count: 3}, {id: b, model: dice, " +
			"role: evaluator, count: 4}]", "", nil},
	} {
		these := convene(t, file+c.seats+"\n")
		o := these.Unreached(council.Ask{Question: sum, Seed: 3}, these.Preflight(t.Context()))
		if c.reason == "" {
			if o != nil {
				t.Errorf("%s: the run is not begun: %s", c.seats, o.Reason)
			}
			continue
		}
		if o == nil || o.Reason != c.reason || o.Status != outcome.Degraded || o.Stopped != outcome.Preflight ||
			o.Answer != nil || o.Seed != 3 || o.Question != sum.Text {
			t.Errorf("%s: %+v", c.seats, o)
			continue
		}
		var gone []string
		for _, m := range o.Members {
			if m.Calls.Of(synod.Unavailable) == 1 && m.Trouble != "" {
				gone = append(gone, m.ID)
			} else if m.Calls != (outcome.StatusCount{}) || m.Trouble != "" {
				t.Errorf("%s: %+v", c.seats, m)
			}
		}
		if !slices.Equal(gone, c.gone) {
			t.Errorf("%s: gone are %v", c.seats, gone)
		}
		r := o.Remedies()
		if o.Status != outcome.Degraded || len(r) == 0 || !strings.Contains(r[0].Text, "start the server") {
			t.Errorf("%s: %s, %+v", c.seats, o.Status, r)
		}
	}
}

// The health of a council's models is that of its calls so far; a simulated model has none.
func TestHealth(t *testing.T) {
	c := convene(t, `models:
  gone: {provider: openai, url: "http://127.0.0.1:1/v1", model: x, attempts: 1}
  dice: {provider: simulated}
seats: [{id: a, model: gone, count: 3}, {id: b, model: dice, count: 2}]
`)
	health := func() []council.ModelHealth {
		all := c.Health()
		if len(all) != 2 || fmt.Sprint(all[0].Seats) != "[a1 a2 a3]" || all[0].Info.Server != "127.0.0.1:1" ||
			all[0].Health == nil || all[1].Health != nil {
			t.Fatalf("%+v", all)
		}
		return all
	}
	if h := health()[0].Health; h.State != llm.Closed || len(h.Faults) > 0 {
		t.Errorf("before any call: %+v", h)
	}
	q, err := council.ReadQuestion("What is 17 + 25?", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // a run calls a model without a server once
		if _, err := c.Decide(t.Context(), council.Ask{Question: q}); err != nil {
			t.Fatal(err)
		}
	}
	if h := health()[0].Health; h.State != llm.Open || len(h.Faults) == 0 || h.Faults[0].Status != synod.Unavailable ||
		!strings.Contains(h.Faults[0].Reason, "connect") {
		t.Errorf("after calls that failed: %+v", h)
	}
}

// The check takes no more than half of the time for a question, however long a server is silent.
func TestPreflightWithinDeadline(t *testing.T) {
	url := lister(t)
	c := convene(t, fmt.Sprintf(`models: {slow: {provider: openai, url: "%s/slow/v1", model: x}}
seats: [{id: d, model: slow, count: 3}]
limits: {deadline: 200ms}
`, url))
	began := time.Now()
	if checks := c.Preflight(context.Background()); !strings.Contains(checks[0].Found, "not checked: ") {
		t.Errorf("%+v", checks)
	}
	if took := time.Since(began); took > 4*time.Second { // without the deadline it is 5 s
		t.Errorf("it took %s", took)
	}
}

// Seats of a model whose every call would fail give the reason in the same words, whether they were called or not: one
// line tells of them all.
func TestOneReasonOfAModel(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler()) // another address each time: no breaker knows it
	closed.Close()
	path := filepath.Join(t.TempDir(), "j")
	decide(t, convene(t, fmt.Sprintf(`models:
  good: {provider: simulated}
  gone: {provider: openai, url: "%s/v1", model: x, attempts: 1}
protocol: {name: debate, rounds: 3}
seats: [{id: a, model: good, count: 3}, {id: b, model: gone, count: 2}]
`, closed.URL)), council.Ask{Seed: 1, Journal: path})
	run, err := journal.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]int{}
	for call, r := range run.Replies {
		if call.Node >= 3 {
			reasons[r.Detail]++
		}
	}
	if len(reasons) != 1 || reasons["connection refused: no server listens there (after 1 attempts)"] < 4 {
		t.Errorf("reasons of the seats of one model: %v", reasons)
	}
}
