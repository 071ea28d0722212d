package llm

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
)

const tinyPrefix, tinyText = "Question: 2+2?\nAnswer:", " four"

// tinyStates is what transformers itself computes for the text after the prefix: states of layer 1 by position, and the
// state of the last layer, number 2, at the last token after the final norm.
type tinyStates struct {
	Query, Last, Mean, Normed []float64
	Sum                       float64 // log-probability of the text
}

// servedByPython starts the real server with a tiny model with random weights, and returns its address.
func servedByPython(t *testing.T) (url string, want tinyStates) {
	t.Helper()
	python := cmp.Or(os.Getenv("SYNOD_PYTHON"), "python3")
	if testing.Short() {
		t.Skip("starts a server in Python")
	}
	if err := exec.Command(python, "-c", "import torch, transformers, regex").Run(); err != nil {
		t.Skip("NEEDS PYTHON with llm/hidden/requirements.txt: set SYNOD_PYTHON to one that has them")
	}
	folder := filepath.Join(t.TempDir(), "tiny")
	out, err := exec.Command(python, "testdata/hidden/tiny.py", folder, tinyPrefix, tinyText).Output()
	if err != nil || json.Unmarshal(out, &want) != nil {
		t.Fatalf("%s, %v", out, err)
	}
	server := exec.CommandContext(t.Context(), python, "hidden/server.py", folder, "--port", "0", "--device", "cpu")
	server.Env = append(os.Environ(), hiddenToken+"="+canary)
	lines, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	line, _ := bufio.NewReader(lines).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), " at ")
	if !found {
		t.Fatalf("the server printed %q", line)
	}
	return url, want
}

// The server in Python shows the states that transformers computes, of the last layer before the final norm, and
// writes what patterns allow, the same for the same seed. [CP-2]
func TestHiddenServerInPython(t *testing.T) {
	url, want := servedByPython(t)
	open := func(settings string) *embedded {
		o, err := hiddenProvider.Open(Opening{Env: Env{Getenv: func(string) string { return canary }},
			Decode: yamlSettings("url: " + url + "\nmodel: tiny\nkey_env: KEY\n" + settings)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = o.Model.(Closer).Close() })
		return o.Model.(served).embedded
	}
	host := open("").host.completer()
	at := &engine.Capture{Layers: []int{2, 1}, Positions: []engine.Position{engine.Last, engine.Query, engine.Mean}}
	scores, states, usage, err := host.Weigh(t.Context(), tinyPrefix, []string{" 4", tinyText}, at)
	if err != nil {
		t.Fatal(err)
	}
	if x := scores[1]; math.Abs(x.Sum-want.Sum) > 1e-3 || x.Tokens != len(tinyText) ||
		usage.PromptTokens != len(tinyPrefix+" 4"+tinyText) {
		t.Errorf("%+v, want %v; %+v", x, want.Sum, usage)
	}
	for p, w := range map[engine.Position][]float64{engine.Query: want.Query, engine.Last: want.Last,
		engine.Mean: want.Mean} {
		if got := states[1].At(1, p); !alike(got, w) {
			t.Errorf("%s: %v, want %v", p, got, w)
		}
	}
	if got := states[1].At(2, engine.Last); alike(got, want.Normed) || !alike(normed(got), want.Normed) {
		t.Errorf("the last layer: %v, whose norm is not %v", got, want.Normed)
	}
	for _, temperature := range []float64{0, 2} {
		ask := engine.Request{Prompt: tinyPrefix, Grammar: numberLine, Stop: []string{"\n"}, Seed: 7, MaxTokens: 30,
			Temperature: temperature, TopP: 0.9, Capture: at, Logprobs: true}
		one, err := host.Generate(t.Context(), ask)
		again, err2 := host.Generate(t.Context(), ask)
		digits := strings.Trim(strings.TrimPrefix(one.Text, " "), "-0123456789.")
		if err != nil || err2 != nil || one.Finish != "stop" || digits != "" || one.Text != again.Text ||
			!slices.Equal(one.States.Data, again.States.Data) || one.States.Tokens != len(one.Text) ||
			len(one.Logprobs) != one.CompletionTokens || one.PromptTokens != len(tinyPrefix) {
			t.Errorf("%+v, %v, then %+v, %v", one, err, again, err2)
		}
		_, same, _, err := host.Weigh(t.Context(), tinyPrefix, []string{one.Text}, at)
		if err != nil || !alike(same[0].At(1, engine.Mean), doubles(one.States.At(1, engine.Mean))) {
			t.Errorf("%q has other states when it is weighed: %v", one.Text, err)
		}
	}
	const control, plain = "<|end|>", "< |end|>"
	for text, ask := range map[string]engine.Request{
		plain:                               {Prompt: control},
		"User: " + plain + "\n\nAssistant:": {Messages: []engine.Message{{Role: "user", Content: control}}},
	} {
		ask.MaxTokens = 1
		if out, err := host.Generate(t.Context(), ask); err != nil || out.PromptTokens != len(text) {
			t.Errorf("others can write control tokens: %+v, %v", out, err)
		}
	}
	r := hiddenRequest(t, twoTwo)
	r.Prompt.ConfidenceMode = synod.NoConfidence
	if reply, err := open("answers: written\nmax_tokens: 2000").Complete(t.Context(), r); err != nil ||
		!strings.HasPrefix(reply.Text, `{"reasoning":"`) || !json.Valid([]byte(reply.Text)) {
		t.Errorf("%+v, %v", reply, err)
	}
	badRequests(t, url)
}

