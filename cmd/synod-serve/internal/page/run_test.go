package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/record/certificate"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

// stubbed is a council of five seats behind the server at a URL, which decides by its first answers.
func stubbed(url string) string {
	return `council: stubbed
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
models: {stub: {provider: openai, url: "` + url + `", model: stub, attempts: 1, max_tokens: 100}}
seats: [{id: s, model: stub, count: 5}]
`
}

const sum = "What is 17 + 25?"

// asked puts a question, waits for its end and returns the address and the page of the run.
func (h *house) asked(t testing.TB, fields ...string) (string, seen) {
	t.Helper()
	path := h.begin(t, fields...)
	return path, h.until(t, path, func(body string) bool { return !strings.Contains(body, `sse-connect="/runs/`) })
}

// begin puts a question and returns the address of its run.
func (h *house) begin(t testing.TB, fields ...string) string {
	t.Helper()
	page := h.post(t, "/ask", append([]string{"csrf", h.get(t, "/").token(t)}, fields...)...)
	path := page.Request.URL.Path
	if page.StatusCode != 200 || !strings.HasPrefix(path, "/runs/req-") {
		t.Fatal(page.Status, path, page.body)
	}
	return path
}

// until loads a page again until its text is as wanted.
func (h *house) until(t testing.TB, path string, wanted func(body string) bool) seen {
	t.Helper()
	page := h.get(t, path)
	for begun := time.Now(); !wanted(page.body); page = h.get(t, path) {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("the page stays what it is: ", page.body)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return page
}

func contains(t testing.TB, what string, page seen, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(page.body, want) {
			t.Errorf("%s (%s) lacks %q", what, page.Status, want)
		}
	}
	if t.Failed() {
		t.Log(page.body)
	}
}

// TestAskAndLookBack: all pages of a run without JavaScript, from the question to the shared file. The page of a
// run can be reloaded and leads to everything else.
func TestAskAndLookBack(t *testing.T) {
	server := llmtest.Start(t, func(c llmtest.Call) string { return "I add them.\nAnswer: 42" })
	h := open(t, map[string]string{"stubbed": stubbed(server.URL)})
	contains(t, "the form", h.get(t, "/"), "stubbed · 5 members", "F=1", `name="deadline"`,
		`href="/?q=Which`)
	path, run := h.asked(t, "question", sum, "council", "stubbed", "system", "Be brief.", "deadline", "60s",
		"calls", "500")
	contains(t, "the run", run, "What is 17 &#43; 25?", `<p class="answer"><bdi>42</bdi>`, "members had heard others",
		`class="drawing"`, "alone", `class="chip c0"`, "Be brief.", "Certificate", "5 of 5", "5 of 5 seats agree",
		`<div class="prose" dir="auto"><p>I add them.</p>`, `class="bar"`)
	contains(t, "the calls", h.get(t, path+"/calls"), "Reply", "I add them.", "Be brief.", "+ ", "tokens")
	contains(t, "the history", h.get(t, "/history?q=17+%2B&status=agreed"), path, "42", "agreed")
	contains(t, "an empty history", h.get(t, "/history?q=nothing"), "No run fits")
	contains(t, "ask again", h.get(t, "/?from="+strings.TrimPrefix(path, "/runs/")), "What is 17 &#43; 25?</textarea>",
		"Be brief.</textarea>")
	other, _ := h.asked(t, "question", sum, "council", "stubbed", "form", "number")
	contains(t, "the comparison", h.get(t, "/compare?a="+path[6:]+"&b="+other[6:]), "at the end", "s5")
	var out struct {
		Status  string
		Outcome struct {
			Answer string
			Seed   uint64
		}
	}
	export := h.get(t, path+"/json")
	err := json.Unmarshal([]byte(export.body), &out)
	if err != nil || out.Status != "agreed" || out.Outcome.Answer != "42" {
		t.Error(err, export.body)
	}
	if got := h.get(t, path+"/journal"); !strings.HasPrefix(got.body, `{"k":"head"`) {
		t.Error(got.Status, got.body)
	}
	if c, err := certificate.Parse([]byte(h.get(t, path+"/certificate").body)); err != nil {
		t.Error("the certificate:", err)
	} else if _, err := certificate.Verify(c, nil); err != nil {
		t.Error("the certificate:", err)
	}
	share := h.get(t, path+"/share")
	contains(t, "the file", share, "<style>", "42", "default-src 'none'", `class="drawing"`)
	if m := regexp.MustCompile(`(?i)<script|<form|<link|src=|https?://|href="/`).FindString(share.body); m != "" {
		t.Errorf("the file has %q", m)
	}
	soon := time.Now().Add(50 * time.Millisecond)
	if _, _, err := h.store.NewKey(store.Key{Name: "notebook", TokensPerDay: 2_000_000, Expires: soon}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(soon))
	contains(t, "keys and spend", h.get(t, "/keys"), "Spend by day", "without a key", "stubbed", "$0.00", "notebook",
		"tokens a day at most", `<td class="n">2000000</td>`, "expired")
}

