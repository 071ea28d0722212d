package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// rehearsed are the experiments of TestRehearsal, one of each paper, and the cells of which a few questions are asked.
var rehearsed = []struct{ preset, cells, n string }{
	{"sac-table1", "*-complete-b1-weak-answer", "1"},
	{"cpwbft-table1", "gsm8k-llm-complete", "8"},
	{"decentllms-fig6", "*", "4"},
	{"game-fig3", "h4-b1-*", "20"},
}

// The prices of the rehearsed models, and what their server bills for each call.
const (
	promptUSD, completionUSD = 0.5, 2.0 // for a million
	billed                   = `{"prompt_tokens":400,"completion_tokens":100,"total_tokens":500}`
	callUSD                  = (400*promptUSD + 100*completionUSD) / 1e6
)

// rehearsal is a folder with the files of a user, and a server that answers as often rightly as the name of a model
// says, such as m-90, each prompt by the model's own luck. It kills the process at the call with number at.
type rehearsal struct {
	*testing.T
	dir       string
	calls, at atomic.Int64
	process   atomic.Pointer[os.Process]
}

func (r *rehearsal) reply(c llmtest.Call) string {
	if n := r.calls.Add(1); n == r.at.Load() {
		_ = r.process.Load().Kill()
	}
	if c.Auth != "Bearer k" {
		r.Errorf("a call with the key %q", c.Auth)
	}
	ability, _ := strconv.ParseUint(strings.TrimPrefix(c.Model, "m-"), 10, 64)
	luck := fnv.New64a()
	fmt.Fprint(luck, c.Model, c.User)
	c.Model = "s42"
	if luck.Sum64()%100 >= ability {
		c.Model = "s7"
	}
	return confident(c)
}

// write writes the council file and the prices.
func (r *rehearsal) write(url string) {
	models := "models:\n"
	for name, ability := range map[string]int{"strong": 90, "weak": 30, "worker": 60, "evaluator": 80, "player": 70} {
		models += fmt.Sprintf("  %s: {provider: openai, model: m-%d, url: %q, key_env: REHEARSAL_KEY, "+
			"concurrency: 1}\n", name, ability, url)
	}
	prices := fmt.Sprintf("prices:\n- {server: \"127.0.0.1:*\", model: \"m-*\", prompt: %v, completion: %v, date: "+
		"2026-11-01}\n", promptUSD, completionUSD)
	for name, text := range map[string]string{"models.yaml": models, "prices.yaml": prices} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			r.Fatal(err)
		}
	}
}

// run runs a command in the folder.
func (r *rehearsal) run(args ...string) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.Command("synod", append([]string{"--prices", "prices.yaml"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, &out, &errs
	cmd.Env = append(os.Environ(), "SYNOD_HOME="+filepath.Join(r.dir, "home"), "REHEARSAL_KEY=k")
	err := cmd.Start()
	if err == nil {
		r.process.Store(cmd.Process)
		err = cmd.Wait()
	}
	if err != nil {
		err = fmt.Errorf("synod %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), err
}

// A rehearsal of each paper before money is spent: three commands lead from models that ask for a key to the tables and
// figures, the first one is killed on its way and given again, and the money that the report names is what the server
// billed, within 2 %.
func TestRehearsal(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for _, e := range rehearsed {
		t.Run(e.preset, func(t *testing.T) {
			r := &rehearsal{T: t, dir: t.TempDir()}
			r.write(llmtest.Start(t, r.reply, llmtest.With(llmtest.Usage(billed))).URL)
			ask := []string{"bench", "run", e.preset, "--members", "models.yaml", "--cell", e.cells, "-n", e.n,
				"--repeat", "1", "--substitute", "--no-preflight", "-o", "run"}
			r.at.Store(8)
			if _, err := r.run(ask...); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("it was not killed: %v", err)
			}
			r.at.Store(0)
			for _, args := range [][]string{ask, {"bench", "export", "run", "--format", "latex", "-o", "table.tex"},
				{"bench", "figures", "run", "--layout", "paper"}} {
				if _, err := r.run(args...); err != nil {
					t.Fatal(err)
				}
			}
			r.checkBill()
			tex, err := os.ReadFile(filepath.Join(r.dir, "table.tex"))
			if err != nil || !bytes.Contains(tex, []byte(`\toprule`)) || bytes.Contains(tex, []byte("simulated")) {
				t.Errorf("no table of real members: %v\n%.400s", err, tex)
			}
			if pdfs, _ := filepath.Glob(filepath.Join(r.dir, "figures", e.preset, "*.pdf")); len(pdfs) == 0 {
				t.Error("no figure")
			}
		})
	}
}

// checkBill compares the money of the report with what the server billed. The report cannot know the usage of the calls
// that the kill lost.
func (r *rehearsal) checkBill() {
	out, err := r.run("bench", "report", "run", "--format", "json")
	if err != nil {
		r.Fatal(err)
	}
	var report struct {
		Failed, Unfinished int
		Money              struct {
			AtLeast float64 `json:"at_least"`
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		r.Fatal(err)
	}
	want := callUSD * float64(r.calls.Load())
	if off := report.Money.AtLeast/want - 1; math.Abs(off) > 0.02 || report.Failed+report.Unfinished > 0 {
		r.Errorf("%.6f USD in the report, %.6f billed for %d calls: %+.1f %%; %d questions failed, %d unfinished",
			report.Money.AtLeast, want, r.calls.Load(), 100*off, report.Failed, report.Unfinished)
	}
	r.Logf("%d calls, %.4f USD billed, %.4f in the report", r.calls.Load(), want, report.Money.AtLeast)
}
