package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/cmd/synod-serve/internal/councils"
	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// chunkOf is a chunk of a chat completion with a delta.
func chunkOf(delta, finish string) string {
	end := "null"
	if finish != "" {
		end = `"` + finish + `"`
	}
	return `data: {"id":"x","object":"chat.completion.chunk","model":"stub","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + end + "}]}\n\n"
}

// callOf is a chunk with a piece of a call; an index of "" is left out.
func callOf(index, id, name, arguments string) string {
	place := ""
	if index != "" {
		place = `"index":` + index + ","
	}
	return chunkOf(fmt.Sprintf(`{"tool_calls":[{%s"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}`,
		place, id, name, arguments), "")
}

const endOfStream = "data: [DONE]\n\n"

// heard is a stream as a client of either API puts it together.
type heard struct {
	text   string
	calls  []string // name(arguments) in the order of the parts
	ids    []string
	reason string // stop_reason, or the status of the response with why it is incomplete
	input  int
	output int
	failed string // the code of the error event
	parts  int
	open   map[int]bool
	ended  bool
	whole  map[string]any // of responses: the last response
}

// hear puts a stream together, and checks that its parts begin, go on and end in order.
func hear(t *testing.T, body []byte) (h heard) {
	t.Helper()
	kinds(t, body) // names, types and numbers
	h.open = map[int]bool{}
	for event := range strings.SplitSeq(string(body), "\n\n") {
		_, data, ok := strings.Cut(event, "data: ")
		if !ok {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err, data)
		}
		if h.ended || h.failed != "" {
			t.Errorf("an event after the end: %s", data)
		}
		h.event(t, e)
	}
	for i, open := range h.open {
		if open && h.failed == "" {
			t.Errorf("part %d has no end", i)
		}
	}
	return h
}

func (h *heard) event(t *testing.T, e map[string]any) {
	t.Helper()
	number := func() int {
		for _, key := range []string{"index", "output_index"} {
			if n, ok := e[key].(float64); ok {
				return int(n)
			}
		}
		return -1
	}()
	delta, _ := e["delta"].(map[string]any)
	switch kind := e["type"]; kind {
	case "content_block_start", "response.output_item.added":
		if number != h.parts {
			t.Errorf("part %d begins after %d parts", number, h.parts)
		}
		h.parts++
		h.open[number] = true
		block, _ := e["content_block"].(map[string]any)
		if block == nil {
			block, _ = e["item"].(map[string]any)
			block["id"] = block["call_id"]
		}
		h.calls, h.ids = append(h.calls, ""), append(h.ids, "")
		if block["name"] != nil {
			h.calls[number], h.ids[number] = block["name"].(string)+"|", block["id"].(string)
		}
	case "content_block_delta", "response.output_text.delta", "response.function_call_arguments.delta":
		if !h.open[number] {
			t.Errorf("part %d goes on and is not open", number)
		}
		piece, _ := e["delta"].(string)
		if delta["type"] == "text_delta" || kind == "response.output_text.delta" {
			h.text += piece + fmt.Sprint(delta["text"])
			h.text = strings.TrimSuffix(h.text, "<nil>")
			return
		}
		if s, ok := delta["partial_json"].(string); ok {
			piece = s
		}
		h.calls[number] += piece
	case "content_block_stop", "response.output_item.done":
		h.open[number] = false
	case "message_delta":
		h.reason = fmt.Sprint(delta["stop_reason"])
		if delta["stop_sequence"] != nil {
			h.reason += " " + delta["stop_sequence"].(string)
		}
		u := e["usage"].(map[string]any)
		h.input, h.output = int(u["input_tokens"].(float64)), int(u["output_tokens"].(float64))
	case "message_stop":
		h.ended = true
	case "response.completed", "response.incomplete":
		h.ended, h.whole = true, e["response"].(map[string]any)
		h.reason = fmt.Sprint(h.whole["status"])
		u := h.whole["usage"].(map[string]any)
		h.input, h.output = int(u["input_tokens"].(float64)), int(u["output_tokens"].(float64))
	case "error":
		h.failed = e["error"].(map[string]any)["code"].(string)
	case "response.failed":
		h.failed = e["response"].(map[string]any)["error"].(map[string]any)["code"].(string)
	}
}

