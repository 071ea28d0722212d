package llm

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/probe"
)

var stubSHA = strings.Repeat("ab", 32)

// stateStub is a server that shows hidden states: four layers of width 2. Option n of a question has the likelihood −n
// and the state (n, 1). broken, if it is not nil, changes each reply before it is sent.
type stateStub struct {
	broken func(path string, reply map[string]any)
	asked  map[string]map[string]any // the last request by path
	token  string
}

func (s *stateStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var q map[string]any
	_ = json.Unmarshal(raw, &q) // a GET has none
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	if s.asked == nil {
		s.asked = map[string]map[string]any{}
	}
	s.asked[path] = q
	reply := map[string]any{"sha256": stubSHA}
	switch path {
	case "model":
		reply["model"], reply["revision"], reply["engine"] = "m", "r1", "transformers 5"
		reply["layers"], reply["width"] = 4, 2
	case "generate":
		reply["text"], reply["finish"], reply["logprobs"] = " Paris\n", "stop", []float64{-1, -3}
		reply["prompt_tokens"], reply["completion_tokens"] = 7, 2
		reply["states"] = packedStates(q["capture"], 5, 1)
	case "weigh":
		var scores, states []any
		for i := range q["continuations"].([]any) {
			scores = append(scores, map[string]any{"sum": -2 * float64(i+1), "mean": 9, "tokens": 2})
			states = append(states, packedStates(q["capture"], float32(i), 1))
		}
		reply["scores"], reply["states"], reply["usage"] = scores, states, map[string]any{"prompt_tokens": 9}
	}
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if s.broken != nil {
		s.broken(path, reply)
	}
	_ = json.NewEncoder(w).Encode(reply)
}

// packedStates returns one state for each layer and position of a capture, as the server sends them.
func packedStates(capture any, state ...float32) any {
	c, _ := capture.(map[string]any)
	if c == nil {
		return nil
	}
	var data []byte
	for range len(c["layers"].([]any)) * len(c["positions"].([]any)) {
		for _, x := range state {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
	}
	return map[string]any{"layers": c["layers"], "positions": c["positions"], "width": len(state), "tokens": 2,
		"data": base64.StdEncoding.EncodeToString(data)}
}

func openStateStub(t *testing.T, s *stateStub, settings string) (Model, error) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	o, err := hiddenProvider.Open(Opening{Env: Env{Getenv: func(string) string { return canary }},
		Decode: yamlSettings("url: " + server.URL + "\nmodel: m\ntemperature: 0\n" + settings)})
	if err == nil {
		t.Cleanup(func() { _ = layered{o.Model}.Close() })
	}
	return o.Model, err
}

func hiddenRequest(t *testing.T, q *synod.Question) Request {
	return Request{Templates: boxTemplates(t), Prompt: &synod.Prompt{Template: "box/answer", Purpose: synod.Answering,
		Question: q, ConfidenceMode: synod.HiddenConfidence}}
}

