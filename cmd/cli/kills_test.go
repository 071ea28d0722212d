package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/bench"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/internal/llmtest"
)

var (
	kills     = flag.Int("kills", 20, "how often TestKills kills a process (make kills: 450)")
	killsSeed = flag.Uint64("kills-seed", 0, "seed of the moments at which TestKills kills; 0: from the clock")
)

// killedCouncils are the councils of TestKills, one for each of five protocols. Two
// requests of a model may be on their way at once.
var killedCouncils = []string{
	"protocol: {name: sac, rounds: 2}",
	"protocol: {name: debate, rounds: 2}",
	"protocol: {name: cp-wbft, rounds: 2}",
	"protocol: {name: decentllms}",
	"protocol: {name: rotating-leader}",
}

// inFlight is how many requests a kill may lose: two models with two requests each at the
// server, and as many whose reply has come and is not on disk yet.
const inFlight = 8

// A process that is killed at random moments and resumed gives the results of one that
// is not, asks no answered call again, and counts every request that left (RU-2). The
// requests are counted by the server.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	seed := *killsSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat: go test ./cli -run TestKills -kills %d -kills-seed %d", *kills, seed)
	k := &killer{T: t, home: t.TempDir(), chance: rand.New(rand.NewPCG(seed, 0))}
	k.stub = llmtest.Start(t, confident, llmtest.Latency(3*time.Millisecond))
	for i, protocol := range killedCouncils {
		council := k.council(protocol)
		half := *kills / (2 * len(killedCouncils))
		more := 0
		if i == 0 {
			more = *kills - 2*len(killedCouncils)*half
		}
		k.asks(council, half+more)
		k.benches(council, half)
	}
	t.Logf("%d kills, %d of them between the first request and the last reply; %d requests were made again, "+
		"%d were counted that did not arrive", k.kills, k.midway, k.again, k.uncounted)
	if k.kills < *kills {
		t.Errorf("%d kills of %d", k.kills, *kills)
	}
}

// confident is stubborn, and adds a confidence where the call asks for one.
func confident(c llmtest.Call) string {
	reply := stubborn(c)
	if !strings.Contains(string(c.Schema), `"confidence"`) {
		return reply
	}
	return strings.TrimSuffix(reply, "}") + `,"confidence":0.9}`
}

// killer runs commands and kills them.
type killer struct {
	*testing.T
	chance *rand.Rand
	stub   *llmtest.Server
	home   string

	kills, midway, again, uncounted int
}

func (k *killer) council(protocol string) string {
	seats := `seats: [{id: a, model: right, count: 4}, {id: w, model: wrong}]`
	if strings.Contains(protocol, "decentllms") {
		seats = `seats:
  - {id: a, model: right, role: worker, count: 2}
  - {id: w, model: wrong, role: worker}
  - {id: e, model: right, role: evaluator, count: 4}`
	}
	path := filepath.Join(k.TempDir(), "council.yaml")
	err := os.WriteFile(path, fmt.Appendf(nil, `%s
f: 1
patience: {spare: 0} # calls are counted, and on a busy machine one may be late
models:
  right: {provider: openai, model: s42, url: %q, concurrency: 2}
  wrong: {provider: openai, model: s41, url: %q, concurrency: 2}
%s
`, protocol, k.stub.URL, k.stub.URL, seats), 0o600)
	if err != nil {
		k.Fatal(err)
	}
	return path
}

// run runs a command. It is killed after a while; 0: never. killed is false if it ended
// before.
func (k *killer) run(after time.Duration, args ...string) (stdout []byte, killed bool) {
	k.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command("synod", args...)
	cmd.Env = append(os.Environ(), "SYNOD_HOME="+k.home, "OPENAI_API_KEY=")
	cmd.Stdout, cmd.Stderr = &out, &errs
	before := k.stub.Count()
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err := cmd.Wait()
	if after > 0 && err != nil && strings.Contains(err.Error(), "killed") {
		k.kills++
		if k.stub.Count() > before {
			k.midway++
		}
		return nil, true
	}
	if err != nil {
		k.Fatalf("synod %s: %v\n%s%s", strings.Join(args, " "), err, out.Bytes(), errs.Bytes())
	}
	return out.Bytes(), false
}

// moment returns a random time within that of a whole run.
func (k *killer) moment(whole time.Duration) time.Duration {
	return 1 + time.Duration(k.chance.Float64()*float64(whole))
}

// outcome is what TestKills compares of an outcome.
type outcome struct {
	Answer *string         `json:"answer"`
	Digest string          `json:"digest"`
	Votes  json.RawMessage `json:"votes"`
	Rounds json.RawMessage `json:"rounds"`
	Tokens json.RawMessage `json:"tokens"`
	Calls  struct {
		Made int `json:"made"`
	} `json:"calls"`
}

func (o outcome) String() string {
	o.Calls.Made = 0
	b, _ := json.Marshal(o)
	return string(b)
}

