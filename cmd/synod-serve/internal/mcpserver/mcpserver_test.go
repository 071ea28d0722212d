package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/llmtest"

	"synod.dev/synod/cmd/synod-serve/internal/gateway"
	"synod.dev/synod/cmd/synod-serve/internal/gatewaytest"
	"synod.dev/synod/cmd/synod-serve/internal/store"
)

func TestMain(m *testing.M) {
	progressGap = 5 * time.Millisecond
	goleak.VerifyTestMain(m)
}

// served is a gateway with the protocol at /mcp.
type served struct {
	*gatewaytest.House
	mcp *Server
}

// dice is a council of simulated members.
const dice = `council: dice
protocol: {name: sac, rounds: 2}
graph: {family: complete}
f: 1
models: {dice: {provider: simulated, ability: 0.9, skill: 0.875, primacy: 0, shared: 0}}
seats: [{id: d, model: dice, count: 5}]
`

func serve(t *testing.T, files map[string]string, change ...func(*gateway.Options)) *served {
	t.Helper()
	secret, err := sign.Generate(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	change = append(change, func(o *gateway.Options) {
		o.Owner = func() (sign.Secret, error) { return secret, nil }
	})
	h := &served{House: gatewaytest.Open(t, files, change...)}
	h.mcp = New(Options{Gateway: h.Gateway, Store: h.Store, Log: h.Log, Version: "test"})
	h.Mount("/mcp", h.mcp)
	h.Start(t)
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		h.Drain(ended)
		h.mcp.Close()
	})
	return h
}

// secretHeader adds an API key to requests.
type secretHeader string

func (s secretHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	if s != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(s))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// notes are the notifications of progress that a client got.
type notes struct {
	mu  sync.Mutex
	all []mcp.ProgressNotificationParams
}

func (n *notes) add(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, *r.Params)
}

// connect is the official SDK as a client that speaks a version of the protocol.
func (h *served) connect(t *testing.T, version, secret string) (*mcp.ClientSession, *notes) {
	t.Helper()
	n := &notes{}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: n.add})
	session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.URL + "/mcp",
		HTTPClient: &http.Client{Transport: secretHeader(secret)}}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, n
}

// call calls a tool and decodes its structured content.
func call[T any](t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (*mcp.CallToolResult, T) {
	t.Helper()
	p := &mcp.CallToolParams{Name: tool, Arguments: args}
	p.SetProgressToken(tool + fmt.Sprint(time.Now().UnixNano()))
	res, err := s.CallTool(t.Context(), p)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var out T
	b, err := json.Marshal(res.StructuredContent)
	if err == nil && res.StructuredContent != nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", tool, err, b)
	}
	return res, out
}

func text(res *mcp.CallToolResult) (all string) {
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			all += t.Text + "\n"
		}
	}
	return all
}

const sum = "What is 17 + 25?"

var both = []string{"2026-07-28", "2025-11-25"}

// The official client lists the tools with schemas and annotations, and asks, in both versions of the protocol.
func TestAsk(t *testing.T) {
	stub := gatewaytest.Watch(t, llmtest.Fixed("42", 0.9))
	h := serve(t, map[string]string{"seven": gatewaytest.Stubbed(stub.URL)})
	for _, version := range both {
		s, n := h.connect(t, version, "")
		if got := s.InitializeResult().ProtocolVersion; got != version {
			t.Fatalf("the version is %s, not %s", got, version)
		}
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 5 {
			t.Fatalf("%v %+v", err, tools)
		}
		for _, tool := range tools.Tools {
			a := tool.Annotations
			if tool.OutputSchema == nil || a == nil || a.OpenWorldHint == nil ||
				*a.OpenWorldHint != (tool.Name == "ask") ||
				a.ReadOnlyHint != (tool.Name != "cancel") {
				t.Errorf("%s: %+v", tool.Name, a)
			}
		}
		res, o := call[outcome](t, s, "ask", map[string]any{"question": sum, "context": "This is about sums.",
			"certificate": true})
		if res.IsError || o.Status != "agreed" || o.Answer != "42" || o.Council != "seven" || o.Synod == nil ||
			o.Synod.Calls.Made == 0 || !strings.Contains(text(res), "42") {
			t.Errorf("%+v %s", o, text(res))
		}
		n.mu.Lock()
		if len(n.all) == 0 || !slices.IsSortedFunc(n.all, func(a, b mcp.ProgressNotificationParams) int {
			return int(a.Progress - b.Progress)
		}) {
			t.Errorf("%s: progress %+v", version, n.all)
		}
		n.mu.Unlock()
		res, v := call[struct {
			Valid  bool
			Claims []string
			Error  string `json:"first_error"`
		}](t, s, "verify", map[string]any{"certificate": o.Synod.Certificate, "answer": "42"})
		if res.IsError || !v.Valid || len(v.Claims) == 0 {
			t.Errorf("%+v", v)
		}
	}
	rows, err := h.Store.Recent(t.Context(), 10)
	if err != nil || len(rows) != 2 || rows[0].API != "mcp" || rows[0].Status != "agreed" || rows[0].Journal == "" {
		t.Errorf("%v %+v", err, rows)
	}
}