// TestSimulatedIsSaid: beside the decision stands that its members are no models, also in the file.
func TestSimulatedIsSaid(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	path, run := h.asked(t, "question", sum, "council", "dice")
	contains(t, "the run", run, `<span class="badge quiet">simulated members</span>`)
	contains(t, "the file", h.get(t, path+"/share"), `<span class="badge quiet">simulated members</span>`)
}

// TestAskMistakes: what was typed stays, beside what is wrong and what is allowed.
func TestAskMistakes(t *testing.T) {
	h := open(t, map[string]string{"dice": dice})
	token := h.get(t, "/").token(t)
	for _, c := range []struct {
		field, value, want string
		status             int
	}{
		{"deadline", "soon", "soon", 400}, {"calls", "-1", "must be a number above 0", 400},
		{"calls", "NaN", "must be a number above 0", 400}, {"council", "none", "there is no model none", 404},
		{"council", "solo:dice", "there is no model", 404}, {"form", "poem", "poem", 400},
		{"protocol", "chaos", "chaos", 400}, {"schema", "{", "is no JSON", 400},
		{"question", " ", "Type a question", 400},
	} {
		fields := map[string]string{"csrf": token, "council": "dice", "question": sum}
		fields[c.field] = c.value
		var list []string
		for k, v := range fields {
			list = append(list, k, v)
		}
		got := h.post(t, "/ask", list...)
		if got.StatusCode != c.status || !strings.Contains(got.body, c.want) ||
			c.field != "question" && !strings.Contains(got.body, "What is 17 &#43; 25?</textarea>") {
			t.Errorf("%s %q: %s %s", c.field, c.value, got.Status, got.body)
		}
	}
	for _, path := range []string{"/runs/req-none", "/runs/..%2f..%2fx", "/runs/CON/calls", "/compare?a=x",
		"/runs/x/share"} {
		if got := h.get(t, path); got.StatusCode != 404 {
			t.Error(path, got.Status)
		}
	}
	if got := h.get(t, "/history?from=yesterday"); got.StatusCode != 400 {
		t.Error(got.Status)
	}
}

// TestOwnRunsOnly: a key sees its own runs, keys and spend, and nobody else's, on every route.
func TestOwnRunsOnly(t *testing.T) {
	h := open(t, map[string]string{"dice": dice}, func(o *gateway.Options) { o.NeedKey = true })
	alice, bob := h.key(t, store.Key{Name: "alice"}), h.key(t, store.Key{Name: "bob", Councils: []string{"other"}})
	h.login(t, alice)
	path, _ := h.asked(t, "question", sum, "council", "dice")
	contains(t, "alice's spend", h.get(t, "/keys"), "alice", "dice")
	h.post(t, "/logout", "csrf", h.get(t, "/").token(t))
	h.login(t, bob)
	for _, more := range []string{"", "/calls", "/json", "/journal", "/share", "/certificate"} {
		if got := h.get(t, path+more); got.StatusCode != 404 || strings.Contains(got.body, "17 &#43;") {
			t.Error(more, got.Status, got.body)
		}
	}
	events := h.get(t, path+"/events")
	stop := h.post(t, path+"/stop", "csrf", h.get(t, "/").token(t))
	if events.StatusCode != 404 || stop.StatusCode != 404 {
		t.Error(events.Status, stop.Status)
	}
	for _, page := range []string{"/history", "/keys", "/?from=" + path[6:], "/compare?a=" + path[6:]} {
		if got := h.get(t, page); strings.Contains(got.body, "17 &#43;") ||
			strings.Contains(got.body, "alice") {
			t.Error(page, got.body)
		}
	}
	if got := h.get(t, "/"); strings.Contains(got.body, "dice") {
		t.Error("bob is offered a council that his key may not use")
	}
}

