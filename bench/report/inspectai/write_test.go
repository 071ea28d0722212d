package inspectai_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod/bench/report/inspectai"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden file; then read the diff and run make inspect")

func log() *inspectai.Log {
	return &inspectai.Log{
		Version: inspectai.Version, Status: inspectai.Failed,
		Eval: inspectai.Eval{
			EvalID: "e", RunID: "e", TaskID: "e", Created: "2026-05-09T10:00:00.000+00:00", Task: "own",
			TaskArgs: map[string]any{"seed": 7},
			Solver:   "sac", SolverArgs: map[string]any{"rule": "majority"}, Tags: []string{"simulated"},
			Dataset: inspectai.Dataset{Name: "own", Samples: 2, SampleIDs: []string{"q/1", "q2"}},
			Model:   "council/four (simulated)",
			ModelRoles: map[string]inspectai.Model{
				"dice": {Model: "simulated/dice", Args: map[string]any{"kind": "simulated"}},
			},
			Config: inspectai.Config{Epochs: 1, LogSamples: true}, Packages: map[string]string{"synod": "0.1.0"},
			Metadata: map[string]any{"digest": "d"}, Scorers: []inspectai.Scorer{{Name: "decision"}},
		},
		Plan: inspectai.Plan{Name: "plan", Steps: []inspectai.Step{{Solver: "sac",
			Params: map[string]any{"rule": "majority"}}}},
		Results: &inspectai.Results{Total: 2, Completed: 1, Logged: 2, Scores: []inspectai.Figures{{
			Name: "decision", Scorer: "decision", Scored: 1, Unscored: 1,
			Metrics: map[string]inspectai.Metric{"faa": {Name: "faa", Value: 0.75, Metadata: map[string]any{"n": 4}}},
		}}},
		Error: &inspectai.Error{Message: "1 of 2 questions failed"},
	}
}

// samples yields a sample with every field, and one of a failed question with the
// required fields only.
func samples(yield func(*inspectai.Sample, error) bool) {
	seconds := 1.5
	reply := inspectai.Message{ID: "0.a", Role: inspectai.Assistant, Source: inspectai.Generate,
		Content: "<i>fish</i> \x1b\u202e", Model: "simulated/dice", Metadata: map[string]any{"round": 0}}
	for _, s := range []*inspectai.Sample{{
		ID: "q/1", Epoch: 1, Input: "Which is a fish?", Choices: []string{"whale", "cod"}, Target: "B",
		Messages: []inspectai.Message{{ID: "question", Role: inspectai.User, Source: inspectai.Input,
			Content: "Which is a fish?"}, reply},
		Output: inspectai.Output{
			Model: "council/four (simulated)", Completion: "B", Usage: &inspectai.Usage{Input: 3, Output: 4, Total: 7},
			Choices: []inspectai.Choice{{Message: reply, StopReason: "stop"}},
		},
		Scores: map[string]inspectai.Score{"decision": {Value: inspectai.Correct, Answer: "B", Explanation: "all",
			Metadata: map[string]any{"votes": 3}}},
		Metadata: map[string]any{"status": "agreed"}, Store: map[string]any{"rounds": []int{}}, Events: []struct{}{},
		ModelUsage: map[string]inspectai.Usage{"simulated/dice": {Input: 3, Output: 4, Total: 7}},
		StartedAt:  "2026-05-09T10:00:01.000+00:00", CompletedAt: "2026-05-09T10:00:02.500+00:00", TotalTime: &seconds,
	}, {
		ID: "q2", Epoch: 1, Input: "?", Target: "1", Messages: []inspectai.Message{},
		Output: inspectai.Output{Choices: []inspectai.Choice{}},
		Scores: map[string]inspectai.Score{}, Metadata: map[string]any{}, Store: map[string]any{}, Events: []struct{}{},
		ModelUsage: map[string]inspectai.Usage{"simulated/dice": {Input: 10, Output: 10, Total: 20}},
		StartedAt:  "2026-05-09T10:00:00.500+00:00", CompletedAt: "2026-05-09T10:00:01.000+00:00",
		Error: &inspectai.Error{Message: "the deadline passed"},
	}} {
		if !yield(s, nil) {
			return
		}
	}
}