// badRequests sends what the server must refuse, with its reasons.
func badRequests(t *testing.T, url string) {
	defer http.DefaultClient.CloseIdleConnections()
	for _, c := range []struct {
		path, token, body, kind string
		status                  int
		want                    string
	}{
		{"generate", "wrong", `{"prompt":"a"}`, "application/json", 401, "token"},
		{"nowhere", canary, `{"prompt":"a"}`, "application/json", 404, "no such path"},
		{"generate", canary, `{"prompt":"a"}`, "text/plain", 415, "Content-Type"},
		{"generate", canary, "", "application/json", 413, "4194304"},
		{"generate", canary, `{"prompt":`, "application/json", 400, "cannot be read"},
		{"generate", canary, `{"prompt":7}`, "application/json", 400, "cannot be read"},
		{"generate", canary, `{"prompt":"a","temperature":1e999}`, "application/json", 400, "temperature"},
		{"generate", canary, `{"prompt":"a","pattern":"["}`, "application/json", 400, "cannot be read"},
		{"generate", canary, `{"prompt":"` + strings.Repeat("a", 3000) + `"}`, "application/json", 400, "3000 tokens"},
		{"weigh", canary, `{"prefix":"a","continuations":[]}`, "application/json", 400, "0 continuations"},
		{"weigh", canary, `{"prefix":"a","continuations":["b"],"capture":{"layers":[3],"positions":["last"]}}`,
			"application/json", 400, "layers 0 to 2"},
	} {
		body := io.Reader(strings.NewReader(c.body))
		if c.body == "" { // the server does not wait for the body that is announced
			late, never := io.Pipe()
			defer never.Close()
			body = late
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/"+c.path, body)
		if err != nil {
			t.Fatal(err)
		}
		if c.body == "" {
			r.ContentLength = 5 << 20
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		r.Header.Set("Content-Type", c.kind)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%.80s: %v", c.body, err)
			continue
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != c.status || !strings.Contains(string(text), c.want) {
			t.Errorf("%s %.80s: %d %s", c.path, c.body, res.StatusCode, text)
		}
	}
}

func alike(got []float32, want []float64) bool {
	for i := range got {
		if math.Abs(float64(got[i])-want[i]) > 1e-3*(1+math.Abs(want[i])) {
			return false
		}
	}
	return len(got) == len(want)
}

func doubles(x []float32) (all []float64) {
	for _, v := range x {
		all = append(all, float64(v))
	}
	return all
}

// normed returns the root mean square norm of a state, as a Llama with new weights computes it.
func normed(x []float32) []float32 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	out := slices.Clone(x)
	for i := range out {
		out[i] = float32(float64(x[i]) / math.Sqrt(sum/float64(len(x))+1e-6))
	}
	return out
}