// said are the calls without the texts.
func (h heard) said() (all []string) {
	for _, c := range h.calls {
		if c != "" {
			all = append(all, c)
		}
	}
	return all
}

// otherAPIs are requests of streams of one model over both APIs that its server does not have.
var otherAPIs = map[string]string{"/v1/responses": responsesBody + `, "stream": true}`,
	"/v1/messages": messagesBodyText + `, "stream": true}`}

// The parts of a reply come over the other two APIs as the server sends them, and not when the reply is whole.
func TestToldAsItComes(t *testing.T) {
	up := newUpstream(t)
	next := make(chan struct{})
	steps := []string{chunkOf(`{"role":"assistant","content":"I lo"}`, ""), chunkOf(`{"content":"ok."}`, ""),
		callOf("0", "c1", "f", `{"a":`), callOf("0", "", "", `1}`), callOf("1", "c2", "f", `{"b":2}`)}
	up.chunk = func(w io.Writer, flush func()) {
		for _, step := range steps {
			io.WriteString(w, step)
			flush()
			<-next
		}
		io.WriteString(w, chunkOf("{}", "tool_calls")+usageChunk+endOfStream)
	}
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	marks := map[string][]string{"/v1/messages": {`"text":"I lo"`, `"text":"ok."`, `"partial_json":"{\"a\":"`,
		`"partial_json":"1}"`, `"partial_json":"{\"b\":2}"`},
		"/v1/responses": {`"delta":"I lo"`, `"delta":"ok."`, `"delta":"{\"a\":"`, `"delta":"1}"`,
			`"delta":"{\"b\":2}"`}}
	for path, body := range otherAPIs {
		res := h.begin(t, t.Context(), path, body)
		all := readMarks(t, res.Body, marks[path], func() { next <- struct{}{} })
		got := hear(t, all)
		if got.text != "I look." || fmt.Sprint(got.said()) != `[f|{"a":1} f|{"b":2}]` || got.parts != 3 ||
			fmt.Sprint(got.ids) != "[ c1 c2]" || got.input != 7 || got.output != 3 || !got.ended {
			t.Errorf("%s: %+v", path, got)
		}
		if path == "/v1/messages" && got.reason != "tool_use" || path == "/v1/responses" && got.reason != "completed" {
			t.Errorf("%s: %s", path, got.reason)
		}
		row := h.rows(t)["ok"][0]
		if row.Prompt != 7 || row.Completion != 3 || row.Unpriced || row.Calls != 1 || row.Spent.USD() < 0.000037 {
			t.Errorf("%s: %+v", path, row)
		}
	}
}

// begin sends a request and returns when the headers have come.
func (h *house) begin(t *testing.T, ctx context.Context, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// readMarks reads a stream to its end, and calls seen after each text that must have come before more is sent.
func readMarks(t *testing.T, in io.Reader, marks []string, seen func()) (all []byte) {
	t.Helper()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		all = append(all, line...)
		if len(marks) > 0 && strings.Contains(line, marks[0]) {
			marks = marks[1:]
			seen()
		}
		if err != nil {
			if len(marks) > 0 {
				t.Fatalf("%v before %s came: %s", err, marks[0], all)
			}
			return all
		}
	}
}