// TestLive: the stream of a run shows who answered and ends with done; stopping cancels the calls of members.
func TestLive(t *testing.T) {
	hold := make(chan struct{})
	var open_, all atomic.Int64
	server := llmtest.Start(t, func(c llmtest.Call) string {
		if all.Add(1) > 3 {
			open_.Add(1)
			defer open_.Add(-1)
			<-hold
		}
		return "Answer: 42"
	})
	h := open(t, map[string]string{"stubbed": stubbed(server.URL)})
	page := h.post(t, "/ask", "csrf", h.get(t, "/").token(t), "question", sum, "council", "stubbed")
	path := page.Request.URL.Path
	contains(t, "the live page", page, "sse-connect", "Stop the run", `http-equiv="refresh"`)
	if got := h.get(t, path+"/share"); got.StatusCode != http.StatusConflict {
		t.Error("a run that goes on is shared:", got.Status)
	}
	events, err := h.viewer.Get(h.url + path + "/events") // returns with the first event
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	for begun := time.Now(); open_.Load() < 2; time.Sleep(time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("no call is waiting")
		}
	}
	stopped := h.post(t, path+"/stop", "csrf", page.token(t))
	close(hold)
	contains(t, "the stopped run", stopped, "stopped", "No decision")
	stream, err := io.ReadAll(events.Body)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the stream", seen{events, string(stream)}, "event: status\n", "event: meter\n", "event: board\n",
		"event: done\n", "of 5 members")
	if rows, err := h.store.Search(t.Context(), store.Filter{Status: "stopped"}, 9); err != nil || len(rows) != 1 {
		t.Error(rows, err)
	}
}

// TestFiles: a file of the form reaches the members, and its name is shown.
func TestFiles(t *testing.T) {
	server := llmtest.Start(t, func(c llmtest.Call) string { return "Answer: red" })
	h := open(t, map[string]string{"stubbed": stubbed(server.URL)})
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for k, v := range map[string]string{"csrf": h.get(t, "/").token(t), "council": "stubbed", "form": "text",
		"question": "Which colour?"} {
		if err := w.WriteField(k, v); err != nil {
			t.Fatal(err)
		}
	}
	f, err := w.CreateFormFile("file", "<b>dot.png")
	if err == nil {
		err = png.Encode(f, image.NewGray(image.Rect(0, 0, 1, 1)))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/ask", &body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	page := h.do(t, req)
	if page.StatusCode != 200 {
		t.Fatal(page.Status, page.body)
	}
	for begun := time.Now(); strings.Contains(page.body, `sse-connect="/runs/`) && time.Since(begun) < 20*time.Second; {
		time.Sleep(5 * time.Millisecond)
		page = h.get(t, page.Request.URL.Path)
	}
	contains(t, "the run", page, "image/png", "red")
}

// TestTrouble: members whose calls fail are named with the reason, beside the decision of the others; a run of a
// client of the API is shown while it goes on, without a decision.
func TestTrouble(t *testing.T) {
	hold := make(chan struct{})
	server := llmtest.Start(t, func(c llmtest.Call) string {
		if strings.Contains(c.User, "hold on") {
			<-hold
		}
		return "Answer: 42"
	}, llmtest.For("broken", llmtest.Unauthorized()))
	council := strings.Replace(stubbed(server.URL), "seats: [", `seats: [{id: bad, model: broken}, `, 1)
	council = strings.Replace(council, "models: {", `models: {broken: {provider: openai, url: "`+server.URL+
		`", model: broken, attempts: 1}, `, 1)
	h := open(t, map[string]string{"mixed": council})
	_, run := h.asked(t, "question", sum, "council", "mixed")
	contains(t, "the run", run, "Late and failed members", "<b><bdi>bad</bdi></b>", "auth",
		`<p class="answer"><bdi>42</bdi>`)

	done := make(chan seen)
	go func() {
		req, err := http.NewRequest(http.MethodPost, h.url+"/v1/chat/completions", strings.NewReader(
			`{"model": "mixed", "messages": [{"role": "user", "content": "What is 1 + 1? hold on"}]}`))
		if err != nil {
			t.Error(err)
		}
		req.Header.Set("Content-Type", "application/json")
		done <- h.do(t, req)
	}()
	var rows []store.Row
	for begun := time.Now(); len(rows) == 0 && time.Since(begun) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
		rows, _ = h.store.Search(t.Context(), store.Filter{Status: "open"}, 1)
	}
	if len(rows) == 0 {
		t.Fatal("the request is not in the store")
	}
	path := "/runs/" + rows[0].ID
	going := h.get(t, path)
	contains(t, "a run of the API", going, "This run goes on", "hold on", `http-equiv="refresh"`)
	if strings.Contains(going.body, "No decision") || strings.Contains(going.body, `class="decision`) {
		t.Error("a run that goes on has a decision: ", going.body)
	}
	if got := h.get(t, path+"/share"); got.StatusCode != http.StatusConflict {
		t.Error("it is shared:", got.Status)
	}
	close(hold)
	if got := <-done; got.StatusCode != 200 {
		t.Error(got.Status, got.body)
	}
	contains(t, "a run of the API", h.get(t, path), `<p class="answer"><bdi>42</bdi>`, "by chat")
}
