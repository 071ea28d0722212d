package gateway

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// kinds returns the names of a stream's events in order, and the text of its deltas.
func kinds(t *testing.T, body []byte) (names []string, text string) {
	t.Helper()
	seq := -1
	for block := range strings.SplitSeq(string(body), "\n\n") {
		name, data, ok := strings.Cut(block, "\ndata: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string
			Seq   *int `json:"sequence_number"`
			Delta json.RawMessage
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err, data)
		}
		if name = strings.TrimPrefix(name, "event: "); name != e.Type {
			t.Errorf("the event %q has the type %q", name, e.Type)
		}
		if e.Seq != nil && *e.Seq != seq+1 {
			t.Errorf("number %d follows %d", *e.Seq, seq)
		} else if e.Seq != nil {
			seq++
		}
		var delta struct{ Text string }
		if json.Unmarshal(e.Delta, &delta) != nil {
			_ = json.Unmarshal(e.Delta, &delta.Text)
		}
		names, text = append(names, name), text+delta.Text
	}
	return names, text
}

// Each API has its own shape and order of events, around the same decision.
func TestEventOrders(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	for path, test := range map[string]struct{ body, whole, events string }{
		"/v1/responses": {`{"model": "seven", "input": "What is 17 + 25?"`, `"type":"output_text"`,
			"response.created response.in_progress response.output_item.added response.content_part.added " +
				"response.output_text.delta response.output_text.done response.content_part.done " +
				"response.output_item.done response.completed"},
		"/v1/messages": {`{"model": "seven", "max_tokens": 50, "messages": [{"role": "user", "content": "What is 17 + 25?"}]`,
			`"stop_reason":"end_turn"`, "message_start ping content_block_start content_block_delta content_block_stop " +
				"message_delta message_stop"},
	} {
		r := h.post(t, path, test.body+"}")
		if text := string(r.body); r.StatusCode != 200 || !strings.Contains(text, test.whole) || !strings.Contains(text, `"42"`) ||
			!strings.Contains(text, `"synod":{`) {
			t.Errorf("%s: %d %s", path, r.StatusCode, text)
		}
		r = h.post(t, path, test.body+`, "stream": true}`)
		if names, text := kinds(t, r.body); strings.Join(names, " ") != test.events || text != "42" {
			t.Errorf("%s: %q %v", path, text, names)
		}
		for more, code := range map[string]string{`"frobnicate": 1`: "unsupported_parameter", `"tools": [{"type": "web_search"}]`: "",
			`"stream": 3`: ""} {
			r := h.post(t, path, test.body+", "+more+"}")
			if r.StatusCode != 400 || !strings.Contains(string(r.body), code) {
				t.Errorf("%s %s: %d %s", path, more, r.StatusCode, r.body)
			}
		}
	}
	for _, body := range []string{`{"model": "seven"}`, `{"model": "seven", "input": [{"type": "computer_call"}]}`,
		`{"model": "seven", "input": "x", "background": true}`, `{"model": "seven", "input": "x", "include": ["x"]}`} {
		if r := h.post(t, "/v1/responses", body); r.StatusCode != 400 {
			t.Errorf("%s: %d %s", body, r.StatusCode, r.body)
		}
	}
	for _, body := range []string{`{"model": "seven", "messages": []}`,
		`{"model": "seven", "max_tokens": 5, "messages": [{"role": "tool", "content": "x"}]}`,
		`{"model": "seven", "max_tokens": 5, "messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}]}`} {
		r := h.post(t, "/v1/messages", body)
		if r.StatusCode != 400 || !strings.HasPrefix(string(r.body), `{"error":{"code":`) ||
			!strings.Contains(string(r.body), `"type":"error"`) || r.Header.Get("Request-Id") == "" {
			t.Errorf("%s: %d %s", body, r.StatusCode, r.body)
		}
	}
}

// The system may speak last, and alone; what it says after the user is no question.
func TestSystemLast(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	for _, list := range []string{
		`{"role": "user", "content": "What is 17 + 25?"}, {"role": "system", "content": "There are tools."}`,
		`{"role": "system", "content": "What is 17 + 25?"}`,
		`{"role": "user", "content": "What is 17 + 25?"}, {"role": "system", "content": "There are tools."},
			{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "42"}]}`,
	} {
		r := h.post(t, "/v1/messages", `{"model": "seven", "max_tokens": 50, "context_management": {"edits": []},
			"messages": [`+list+`]}`)
		if r.StatusCode != 200 || !strings.Contains(string(r.body), "42") {
			t.Errorf("%s: %d %s", list, r.StatusCode, r.body)
		}
	}
}

// A conversation of a stored response goes on; one that was not stored, or is another key's, does not.
func TestStoredResponses(t *testing.T) {
	stub := watch(t, llmtest.Fixed("42", 0.9))
	h := open(t, map[string]string{"seven": stubbed(stub.URL)})
	id := func(store string) string {
		r := h.post(t, "/v1/responses", `{"model": "seven", "input": "What is 17 + 25?", "store": `+store+"}")
		var got struct{ ID string }
		r.into(t, &got)
		return got.ID
	}
	kept, gone := id("true"), id("false")
	again := func(id string) reply {
		return h.post(t, "/v1/responses", `{"model": "seven", "input": "And 18 + 25?", "previous_response_id": "`+id+`"}`)
	}
	if r := again(gone); r.StatusCode != 404 || r.problem(t).Error.Code != "previous_response_not_found" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	if r := again(kept); r.StatusCode != 200 {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	calls := stub.inner.Calls()
	if body := string(calls[len(calls)-1].Body); !strings.Contains(body, "17 + 25") || !strings.Contains(body,
		"18 + 25") {
		t.Errorf("members see %s", body)
	}
}

// Prometheus gets counts, and no question.
func TestMetrics(t *testing.T) {
	m := NewMetrics()
	h := open(t, map[string]string{"dice": dice}, func(o *Options) { o.Observe = m.Observe })
	m.InFlight(h.Gateway)
	h.post(t, chats, questionBody("dice", sum))
	for profiles, status := range map[bool]int{true: 200, false: 404} {
		s := httptest.NewServer(m.Handler(profiles))
		defer s.Close()
		res, err := http.Get(s.URL + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if text := string(b); !strings.Contains(text, `synod_requests_total{api="chat",code="OK",key="",model="dice",status="agreed"} 1`) ||
			!strings.Contains(text, "synod_requests_in_flight 0") || strings.Contains(text, "17") &&
			strings.Contains(text, "25 ?") {
			t.Errorf("%s", text)
		}
		if res, err = http.Get(s.URL + "/debug/pprof/"); err != nil || res.StatusCode != status {
			t.Errorf("profiles %t: %v, %v", profiles, res, err)
		}
		res.Body.Close()
	}
}
