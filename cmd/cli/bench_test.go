package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm/models"
)

// BenchmarkAsk starts the program on a council of seven at a stub server and
// measures, in milliseconds from its start, when the first call arrives (aim:
// 50), and the memory it had at most, in MiB.
func BenchmarkAsk(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "synod")
	if out, err := exec.Command("go", "build", "-o", bin, "synod.dev/synod/cmd/synod").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var first atomic.Int64
	s := llmtest.Start(b, func(c llmtest.Call) string {
		first.CompareAndSwap(0, time.Now().UnixNano())
		return stubborn(c)
	})
	file := filepath.Join(b.TempDir(), "seven.yaml")
	text := fmt.Sprintf("models: {m: {provider: openai, url: %q, model: s42}}\nseats: [{id: a, model: m, count: "+
		"7}]\nf: 3\n", s.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	var wait time.Duration
	var peak int64
	for b.Loop() {
		first.Store(0)
		cmd := exec.Command(bin, "-q", "ask", "--home", b.TempDir(), "-c", file, "What is 17 + 25?")
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		wait += time.Duration(first.Load() - start.UnixNano())
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(float64(wait.Milliseconds())/float64(b.N), "ms-to-first-call")
	b.ReportMetric(float64(peak)/1024, "MiB")
}

// BenchmarkBox asks the embedded model the easy questions of
// llm/testdata/easy.tsv, each as a user would, and prints what docs/use/models.md
// reports: one line for each council, and with -v one for each question.
//
//	go test ./cli -run '^$' -bench Box -benchtime 1x -v
func BenchmarkBox(b *testing.B) {
	store := models.Store{Dir: models.DefaultDir()}
	if _, err := store.Resolve(models.Default); err != nil {
		b.Skip("NEEDS THE MODEL: synod models pull")
	}
	bin := filepath.Join(b.TempDir(), "synod")
	if out, err := exec.Command("go", "build", "-o", bin, "synod.dev/synod/cmd/synod").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	const smollm, gemma, qwen = models.Default, "gemma3-270m", "qwen2.5-coder-1.5b-instruct"
	one := func(model, answers string) string {
		return fmt.Sprintf("models: {m: {provider: embedded, model: %s, temperature: 0, answers: %s}}\nseats: "+
			"[{id: a, model: m}]\nprotocol: {name: sac, rounds: 0}\nf: 0\n", model, answers)
	}
	three, err := os.ReadFile("../../examples/box-three.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, text string }{
		{"smollm/written", one(smollm, "written")},
		{"smollm/short", one(smollm, "short")},
		{"gemma/short", one(gemma, "short")},
		{"qwen/written", one(qwen, "written")},
		{"qwen/short", one(qwen, "short")},
		{"box/vote", strings.Replace(app.DefaultCouncil, "rounds: 3", "rounds: 0", 1)},
		{"box/sac", app.DefaultCouncil},
		{"three/vote", string(three)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for _, model := range []string{gemma, qwen} {
				if _, err := store.Resolve(model); err != nil && strings.Contains(c.text, model) {
					b.Skip("NEEDS THE MODEL: synod models pull " + model)
				}
			}
			file := filepath.Join(b.TempDir(), "council.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				benchBox(b, bin, file, store.Dir)
			}
		})
	}
}

func benchBox(b *testing.B, bin, file, store string) {
	var n, right, agreed, seats, seatsRight float64
	start := time.Now()
	for _, q := range easyQuestions(b) {
		cmd := exec.Command(bin, "-q", "ask", "--json", "--seed", "1", "--on-no-consensus", "best-effort", "--form",
			q.form, "-c", file, q.text)
		cmd.Env = append(os.Environ(), "SYNOD_HOME="+b.TempDir(), "SYNOD_MODELS="+store)
		out, err := cmd.Output()
		var o struct {
			Status, Answer string
			Members        []struct{ First, Final string }
		}
		if bad := json.Unmarshal(out, &o); bad != nil {
			b.Fatalf("%s: %v, %v", q.text, err, bad)
		}
		n++
		if q.right(o.Answer) {
			right++
		}
		if o.Status == "agreed" {
			agreed++
		}
		for _, m := range o.Members {
			seats++
			if q.right(m.First) {
				seatsRight++
			}
		}
		if testing.Verbose() {
			b.Logf("%v %-9s %-40s %-20q first %v", q.right(o.Answer), o.Status, strings.Split(q.text, "\n")[0],
				o.Answer, o.Members)
		}
	}
	b.ReportMetric(right, fmt.Sprintf("right/%v", n))
	b.ReportMetric(agreed, fmt.Sprintf("agreed/%v", n))
	b.ReportMetric(seatsRight, fmt.Sprintf("first-answers-right/%v", seats))
	b.ReportMetric(time.Since(start).Seconds()/n, "s/question")
}

type easyQuestion struct {
	form, text string
	accepted   []string
}

func (q easyQuestion) right(a string) bool {
	return slices.ContainsFunc(q.accepted, func(s string) bool { return strings.EqualFold(s, a) })
}

// easyQuestions puts the right option of a choice in a place that goes round.
func easyQuestions(b *testing.B) (list []easyQuestion) {
	f, err := os.Open("../../llm/testdata/easy.tsv")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		col := strings.Split(s.Text(), "\t")
		if len(col) != 4 {
			continue
		}
		q := easyQuestion{col[0], col[1], strings.Split(col[2], "|")}
		if q.form == "choice" {
			options := strings.Split(col[3], "|")
			at := len(list) % (len(options) + 1)
			for i, o := range slices.Insert(options, at, col[2]) {
				q.text += fmt.Sprintf("\n%c) %s", 'A'+i, o)
			}
			q.accepted = []string{string(rune('A' + at))}
		}
		list = append(list, q)
	}
	return list
}