// What servers send in odd ways arrives in the order and shape of the client's API.
func TestToldOddStreams(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	for name, test := range map[string]struct {
		stream string
		text   string
		calls  string
		reason string // of messages
	}{
		"one place for all calls": {callOf("0", "c1", "f", `{"a":1}`) + callOf("0", "c2", "f", `{"b":2}`), "",
			`[f|{"a":1} f|{"b":2}]`, "tool_use"},
		"no places":           {callOf("", "c1", "f", `{"a":1}`) + callOf("", "c2", "g", `{"b":2}`), "", `[f|{"a":1} g|{"b":2}]`, "tool_use"},
		"calls mixed":         {callOf("0", "c1", "f", `{"a":`) + callOf("1", "c2", "g", `{"b":`) + callOf("0", "", "", "1}") + callOf("1", "", "", "2}"), "", `[f|{"a":1} g|{"b":2}]`, "tool_use"},
		"one id for two":      {callOf("0", "c1", "f", `{}`) + callOf("1", "c1", "f", `{}`), "", `[f|{} f|{}]`, "tool_use"},
		"no id":               {callOf("0", "", "f", `{}`), "", `[f|{}]`, "tool_use"},
		"no arguments":        {callOf("0", "c1", "f", ``), "", `[f|{}]`, "tool_use"},
		"arguments in words":  {callOf("0", "c1", "f", `not `) + callOf("0", "", "", `JSON`), "", `[f|{"arguments":"not JSON"}]`, "tool_use"},
		"arguments an object": {strings.Replace(callOf("0", "c1", "f", "X"), `"X"`, `{"a":1}`, 1), "", `[f|{"a":1}]`, "tool_use"},
		"name later":          {callOf("0", "c1", "", `{"a"`) + callOf("0", "", "f", `:1}`), "", `[f|{"a":1}]`, "tool_use"},
		"text after a call":   {callOf("0", "c1", "f", `{}`) + delta("\n", "") + delta("Done.", "stop"), "Done.", `[f|{}]`, "tool_use"},
		"text in parts":       {chunkOf(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "stop"), "ab", "[]", "end_turn"},
		"another choice":      {delta("a", "") + strings.Replace(delta("b", ""), `"index":0`, `"index":1`, 1) + delta("c", "stop"), "ac", "[]", "end_turn"},
		"cut by length":       {callOf("0", "c1", "f", `{"a":`) + chunkOf("{}", "length"), "", `[f|{"a":]`, "max_tokens"},
		"filtered":            {delta("a", "content_filter"), "a", "[]", "refusal"},
		"stop sequence": {strings.Replace(delta("a", "stop"), `"finish_reason"`, `"stop_reason":"END","finish_reason"`, 1), "a",
			"[]", "stop_sequence END"},
		"nothing":   {"", "", "[]", "end_turn"},
		"no finish": {delta("a", ""), "a", "[]", "end_turn"},
	} {
		up.chunk = func(w io.Writer, _ func()) { io.WriteString(w, test.stream+usageChunk+endOfStream) }
		for path, body := range otherAPIs {
			r := h.post(t, path, body)
			got := hear(t, r.body)
			if got.failed != "" || !got.ended || got.text != test.text || fmt.Sprint(got.said()) != test.calls {
				t.Errorf("%s, %s: %+v\n%s", name, path, got, r.body)
			}
			if path == "/v1/messages" && got.reason != test.reason {
				t.Errorf("%s: %s", name, got.reason)
			}
			if ids := got.ids; len(ids) == 2 && ids[0] == ids[1] {
				t.Errorf("%s: two calls with one id: %v", name, ids)
			}
		}
	}
}