// asks kills "synod ask" so many times, at most four times for a question.
func (k *killer) asks(council string, kills int) {
	dir := k.TempDir()
	ask := []string{"ask", "-q", "--json", "--seed", "7", "--form", "number", "-c", council, "What is 17 + 25?"}
	begun, before := time.Now(), k.stub.Count()
	var want outcome
	k.decode(&want, append(ask, "--journal", filepath.Join(dir, "whole")))
	whole, once := time.Since(begun), k.stub.Count()-before
	if want.Calls.Made != once || want.Answer == nil {
		k.Fatalf("%s: %d calls, %d at the server, answer %v", council, want.Calls.Made, once, want.Answer)
	}
	for n, until := 0, k.kills+kills; k.kills < until; n++ {
		before, lost := k.stub.Count(), 0
		args, resume := ask, ""
		for try := range 5 {
			path := filepath.Join(dir, fmt.Sprintf("%d-%d", n, try))
			var after time.Duration
			if try < 4 && k.kills < until {
				after = k.moment(whole)
			}
			arrived := k.stub.Count()
			out, killed := k.run(after, append(args, "--journal", path)...)
			if run, err := journal.Load(path); err == nil && killed && run.End == nil {
				if now := calls(run.Lost()); now > lost+inFlight {
					k.Errorf("%s: a kill lost %d requests", council, now-lost)
				} else {
					lost = now
				}
				resume = path
			} else if err == nil { // it has come to its end, and perhaps not said so
				if run.End.Digest != want.Digest {
					k.Errorf("%s: digest %s, uninterrupted %s", council, run.End.Digest, want.Digest)
				}
				k.account(council, k.stub.Count()-before, once, calls(run.Lost()))
				if !killed {
					k.same(council, out, want)
				}
				break
			} else if !killed || k.stub.Count() > arrived {
				k.Fatal(err)
			}
			if resume != "" {
				args = []string{"ask", "-q", "--json", "--resume", resume}
			}
		}
	}
}

func (k *killer) same(council string, out []byte, want outcome) {
	var got outcome
	if err := json.Unmarshal(out, &got); err != nil {
		k.Fatal(err)
	}
	if got.String() != want.String() {
		k.Errorf("%s:\n%s\nuninterrupted:\n%s", council, got, want)
	}
}

// account compares the requests that came to the server with those of an uninterrupted
// run and those that the journal counts as lost.
func (k *killer) account(council string, served, once, lost int) {
	k.Helper()
	if served > once+lost {
		k.Errorf("%s: %d requests, %d uninterrupted, %d lost: answered calls were asked again", council, served, once,
			lost)
	}
	k.again += served - once
	k.uncounted += once + lost - served
}

func calls(lost []journal.Unanswered) (n int) {
	for _, u := range lost {
		n += u.Calls
	}
	return n
}

func (k *killer) decode(into any, args []string) {
	k.Helper()
	out, _ := k.run(0, args...)
	if err := json.Unmarshal(out, into); err != nil {
		k.Fatal(err)
	}
}

// benches kills "synod bench" so many times, at most six times for a run.
func (k *killer) benches(council string, kills int) {
	dir := k.TempDir()
	questions := filepath.Join(dir, "questions.jsonl")
	var lines []string
	for i := range 4 {
		lines = append(lines, fmt.Sprintf(`{"id": "q%d", "question": "What is %d + 42?", "answer": "42"}`, i, i))
	}
	if err := os.WriteFile(questions, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		k.Fatal(err)
	}
	start := func(out string) []string {
		return []string{"bench", "run", "-q", questions, "--form", "number", "-c", council, "-o", out, "--parallel",
			"2"}
	}
	begun, before := time.Now(), k.stub.Count()
	k.run(0, start(filepath.Join(dir, "whole"))...)
	whole, once := time.Since(begun), k.stub.Count()-before
	want, _ := k.report(filepath.Join(dir, "whole"))
	for n, until := 0, k.kills+kills; k.kills < until; n++ {
		before, out := k.stub.Count(), filepath.Join(dir, fmt.Sprint(n))
		killed := true
		for try := 0; killed; try++ {
			args := start(out)
			if _, err := bench.Open(out); err == nil { // a run that was killed while it was created is begun again
				args = []string{"bench", "resume", "-q", out, "--parallel", "2"}
			}
			var after time.Duration
			if try < 6 && k.kills < until {
				after = k.moment(whole)
			}
			_, killed = k.run(after, args...)
		}
		got, made := k.report(out)
		if got != want {
			k.Errorf("%s: report\n%s\nuninterrupted:\n%s", council, got, want)
		}
		if lost := made - once; lost > 6*inFlight {
			k.Errorf("%s: %d requests were lost", council, lost)
		}
		k.account(council, k.stub.Count()-before, once, made-once)
	}
}

// withoutTimes removes the calls and the time of models, which differ between runs.
func withoutTimes(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, of := v["model"]; of {
			delete(v, "calls")
			delete(v, "latency")
		}
		for _, part := range v {
			withoutTimes(part)
		}
	case []any:
		for _, part := range v {
			withoutTimes(part)
		}
	}
}

// report returns the report of a run as JSON without what may differ, and the number of
// requests that it counts.
func (k *killer) report(dir string) (text string, made int) {
	var r map[string]any
	k.decode(&r, []string{"bench", "report", dir, "--format", "json"})
	calls, _ := r["calls"].(map[string]any)
	n, _ := calls["made"].(float64)
	delete(r, "seconds")
	delete(calls, "made")
	for _, part := range r {
		withoutTimes(part)
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		k.Fatal(err)
	}
	return string(b), int(n)
}