// What is wrong with the arguments is an error of the tool that says what to do.
func TestMistakes(t *testing.T) {
	h := serve(t, map[string]string{"dice": dice})
	s, _ := h.connect(t, both[0], "")
	for _, test := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"ask", map[string]any{}, "question"},
		{"ask", map[string]any{"question": " "}, "question is empty"},
		{"ask", map[string]any{"question": sum, "council": "absent"}, "no model absent"},
		{"ask", map[string]any{"question": sum, "council": "solo:dice"}, "that is a council"},
		{"ask", map[string]any{"question": sum, "form": "haiku"}, "form"},
		{"ask", map[string]any{"question": sum, "frm": "label"}, "frm"},
		{"ask", map[string]any{"question": sum, "wait_seconds": 1e9}, "between 0 and 600"},
		{"ask", map[string]any{"question": sum, "deadline_seconds": -1}, "negative"},
		{"result", map[string]any{"handle": "req-absent"}, "no such handle"},
		{"cancel", map[string]any{"handle": "req-absent"}, "no such handle"},
		{"graph_check", map[string]any{}, "node"},
		{"graph_check", map[string]any{"family": "complete", "n": 100000}, "256 are allowed"},
		{"graph_check", map[string]any{"family": "complete", "n": 5, "f": -2}, "0 or more"},
	} {
		res, _ := call[map[string]any](t, s, test.tool, test.args)
		if !res.IsError || !strings.Contains(text(res), test.want) {
			t.Errorf("%s %v: %v %s", test.tool, test.args, res.IsError, text(res))
		}
	}
	res, v := call[map[string]any](t, s, "verify", map[string]any{"certificate": "{}"})
	if res.IsError || v["valid"] != false || v["first_error"] == "" {
		t.Errorf("%v %v", res.IsError, v)
	}
	for _, g := range []map[string]any{{"family": "complete", "n": 7, "f": 3}, {"graph": "a b\nb c\nc a\n", "f": 1}} {
		if res, v := call[map[string]any](t, s, "graph_check", g); res.IsError || v["enough"] != true ||
			v["exact"] != true {
			t.Errorf("%v: %s", g, text(res))
		}
	}
}

// No consensus is an error, a refusal or a labelled best effort, as the caller wants it; each with the votes.
func TestNoConsensus(t *testing.T) {
	h := serve(t, map[string]string{"split": strings.Replace(dice, "ability: 0.9", "ability: 0.1", 1) +
		"rule: {name: supermajority}\nlimits: {deadline: 1m}\n"})
	s, _ := h.connect(t, both[0], "")
	for policy, isError := range map[string]bool{"error": true, "refuse": false, "best-effort": false} {
		res, o := call[outcome](t, s, "ask", map[string]any{"question": sum, "form": "number", "seed": 3,
			"on_no_consensus": policy})
		if res.IsError != isError || o.Status != "undecided" || o.Synod == nil || len(o.Synod.Votes) == 0 ||
			(policy == "refuse") != (o.Refusal != "") || (policy == "best-effort") != (o.Answer != "") {
			t.Errorf("%s: %v %+v", policy, res.IsError, o)
		}
	}
}

// A cancelled call cancels the calls of the members, in both versions of the protocol.
func TestCancelledCall(t *testing.T) {
	stub := gatewaytest.Watch(t, llmtest.Fixed("42", 0.9))
	h := serve(t, map[string]string{"seven": gatewaytest.Stubbed(stub.URL)})
	for _, version := range both {
		s, _ := h.connect(t, version, "")
		release := stub.Hold()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": sum}})
			done <- err
		}()
		gatewaytest.Until(t, 5*time.Second, "asked", func() bool { return stub.Open.Load() == 5 })
		cancel()
		gatewaytest.Until(t, time.Second, "cancelled", func() bool { return stub.Open.Load() == 0 })
		if err := <-done; err == nil {
			t.Error("no error")
		}
		release()
	}
	gatewaytest.Until(t, 5*time.Second, "recorded", func() bool {
		rows, err := h.Store.Recent(t.Context(), 10)
		return err == nil && len(rows) == 2 && rows[0].Status == "client_gone" && rows[1].Status == "client_gone"
	})
}

