package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm/read"
)

// sevenRecorded are the models whose recorded replies a stub serves: large models of seven makers.
var sevenRecorded = []string{"gpt-4o-2024-08-06", "claude-3-5-sonnet-20240620", "gemini-1.5-pro",
	"Meta-Llama-3.1-405B-Instruct@hyperbolic", "Mistral-Large-2", "deepseek-v2.5-0908", "Qwen2.5-72B-Instruct"}

// recordedVotes has the recorded replies of these models to questions, and the answers that their source read in them.
type recordedVotes struct {
	questions map[string]string // by id
	gold      map[string]string
	order     []string                     // of the ids
	replies   map[string]map[string]string // by id and model
	answers   map[string]map[string]string // likewise; absent: the source found none
}

func loadRecordedVotes(t *testing.T) *recordedVotes {
	v := &recordedVotes{questions: map[string]string{}, gold: map[string]string{},
		replies: map[string]map[string]string{}, answers: map[string]map[string]string{}}
	for _, q := range votesFile[struct{ ID, Question, Gold string }](t, "math-l5.jsonl.gz") {
		v.questions[q.ID], v.gold[q.ID] = q.Question, q.Gold
	}
	for _, r := range votesFile[struct {
		ID, Model, Reply string
		Answer           *string
	}](t, "math-l5-replies.jsonl.gz") {
		if !slices.Contains(sevenRecorded, r.Model) {
			continue
		}
		if v.replies[r.ID] == nil {
			v.replies[r.ID], v.answers[r.ID] = map[string]string{}, map[string]string{}
			v.order = append(v.order, r.ID)
		}
		v.replies[r.ID][r.Model] = r.Reply
		if r.Answer != nil {
			v.answers[r.ID][r.Model] = *r.Answer
		}
	}
	return v
}

func votesFile[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "votes", name))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: there is no public data at ../shared/data")
	} else if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var x T
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

// count decides each question by the majority of the recorded answers of all models.
func (v *recordedVotes) count() (decided, right int) {
	q := &synod.Question{Form: synod.Number}
	value := func(text string) synod.Answer {
		if a, ok := read.Canonical(q, text); ok {
			return a
		}
		return synod.Answer(text)
	}
	for _, id := range v.order {
		votes := map[synod.Answer]int{}
		for _, a := range v.answers[id] {
			votes[value(a)]++
		}
		for a, n := range votes {
			if 2*n > len(sevenRecorded) {
				decided++
				if a == value(v.gold[id]) {
					right++
				}
			}
		}
	}
	return decided, right
}

// handler serves the recorded replies by question and model. To a second request the model repeats itself or, with
// states, gives the recorded answer on a line.
func (v *recordedVotes) handler(t *testing.T, states bool) llmtest.Handler {
	byText := map[string]string{}
	for _, id := range v.order {
		byText[v.questions[id]] = id
	}
	return func(c llmtest.Call) string {
		if c.User == "" { // the request before the run that tests the address
			return ""
		}
		id := ""
		for text, of := range byText {
			if strings.HasPrefix(c.User, text) && len(text) > len(v.questions[id]) {
				id = of
			}
		}
		reply, ok := v.replies[id][c.Model]
		if !ok {
			t.Errorf("there is no recorded reply of %s to %.80q", c.Model, c.User)
		}
		if a, found := v.answers[id][c.Model]; c.Said != "" && states && found {
			return "Answer: " + a
		}
		return reply
	}
}