// A stream that fails ends with one error event of the client's API, and what had come is counted.
func TestToldStreamFails(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	for name, test := range map[string]struct {
		rest   string
		abort  bool
		status string
	}{
		"closed":              {"", false, "upstream_cut"},
		"aborted":             {"", true, "upstream_cut"},
		"an error":            {`data: {"error":{"message":"at 10.0.0.7: /srv/key"}}` + "\n\n", false, "upstream_error"},
		"no JSON":             {"data: {{\n\n", false, "upstream_error"},
		"no chunk":            {`data: {"choices":[{"index":0,"delta":{"tool_calls":"x"}}]}` + "\n\n", false, "upstream_error"},
		"a huge chunk":        {delta(strings.Repeat("x", longestEvent+1), ""), false, "upstream_cut"},
		"too many calls":      {manyCalls(mostCalls + 1), false, "upstream_error"},
		"a call without name": {callOf("0", "c1", "", "{}") + endOfStream, false, "upstream_error"},
		"half arguments":      {callOf("0", "c1", "f", `{"a":`) + chunkOf("{}", "tool_calls") + endOfStream, false, "upstream_error"},
		"more after the end of a call": {callOf("0", "c1", "f", `{}`) + callOf("1", "c2", "f", `{}`) + callOf("0", "", "", `{"x":1}`) +
			endOfStream, false, "upstream_error"},
	} {
		up.chunk = func(w io.Writer, flush func()) {
			io.WriteString(w, delta("twelve bytes", "")+test.rest)
			if flush(); test.abort {
				panic(http.ErrAbortHandler)
			}
		}
		for path, body := range otherAPIs {
			before := len(h.rows(t)[test.status])
			r := h.post(t, path, body)
			got := hear(t, r.body)
			if got.failed != test.status || got.ended || got.text[:12] != "twelve bytes" ||
				strings.Contains(string(r.body), "10.0.0.7") {
				t.Errorf("%s, %s: %+v\n%.2000s", name, path, got, r.body)
			}
			rows := h.rows(t)[test.status]
			if len(rows) != before+1 || rows[0].Completion < 3 || rows[0].Spent == 0 || !rows[0].Unpriced {
				t.Errorf("%s, %s: %+v", name, path, rows)
			}
		}
	}
}

func manyCalls(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(callOf(fmt.Sprint(i), fmt.Sprint("c", i), "f", "{}"))
	}
	return b.String()
}

// A reply without an end is cut off at the bound of whole replies.
func TestToldIsBounded(t *testing.T) {
	up := newUpstream(t)
	up.chunk = func(w io.Writer, _ func()) {
		piece := delta(strings.Repeat("x", 1<<20), "")
		for range 2 * mostReply >> 20 {
			if _, err := io.WriteString(w, piece); err != nil {
				return
			}
		}
	}
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	r := h.post(t, "/v1/messages", otherAPIs["/v1/messages"])
	if got := hear(t, r.body); got.failed != "upstream_error" || len(got.text) > mostReply+1<<20 {
		t.Errorf("%s after %d bytes", got.failed, len(got.text))
	}
}

// When the client is gone, the server notices, and what had come is counted.
func TestToldClientGone(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	for path, body := range otherAPIs {
		ended := make(chan struct{})
		up.chunk = func(w io.Writer, flush func()) {
			defer close(ended)
			for range 60_000 {
				if _, err := io.WriteString(w, delta("x", "")); err != nil {
					return
				}
				flush()
				time.Sleep(time.Millisecond)
			}
			t.Error("the server was not told")
		}
		before := len(h.rows(t)["client_gone"])
		ctx, cancel := context.WithCancel(t.Context())
		res := h.begin(t, ctx, path, body)
		io.ReadFull(res.Body, make([]byte, 3000))
		cancel()
		<-ended
		until(t, 10*time.Second, "settled", func() bool { return len(h.rows(t)["client_gone"]) == before+1 })
		if row := h.rows(t)["client_gone"][0]; row.Completion == 0 || row.Spent == 0 || !row.Unpriced {
			t.Errorf("%s: %+v", path, row)
		}
	}
}

// A key with a limit in tokens counts a stream of the other APIs as it counts a whole reply: what its server reports,
// or all that was reserved where the stream was cut off.
func TestToldKeepsToLimits(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	key := h.key(t, store.Key{Name: "bob", TokensPerDay: 1e6})
	var before int64
	used := func() int64 { // since the last call
		keys, err := h.store.Keys(t.Context())
		if err != nil || len(keys) != 1 {
			t.Fatal(err, keys)
		}
		more := keys[0].TokensToday - before
		before = keys[0].TokensToday
		return more
	}
	for path, body := range otherAPIs {
		up.chunk = func(w io.Writer, _ func()) { io.WriteString(w, delta("hi", "stop")+usageChunk+endOfStream) }
		if got := hear(t, h.post(t, path, body, "Authorization", key).body); !got.ended {
			t.Errorf("%+v", got)
		}
		if n := used(); n != 10 {
			t.Errorf("%s: %d tokens", path, n)
		}
		up.chunk = func(w io.Writer, _ func()) { io.WriteString(w, delta("hi", "")) }
		h.post(t, path, body, "Authorization", key)
		if n := used(); n < 50+256 {
			t.Errorf("%s: %d tokens", path, n)
		}
	}
}