// A long run goes on after a handle was returned; its result is found also by another gateway on the store.
func TestHandle(t *testing.T) {
	stub := gatewaytest.Watch(t, llmtest.Fixed("42", 0.9))
	h := serve(t, map[string]string{"seven": gatewaytest.Stubbed(stub.URL)})
	s, _ := h.connect(t, both[1], "")
	release := stub.Hold()
	res, o := call[outcome](t, s, "ask", map[string]any{"question": sum, "wait": false})
	if res.IsError || o.Status != running || o.Handle == "" || o.Deadline == "" || o.Progress == nil {
		t.Fatalf("%+v", o)
	}
	handle := map[string]any{"handle": o.Handle, "wait_seconds": 0.01}
	if _, o := call[outcome](t, s, "result", handle); o.Status != running {
		t.Errorf("%+v", o)
	}
	other := New(Options{Gateway: h.Gateway, Store: h.Store, Log: h.Log}) // as another process sees it
	req := &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}
	if _, o, _ := other.result(t.Context(), req, byHandle{Handle: o.Handle}); o.Status != running {
		t.Errorf("%+v", o)
	}
	if _, o, _ := other.cancel(t.Context(), req, toCancel{o.Handle}); o.Error == nil ||
		o.Error.Code != "run_elsewhere" {
		t.Errorf("%+v", o)
	}
	_, joined := call[outcome](t, s, "ask", map[string]any{"question": sum, "wait": false})
	if _, o, _ := other.result(t.Context(), req, byHandle{Handle: joined.Handle}); o.Status != running ||
		joined.Handle == handle["handle"] {
		t.Errorf("a handle of a question that was in flight: %+v", o)
	}
	release()
	handle["wait_seconds"] = 30
	if _, o := call[outcome](t, s, "result", handle); o.Status != "agreed" || o.Answer != "42" {
		t.Errorf("%+v", o)
	}
	gatewaytest.Until(t, 5*time.Second, "kept", func() bool {
		_, o, _ := other.result(t.Context(), req, byHandle{Handle: o.Handle})
		return o.Status == "agreed" && o.Answer == "42"
	})

	defer stub.Hold()()
	_, o = call[outcome](t, s, "ask", map[string]any{"question": "What is 18 + 25?", "wait_seconds": 0.05})
	gatewaytest.Until(t, 5*time.Second, "asked", func() bool { return stub.Open.Load() == 5 })
	if res, c := call[outcome](t, s, "cancel", map[string]any{"handle": o.Handle}); res.IsError ||
		c.Status != cancelled {
		t.Errorf("%+v", c)
	}
	gatewaytest.Until(t, time.Second, "cancelled", func() bool { return stub.Open.Load() == 0 })
	gatewaytest.Until(t, 5*time.Second, "kept", func() bool {
		_, o, _ := other.result(t.Context(), req, byHandle{Handle: o.Handle})
		return o.Status == cancelled
	})
	lost, _ := json.Marshal(outcome{Status: running})
	if err := h.Store.NewTask("req-lost", "", lost); err != nil {
		t.Fatal(err)
	}
	if _, o, _ := other.result(t.Context(), req, byHandle{Handle: "req-lost"}); o.Error == nil ||
		o.Error.Code != "run_lost" {
		t.Errorf("%+v", o)
	}
}

// Keys are checked at every request; their limits and councils hold, and a handle belongs to its key.
func TestKeys(t *testing.T) {
	h := serve(t, map[string]string{"dice": dice, "other": dice}, func(o *gateway.Options) { o.NeedKey = true })
	alice, _, err := h.Store.NewKey(store.Key{Name: "alice", PerMinute: 2, Councils: []string{"dice"}})
	if err != nil {
		t.Fatal(err)
	}
	bob, _, err := h.Store.NewKey(store.Key{Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(h.URL+"/mcp", "application/json", strings.NewReader("{}"))
	if err != nil || res.StatusCode != 401 || res.Header.Get("Www-Authenticate") != "Bearer" {
		t.Errorf("%v %v", err, res)
	}
	res.Body.Close()
	s, _ := h.connect(t, both[1], alice)
	if res, _ := call[outcome](t, s, "ask", map[string]any{"question": sum, "council": "other"}); !res.IsError {
		t.Error("alice may ask another council")
	}
	_, o := call[outcome](t, s, "ask", map[string]any{"question": sum, "council": "dice", "wait": false})
	theirs, _ := h.connect(t, both[0], bob)
	if res, _ := call[outcome](t, theirs, "result", map[string]any{"handle": o.Handle}); !res.IsError {
		t.Error("bob reads the run of alice")
	}
	if _, o := call[outcome](t, s, "result", map[string]any{"handle": o.Handle}); o.Status == running ||
		o.Synod == nil {
		t.Errorf("%+v", o)
	}
	call[outcome](t, s, "ask", map[string]any{"question": "What is 1 + 1?", "council": "dice"})
	res2, o := call[outcome](t, s, "ask", map[string]any{"question": "What is 2 + 1?", "council": "dice"})
	if !res2.IsError || o.Error == nil || o.Error.Code != "rate_limit_exceeded" || o.Error.Retry == 0 {
		t.Errorf("%+v", o)
	}
}

// A web page of another site and a foreign Host header are refused, as for every route.
func TestForeign(t *testing.T) {
	h := serve(t, map[string]string{"dice": dice})
	for name, value := range map[string]string{"Origin": "https://evil.example", "Host": "evil.example"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/mcp",
			bytes.NewReader([]byte("{}")))
		if err != nil {
			t.Fatal(err)
		}
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode/100 != 4 {
			t.Errorf("%s: %v %v", name, err, res)
		}
		res.Body.Close()
	}
}