// Seven models whose server does not enforce a schema, because it ignores response_format or refuses it, are read: the
// council decides as often as a count of the answers that the replies' source read in them, and is as often right.
// With second chances it is no worse. The control is the same replies without their ends, where most answers stand.
func TestRecordedRepliesWithoutSchema(t *testing.T) {
	v := loadRecordedVotes(t)
	decided, right := v.count()
	t.Logf("a count of the recorded answers decides %d of %d questions, %d right", decided, len(v.order), right)
	ignored, refused := llmtest.Quiet(), llmtest.With(llmtest.RefuseFormat("json_schema", "json_object"))
	results := map[string]benchFigures{}
	for _, x := range []struct {
		name, reread string
		server       llmtest.Option
		states       bool
	}{
		{"ignored, never", "never", ignored, false},
		{"refused, never", "never", refused, false},
		{"ignored, once, repeats itself", "once", ignored, false},
		{"refused, once, states its answer", "once", refused, true},
	} {
		s := llmtest.Start(t, v.handler(t, x.states), llmtest.Quiet(), x.server)
		got := v.bench(t, s.URL, x.reread)
		results[x.name] = got
		t.Logf("response_format %s: %d decided, %d right, %d replies unreadable, %d requests", x.name, got.decided,
			got.right, got.unreadable, s.Count())
		if abs(got.decided-decided) > 1 || abs(got.right-right) > 1 {
			t.Errorf("%s: %d decided and %d right; a count of the recorded answers has %d and %d", x.name, got.decided,
				got.right, decided, right)
		}
	}
	whole := v.handler(t, false)
	s := llmtest.Start(t, func(c llmtest.Call) string {
		reply := whole(c)
		return clean.Head(reply, len(reply)/2)
	}, llmtest.Quiet())
	if cut := v.bench(t, s.URL, "never"); cut.decided > decided/2 {
		t.Errorf("%d questions are decided by replies that are cut in half: this test shows nothing", cut.decided)
	}
	if once, never := results["ignored, once, repeats itself"], results["ignored, never"]; once.right < never.right ||
		once.decided < never.decided {
		t.Errorf("with second chances %+v, without %+v", once, never)
	}
	if once, never := results["refused, once, states its answer"], results["refused, never"]; once.right <
		never.right || once.decided < never.decided || once.unreadable > never.unreadable {
		t.Errorf("with second chances %+v, without %+v", once, never)
	}
}

func abs(n int) int { return max(n, -n) }

type benchFigures struct{ decided, right, unreadable int }

// bench runs synod bench run over the recorded questions with majority, and returns the figures of its report.
func (v *recordedVotes) bench(t *testing.T, url, reread string) (f benchFigures) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("OPENAI_API_KEY", "")
	var questions, file strings.Builder
	for _, id := range v.order {
		b, _ := json.Marshal(map[string]string{"id": id, "question": v.questions[id], "answer": v.gold[id]})
		questions.Write(append(b, '\n'))
	}
	fmt.Fprintf(&file, "protocol: {name: majority}\nf: 0\nform: number\nreread: %s\nmodels:\n", reread)
	for i, m := range sevenRecorded {
		fmt.Fprintf(&file, "  m%d: {provider: openai, url: %q, model: %q}\n", i, url, m)
	}
	file.WriteString("seats:\n")
	for i := range sevenRecorded {
		fmt.Fprintf(&file, "  - {id: s%d, model: m%d}\n", i, i)
	}
	for name, text := range map[string]string{"q.jsonl": questions.String(), "c.yaml": file.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := filepath.Join(dir, "run")
	synodOut(t, "bench", "run", filepath.Join(dir, "q.jsonl"), "-c", filepath.Join(dir, "c.yaml"), "-n",
		fmt.Sprint(len(v.order)), "-o", run, "--form", "number")
	var report struct {
		Finished int
		Metrics  struct {
			Agreed   struct{ Value float64 }
			Decision struct {
				Value float64
				N     int
			} `json:"decision_accuracy"`
		}
		Models []struct{ Unreadable int }
	}
	if err := json.Unmarshal(synodOut(t, "bench", "report", run, "--format", "json"), &report); err != nil {
		t.Fatal(err)
	}
	if report.Finished != len(v.order) {
		t.Fatalf("%d of %d questions finished", report.Finished, len(v.order))
	}
	f.decided = report.Metrics.Decision.N
	f.right = int(report.Metrics.Decision.Value*float64(f.decided) + 0.5)
	for _, m := range report.Models {
		f.unreadable += m.Unreadable
	}
	return f
}

// synodOut runs the command line in this process and returns what it prints to stdout.
func synodOut(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := Run(context.Background(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("synod %s exits with %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.Bytes()
}