// A response that was streamed can be read again, and a later request goes on from it.
func TestToldResponseIsKept(t *testing.T) {
	up := newUpstream(t)
	up.chunk = func(w io.Writer, _ func()) {
		io.WriteString(w, delta("I look.", "")+callOf("0", "c1", "f", `{"a":1}`)+chunkOf("{}", "tool_calls")+usageChunk+
			endOfStream)
	}
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	got := hear(t, h.post(t, "/v1/responses", otherAPIs["/v1/responses"]).body)
	id, _ := got.whole["id"].(string)
	var kept map[string]any
	h.send(t, t.Context(), http.MethodGet, "/v1/responses/"+id, "").into(t, &kept)
	if fmt.Sprint(kept) != fmt.Sprint(got.whole) || len(kept["output"].([]any)) != 2 {
		t.Errorf("%v, and the stream ended with %v", kept, got.whole)
	}
	up.streamless = true
	r := h.post(t, "/v1/responses", `{"model": "solo:stub", "previous_response_id": "`+id+`", "input": [{"type":
		"function_call_output", "call_id": "c1", "output": "seen"}]}`)
	if sent := up.body.Load().(string); r.StatusCode != 200 || !strings.Contains(sent, "I look.") ||
		!strings.Contains(sent, `"tool_call_id":"c1"`) {
		t.Errorf("%d %s of %s", r.StatusCode, r.body, sent)
	}
}

// The beginning that the client gives is not told again, wherever the server cuts its repetition.
func TestToldPrefill(t *testing.T) {
	up := newUpstream(t)
	h := open(t, map[string]string{"seven": stubbed(up.URL)})
	const body = `{"model": "solo:stub", "max_tokens": 50, "stream": true, "messages": [{"role": "user", "content": "Name
		two."}, {"role": "assistant", "content": "The colours"}]}`
	for text, want := range map[string]string{"The colours are red.": " are red.", "are red.": "are red.",
		"The co": "The co", "The coal is black.": "The coal is black."} {
		for cut := range len(text) {
			up.chunk = func(w io.Writer, _ func()) {
				io.WriteString(w, delta(text[:cut], "")+delta(text[cut:], "stop")+endOfStream)
			}
			r := h.post(t, "/v1/messages", strings.ReplaceAll(body, "\n\t\t", " "))
			if got := hear(t, r.body); got.text != want {
				t.Errorf("%q cut at %d: %q", text, cut, got.text)
			}
		}
	}
}

// FuzzTold: whatever chunks come, the events of both APIs begin, go on and end their parts in order, with one end.
func FuzzTold(f *testing.F) {
	f.Add([]byte(callOf("0", "a", "f", `{"a":`) + delta("x", "") + callOf("0", "", "", "1}") + callOf("0", "b", "g", "")))
	f.Add([]byte(callOf("", "", "f", "x") + callOf("-1", "", "", "y") + chunkOf(`{"refusal":"no","content":"a"}`, "length")))
	f.Add([]byte(`data: {"choices":[{"delta":{"tool_calls":[{"function":null},null]}},null]}`))
	f.Fuzz(func(t *testing.T, stream []byte) {
		chunks, _ := eventsOf(bytes.NewReader(stream))
		for _, d := range []teller{messages{}, responses{}} {
			w := httptest.NewRecorder()
			p := &pass{job: &job{id: "req-1", served: &councils.Served{}, req: &wire.Request{Prefill: "a"}}}
			told := p.telling(d, newSSE(w))
			var e *wire.Error
			for _, c := range chunks {
				if e = told.chunk([]byte(c)); e != nil {
					break
				}
			}
			if e == nil {
				e = told.finish()
			}
			if e != nil {
				d.fail(told.s, e)
			} else {
				told.end(Usage{}, nil)
			}
			if got := hear(t, w.Body.Bytes()); got.ended == (got.failed != "") {
				t.Errorf("%+v of %q", got, stream)
			}
		}
	})
}