// stubProbe writes a probe of layer 2 for the stub, whose confidence in a state (x, y) is the sigmoid of x, to a file.
func stubProbe(t *testing.T, change func(*probe.Probe)) string {
	p := probe.Probe{Version: probe.Version, Layer: 2, Position: "last", Weights: []float64{1, 0},
		Subject: probe.Subject{Model: "m", SHA256: stubSHA, Engine: "transformers 5", Layers: 4, Width: 2,
			Answers: short, Form: probe.Mixed}}
	if change != nil {
		change(&p)
	}
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "probe.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A member behind a server answers as an embedded one does, and its probe reads the states that the server shows.
func TestHiddenConfidence(t *testing.T) {
	stub := &stateStub{token: canary}
	m, err := openStateStub(t, stub, "key_env: KEY\nprobe: "+stubProbe(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q          *synod.Question
		answer     synod.Answer
		confidence float64
	}{
		{fruit, "A", 0.5}, {capital, "Paris", 1 / (1 + math.Exp(-5))},
	} {
		r, err := m.Complete(t.Context(), hiddenRequest(t, c.q))
		if err != nil || r.Answer != c.answer || r.Confidence == nil || math.Abs(*r.Confidence-c.confidence) > 1e-9 {
			t.Errorf("%s: %+v, %v", c.q.Text, r, err)
		}
	}
	want := engine.Capture{Layers: []int{0, 3}, Positions: []engine.Position{engine.Query, engine.Mean}}
	p, ok := AsProber(m)
	if !ok {
		t.Fatal("no prober")
	}
	r, states, err := p.Probe(t.Context(), hiddenRequest(t, capital), want)
	if err != nil || states.At(3, engine.Mean)[0] != 5 || r.Logprob == nil || *r.Logprob != -2 ||
		r.Usage.Prompt != 7 {
		t.Errorf("%+v, %+v, %v", r, states, err)
	}
	if s, err := p.Subject(t.Context()); err != nil || s.SHA256 != stubSHA || s.Layers != 4 || s.Answers != short {
		t.Errorf("%+v, %v", s, err)
	}
	found, err := m.(Preflighter).Preflight(t.Context())
	if err != nil || !strings.Contains(found, "serves the model") {
		t.Errorf("%q, %v", found, err)
	}
	pattern, _ := stub.asked["generate"]["pattern"].(string)
	if re, err := regexp.Compile("^" + pattern + "$"); err != nil || !re.MatchString(" Paris, France\n") ||
		re.MatchString("Paris\n") || stub.asked["generate"]["grammar"] != nil {
		t.Errorf("pattern %q: %v", pattern, err)
	}
}

// Short answers are no replies to the schema of the prompt, so the pool does not take them for a server that ignores
// schemas.
func TestHiddenHabits(t *testing.T) {
	stub := httptest.NewServer(&stateStub{})
	defer stub.Close()
	m, err := new(Pool).Open("hidden", yamlSettings("model: m\nurl: "+stub.URL), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.(Closer).Close()
	for range 5 {
		r := hiddenRequest(t, capital)
		r.Prompt.ConfidenceMode = synod.NoConfidence
		if reply, err := m.Complete(t.Context(), r); err != nil || reply.Plain {
			t.Fatalf("%+v, %v", reply, err)
		}
	}
	if said := m.(Adapter).Adapted(); len(said) > 0 {
		t.Error(said)
	}
}

// A member that writes JSON has the server follow the schema, or asks in words where no pattern does.
func TestHiddenSchemas(t *testing.T) {
	for name, c := range map[string]struct{ schema, pattern string }{
		"flat": {`{"type":"object","properties":{"a":{"type":"boolean"}},"required":["a"]}`,
			`{"reasoning":"","answer":{"a":true}}`},
		"of itself": {`{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"}}},"required":["a"]}`,
			""},
	} {
		stub := &stateStub{}
		m, err := openStateStub(t, stub, "answers: written")
		if err != nil {
			t.Fatal(err)
		}
		q := &synod.Question{Text: "Which?", Form: synod.JSON, Schema: json.RawMessage(c.schema)}
		r := hiddenRequest(t, q)
		r.Prompt.ConfidenceMode = synod.NoConfidence
		if _, err := m.Complete(t.Context(), r); err != nil {
			t.Fatal(name, err)
		}
		pattern, _ := stub.asked["generate"]["pattern"].(string)
		if c.pattern == "" {
			said := fmt.Sprint(stub.asked["generate"]["messages"])
			if pattern != "" || !strings.Contains(said, "JSON schema") {
				t.Errorf("%s: pattern %q, asked %s", name, pattern, said)
			}
			continue
		}
		re, err := regexp.Compile(strings.NewReplacer(`\u2028`, "", `\u2029`, "").Replace(pattern)) // Go has no \u
		if err != nil || !re.MatchString(c.pattern) {
			t.Errorf("%s: pattern %q: %v", name, pattern, err)
		}
	}
}

// What a server says is not believed: another model, states of other dimensions or that are no numbers, and counts
// that cannot be.
func TestHiddenServerIsUntrusted(t *testing.T) {
	states := func(r map[string]any, key string, to any) {
		if s, ok := r["states"].(map[string]any); ok {
			s[key] = to
		}
	}
	data := func(x ...float32) string {
		var raw []byte
		for _, v := range x {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		return base64.StdEncoding.EncodeToString(raw)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for name, c := range map[string]struct {
		path   string
		break_ func(map[string]any)
		want   string
	}{
		"other model":     {"model", func(r map[string]any) { r["model"] = "n" }, "serves n and not m"},
		"other revision":  {"model", func(r map[string]any) { r["revision"] = "r2" }, "not r1"},
		"no digest":       {"model", func(r map[string]any) { r["sha256"] = "x" }, "digits"},
		"huge":            {"model", func(r map[string]any) { r["width"] = 1 << 30 }, "width"},
		"changed model":   {"generate", func(r map[string]any) { r["sha256"] = "x" }, "another model"},
		"other width":     {"generate", func(r map[string]any) { states(r, "width", 1) }, "width"},
		"other layer":     {"generate", func(r map[string]any) { states(r, "layers", []int{1}) }, "layers [1]"},
		"too many states": {"generate", func(r map[string]any) { states(r, "data", data(1, 2, 3)) }, "3 numbers"},
		"not a number":    {"generate", func(r map[string]any) { states(r, "data", data(1, nan)) }, "finite"},
		"infinite":        {"generate", func(r map[string]any) { states(r, "data", data(inf, 1)) }, "finite"},
		"no base64":       {"generate", func(r map[string]any) { states(r, "data", "?") }, "read"},
		"no states":       {"generate", func(r map[string]any) { r["states"] = nil }, "missing"},
		"less than none":  {"generate", func(r map[string]any) { states(r, "tokens", -1) }, "states"},
		"unfinished":      {"generate", func(r map[string]any) { r["finish"] = "" }, "neither stopped"},
		"counts":          {"generate", func(r map[string]any) { r["prompt_tokens"] = -5 }, "counts"},
		"likelihoods":     {"generate", func(r map[string]any) { r["logprobs"] = []float64{1} }, "above 0"},
		"scores":          {"weigh", func(r map[string]any) { r["scores"] = r["scores"].([]any)[1:] }, "1 likelihoods"},
		"certain": {"weigh", func(r map[string]any) { r["scores"].([]any)[0].(map[string]any)["sum"] = 3 },
			"a likelihood of 3"},
		"no tokens": {"weigh", func(r map[string]any) { r["scores"].([]any)[1].(map[string]any)["tokens"] = 0 },
			"0 tokens"},
		"one state": {"weigh", func(r map[string]any) { r["states"].([]any)[1] = nil }, "missing"},
		"usage":     {"weigh", func(r map[string]any) { r["usage"] = map[string]int{"prompt_tokens": -1} }, "texts"},
	} {
		stub := &stateStub{broken: func(path string, reply map[string]any) {
			if path == c.path {
				c.break_(reply)
			}
		}}
		m, err := openStateStub(t, stub, "revision: r1\nprobe: "+stubProbe(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		q := capital
		if c.path == "weigh" {
			q = fruit
		}
		r, err := m.Complete(t.Context(), hiddenRequest(t, q))
		var f *Failure
		if !errors.As(err, &f) || f.Status == synod.OK || !strings.Contains(err.Error(), c.want) ||
			r.Confidence != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// A reply longer than any that is right, a page and a wrong token are failures, which show no token.
func TestHiddenServerRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		status  synod.Status
	}{
		"token": {func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, `{"error":"`+r.Header.Get("Authorization")+`"}`, http.StatusForbidden)
		}, synod.Auth},
		"page": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, synod.Unreadable},
		"long": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.Header().Set("Content-Length", fmt.Sprint(maxStates+1))
				_, _ = w.Write(make([]byte, maxStates+1))
				return
			}
			new(stateStub).ServeHTTP(w, r)
		}, synod.Unreadable},
	} {
		server := httptest.NewServer(c.handler)
		defer server.Close()
		o, err := hiddenProvider.Open(Opening{Env: Env{Getenv: func(string) string { return canary }},
			Decode: yamlSettings("url: " + server.URL + "\nmodel: m\nkey_env: KEY")})
		if err != nil {
			t.Fatal(err)
		}
		r := hiddenRequest(t, capital)
		r.Prompt.ConfidenceMode = synod.NoConfidence
		_, err = o.Model.Complete(t.Context(), r)
		var f *Failure
		if !errors.As(err, &f) || f.Status != c.status || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The probe of another model is refused in the call, as that of another way of answering is when the model is opened.
func TestHiddenProbeOfAnother(t *testing.T) {
	other := stubProbe(t, func(p *probe.Probe) { p.Subject.Engine = "transformers 4" })
	m, err := openStateStub(t, &stateStub{}, "probe: "+other)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := m.Complete(t.Context(), hiddenRequest(t, capital)); !errors.Is(err, probe.ErrUnfit) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := openStateStub(t, &stateStub{}, "answers: written\nprobe: "+stubProbe(t, nil)); !errors.Is(err,
		probe.ErrUnfit) {
		t.Error(err)
	}
}

// The standard token is sent to the standard server only, and settings that cannot work are refused.
func TestHiddenSettings(t *testing.T) {
	for text, want := range map[string]string{
		"model: m": "http://127.0.0.1:8350 with the token in the environment variable SYNOD_HIDDEN_TOKEN",

		"model: m\nurl: http://far.test/": "http://far.test/",
		"model: m\nurl: http://far.test/\nkey_env: MINE\nprobe: p.json": "http://far.test/ with the token in the " +
			"environment variable MINE,reads the probe p.json",
	} {
		if got := strings.Join(hiddenProvider.Uses(yamlSettings(text)), ","); got != "sends questions to "+want {
			t.Errorf("%q: %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"temperature: 1":                           "no model is named",
		"model: m\nanswers: loud":                  "short or written",
		"model: m\nurl: http://me:secret@far.test": "key_env",
		"model: m\nurl: far.test":                  "http://",
		"model: m\nprobe: absent.json":             "probe",
	} {
		_, err := hiddenProvider.Open(Opening{Decode: yamlSettings(text)})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	o, err := hiddenProvider.Open(Opening{Env: Env{Getenv: func(string) string { return "" }},
		Decode: yamlSettings("model: m\nkey_env: MINE")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.Model.Complete(t.Context(), Request{})
	if err == nil || !strings.Contains(err.Error(), "MINE is not set") {
		t.Error(err)
	}
}