func write(t *testing.T, format string, l *inspectai.Log) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := inspectai.Write(&b, format, l, samples); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The format is the one that make inspect has checked with inspect_ai.
func TestGolden(t *testing.T) {
	const golden = "testdata/log.json"
	got := write(t, inspectai.JSON, log())
	if *rewrite {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the format has changed; rewrite the file with -rewrite, and check it with make inspect:\n%s", got)
	}
	if bytes.Contains(got, []byte("\x1b")) {
		t.Error("the file contains an escape character")
	}
	if i, j := bytes.Index(got, []byte(`"stats"`)), bytes.Index(got, []byte(`"samples": [`)); i < 0 || j < i {
		t.Error("the header does not come before the samples")
	}
}

// Both formats have the same content.
func TestArchive(t *testing.T) {
	var whole map[string]any
	if err := json.Unmarshal(write(t, inspectai.JSON, log()), &whole); err != nil {
		t.Fatal(err)
	}
	b := write(t, inspectai.Archive, log())
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	all := whole["samples"].([]any)
	delete(whole, "samples")
	if got := member(t, z, "header.json"); !reflect.DeepEqual(got, any(whole)) {
		t.Errorf("header %v, want %v", got, whole)
	}
	for i, name := range []string{"samples/q/1_epoch_1.json", "samples/q2_epoch_1.json"} {
		if got := member(t, z, name); !reflect.DeepEqual(got, all[i]) {
			t.Errorf("%s: %v, want %v", name, got, all[i])
		}
	}
	summaries := member(t, z, "summaries.json").([]any)
	if failed := summaries[1].(map[string]any); len(summaries) != 2 || failed["error"] != "the deadline passed" ||
		failed["completed"] != true {
		t.Errorf("%v", summaries)
	}
}

func member(t *testing.T, z *zip.Reader, name string) (v any) {
	t.Helper()
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(name, err)
	}
	return v
}

// Usage is added up. A run that may still be running has no end time.
func TestSums(t *testing.T) {
	for status, ended := range map[string]string{inspectai.Success: "2026-05-09T10:00:02.500+00:00",
		inspectai.Started: ""} {
		l := log()
		l.Status = status
		write(t, inspectai.JSON, l)
		if u := l.Stats.ModelUsage["simulated/dice"]; u != (inspectai.Usage{Input: 13, Output: 14, Total: 27}) ||
			l.Stats.StartedAt != "2026-05-09T10:00:00.500+00:00" || l.Stats.CompletedAt != ended {
			t.Errorf("%s: %+v", status, l.Stats)
		}
	}
}

// Making a sample reads a whole journal, so each is made once, and its temporary file is removed.
func TestOnePass(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, format := range []string{inspectai.JSON, inspectai.Archive} {
		passes := 0
		err := inspectai.Write(io.Discard, format, log(), func(yield func(*inspectai.Sample, error) bool) {
			passes++
			samples(yield)
		})
		left, _ := os.ReadDir(dir)
		if err != nil || passes != 1 || len(left) > 0 {
			t.Errorf("%s: %d passes, %d files left, error %v", format, passes, len(left), err)
		}
	}
}

func TestBad(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		format string
		sample *inspectai.Sample
		err    error
		want   string
	}{
		"format":        {".csv", &inspectai.Sample{}, nil, "unknown format"},
		"sample":        {inspectai.JSON, nil, broken, "broken"},
		"in an archive": {inspectai.Archive, nil, broken, "broken"},
		"climbing id":   {inspectai.Archive, &inspectai.Sample{ID: "../../x"}, nil, "cannot be a file name"},
		"rooted id":     {inspectai.Archive, &inspectai.Sample{ID: "/x"}, nil, "cannot be a file name"},
	} {
		err := inspectai.Write(io.Discard, c.format, log(),
			func(yield func(*inspectai.Sample, error) bool) { yield(c.sample, c.err) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
