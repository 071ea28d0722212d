package llm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

const goodRows = `{"benchmark":"b","item_id":"i1","model":"m","trial":1,"response":"Answer: 8","gold":"7"}
{"benchmark":"b","item_id":"i1","model":"m","trial":0,"question":"What is 3+4?","response":"3+4.\nAnswer: 7","correct":true}

{"benchmark":"b","item_id":2,"model":"m","trial":0,"response":null,"response_omitted":true}
{"benchmark":"b","item_id":"i3","model":"m","trial":0,"response":"I do not know."}
{"benchmark":"b","item_id":"i1","model":"other","trial":0,"response":"Answer: 9"}
{"benchmark":"c","item_id":"i1","model":"lone","trial":0,"response":"Answer: 10"}`

func writeTrace(t *testing.T, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openRecording(t *testing.T, c recordedConfig) *recorded {
	t.Helper()
	m, err := newRecorded(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestRecorded(t *testing.T) {
	m := openRecording(t, recordedConfig{Path: writeTrace(t, goodRows), Model: "m"})
	seven := &synod.Question{ID: "i1", Text: "What is 3+4?", Form: synod.Number}
	for _, c := range []struct {
		name   string
		prompt synod.Prompt
		sample int
		text   string
		value  float64
		answer synod.Answer
		fails  string // part of the reason
	}{
		{name: "by id", prompt: synod.Prompt{Purpose: synod.Answering, Question: seven}, text: "3+4.\nAnswer: 7"},
		{name: "by trial", prompt: synod.Prompt{Purpose: synod.Answering, Question: seven}, sample: 1,
			text: "Answer: 8"},
		{name: "by text", prompt: synod.Prompt{Purpose: synod.Answering,
			Question: &synod.Question{Text: "What is 3+4?", Form: synod.Number}}, text: "3+4.\nAnswer: 7"},
		{name: "by text beside an id of another set",
			prompt: synod.Prompt{Purpose: synod.Answering, Question: &synod.Question{ID: "x9", Text: "What is 3+4?",
				Form: synod.Number}}, text: "3+4.\nAnswer: 7"},
		{name: "own", prompt: synod.Prompt{Purpose: synod.Scoring, Question: seven, Candidate: "7"}, value: 1},
		{name: "other", prompt: synod.Prompt{Purpose: synod.Scoring, Question: seven, Candidate: "8"}},
		{name: "own of trial 1", prompt: synod.Prompt{Purpose: synod.Scoring, Question: seven, Candidate: "8"},
			sample: 1, value: 1},
		{name: "refine", prompt: synod.Prompt{Purpose: synod.Refining, Question: seven, Own: "7",
			Peers: []synod.Rated{{Answer: "8", Score: 1}}}, answer: "7"},
		{name: "no such trial", prompt: synod.Prompt{Purpose: synod.Answering, Question: seven}, sample: 2,
			fails: "no recorded trial 2 of item i1"},
		{name: "no such item", prompt: synod.Prompt{Purpose: synod.Answering,
			Question: &synod.Question{ID: "i9", Text: "?"}}, fails: "no recorded reply"},
		{name: "left out", prompt: synod.Prompt{Purpose: synod.Answering,
			Question: &synod.Question{ID: "2", Text: "?"}}, fails: "left out"},
		{name: "no answer to compare with", prompt: synod.Prompt{Purpose: synod.Scoring,
			Question: &synod.Question{ID: "i3", Form: synod.Number}, Candidate: "1"},
			fails: "no answer to compare with"},
		{name: "weigh", prompt: synod.Prompt{Purpose: synod.Weighing, Question: seven, Candidate: "7"},
			fails: "of purpose weigh"},
	} {
		r, err := m.Complete(context.Background(), Request{Prompt: &c.prompt, Sample: c.sample})
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) || r.Status == synod.OK ||
				!strings.Contains(r.Detail, c.fails) {
				t.Errorf("%s: %+v, %v; want a failure with %q", c.name, r, err, c.fails)
			}
			continue
		}
		if err != nil || r.Status != synod.OK || r.Text != c.text || r.Value != c.value || r.Answer != c.answer ||
			r.Typed == (c.text != "") || r.Calls != 0 || !r.Reused {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
	}
	if i := m.Info(); i.Kind != Recorded || i.Name != "m" || !strings.Contains(i.Identity, "sha256:") {
		t.Errorf("labelled %+v", i)
	}
}

func TestRecordedRefusesBadFiles(t *testing.T) {
	const head = `{"benchmark":"b","item_id":"i","model":"m","trial":0,"response":"x"}` + "\n"
	for rows, want := range map[string]string{
		"":   "no rows",
		head: "", // the one good file
		head + `{"item_id":"i","model":"m","trial":0,"response":"x"}`:                  "line 2: benchmark is missing",
		head + `{"benchmark":"b","model":"m","trial":0,"response":"x"}`:                "line 2: item_id is missing",
		head + `{"benchmark":"b","item_id":1.5,"model":"m","trial":0,"response":"x"}`:  "item_id",
		head + `{"benchmark":"b","item_id":"","model":"m","trial":0,"response":"x"}`:   "item_id",
		head + `{"benchmark":"b","item_id":"i","trial":0,"response":"x"}`:              "model is missing",
		head + `{"benchmark":"b","item_id":"i","model":"m","response":"x"}`:            "trial is missing",
		head + `{"benchmark":"b","item_id":"i","model":"m","trial":-1,"response":"x"}`: "trial is missing or negative",
		head + `{"benchmark":"b","item_id":"i","model":"m","trial":1}`:                 "response is missing",
		head + `{"benchmark":"b","item_id":"i","model":"m","trial":1,"response":7}`:    "neither text nor null",
		head + head:                            "line 2: item i, trial 0 of m occurs twice",
		head + `{"benchmark":`:                 "line 2: unexpected end",
		head + "\n[]":                          "line 3:",
		strings.ReplaceAll(head, `"m"`, `"n"`): `no rows of model "m" (did you mean "n"?)`,
		`{"benchmark":"b","item_id":"i","model":"m","trial":0,"response":"x","question":"q"}` + "\n" +
			`{"benchmark":"b","item_id":"j","model":"m","trial":0,"response":"x","question":"q"}`: "items i and j ask " +
			"the same question",
	} {
		m, err := newRecorded(recordedConfig{Path: writeTrace(t, rows), Model: "m"})
		if want == "" && err == nil {
			m.Close()
			continue
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", rows, err, want)
		}
	}
	if _, err := newRecorded(recordedConfig{Path: "nowhere.jsonl", Model: "m"}); err == nil {
		t.Error("a missing file was opened")
	}
	if _, err := newRecorded(recordedConfig{Path: "x"}); err == nil {
		t.Error("no model was named")
	}
}

func TestRecordedBenchmarkFilter(t *testing.T) {
	m := openRecording(t, recordedConfig{Path: writeTrace(t, goodRows), Model: "lone", Benchmark: "c"})
	r, err := m.Complete(context.Background(), Request{Prompt: &synod.Prompt{Purpose: synod.Answering,
		Question: &synod.Question{ID: "i1"}}})
	if err != nil || r.Text != "Answer: 10" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := newRecorded(recordedConfig{Path: writeTrace(t, goodRows), Model: "lone", Benchmark: "b"}); err == nil {
		t.Error("a row of another benchmark was taken")
	}
}

// A file that changes after it was opened is noticed: no reply of another item is
// returned.
func TestRecordedFileChanges(t *testing.T) {
	path := writeTrace(t, goodRows)
	m := openRecording(t, recordedConfig{Path: path, Model: "m"})
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(goodRows, "i1", "zz")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := m.Complete(context.Background(), Request{Prompt: &synod.Prompt{Purpose: synod.Answering,
		Question: &synod.Question{ID: "i1"}}})
	if err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v", err)
	}
}

// Every reply of the shared traces is found, or was left out on purpose.
func TestRecordedTraces(t *testing.T) {
	const dir = "../../shared/data/traces/"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no traces here")
	}
	for _, c := range []struct {
		file, model string
		items       int
	}{
		{"cp-wbft.jsonl", "openai/gpt-4o-mini", 20}, {"gsm8k-openai.jsonl", "gpt3-175b_verification", 400},
		{"mmlu-pro.jsonl", "gemma-7b", 200}, {"xstest.jsonl", "gpt4", 449},
	} {
		m := openRecording(t, recordedConfig{Path: dir + c.file, Model: c.model})
		if len(m.items) != c.items {
			t.Errorf("%s: %d items of %s; want %d", c.file, len(m.items), c.model, c.items)
		}
		for item, rows := range m.items {
			for _, row := range rows {
				p := synod.Prompt{Purpose: synod.Answering, Question: &synod.Question{ID: item}}
				if _, err := m.Complete(context.Background(), Request{Prompt: &p, Sample: row.trial}); err != nil &&
					!strings.Contains(err.Error(), "left out") {
					t.Errorf("%s: item %s: %v", c.file, item, err)
				}
			}
		}
	}
}

const confidentRows = `{"benchmark":"b","item_id":"i1","model":"m","trial":0,"response":"wait, 9? The final answer is 8.","answer":"7","confidence":0.25}
{"benchmark":"b","item_id":"i2","model":"m","trial":0,"response":"Answer: 8","answer":null,"confidence":null}`

// [CP-2] A recorded confidence comes with the reply where one is asked for, and
// with answers: source the answer is the one that the recording's source read.
func TestRecordedConfidence(t *testing.T) {
	path := writeTrace(t, confidentRows)
	for _, c := range []struct {
		item, answers string
		mode          synod.ConfidenceMode
		typed         bool
		confidence    float64 // -1: none
	}{
		{"i1", "", synod.HiddenConfidence, false, .25}, {"i1", "", synod.StatedConfidence, false, .25},
		{"i1", "", synod.NoConfidence, false, -1},
		{"i1", "source", synod.HiddenConfidence, true, .25}, {"i2", "source", synod.HiddenConfidence, false, -1},
	} {
		m := openRecording(t, recordedConfig{Path: path, Model: "m", Answers: c.answers})
		p := &synod.Prompt{Purpose: synod.Answering, Question: &synod.Question{ID: c.item, Form: synod.Number},
			ConfidenceMode: c.mode}
		r, err := m.Complete(t.Context(), Request{Prompt: p})
		confidence := -1.0
		if r.Confidence != nil {
			confidence = *r.Confidence
		}
		if err != nil || r.Typed != c.typed || c.typed && r.Answer != "7" || confidence != c.confidence ||
			m.Info().Kind != Recorded {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
	verdicts := writeTrace(t, strings.Replace(confidentRows, `"answer":"7"`, `"answer":"7","correct":false`, 1))
	m := openRecording(t, recordedConfig{Path: verdicts, Model: "m", Answers: "verdict"})
	for item, want := range map[string]synod.Answer{"i1": "false", "i2": synod.None} { // i2 has no verdict
		r, err := m.Complete(t.Context(), Request{Prompt: &synod.Prompt{Purpose: synod.Answering,
			Question: &synod.Question{ID: item, Form: synod.Bool}}})
		if r.Answer != want || (err == nil) != (want != synod.None) {
			t.Errorf("verdict on %s: %q, %v", item, r.Answer, err)
		}
	}
	if m := openRecording(t, recordedConfig{Path: path, Model: "m"}); !m.GivesHiddenConfidence() {
		t.Error("a recording with a confidence reports none")
	}
	if m := openRecording(t, recordedConfig{Path: writeTrace(t, goodRows), Model: "m"}); m.GivesHiddenConfidence() {
		t.Error("a recording without confidences reports one")
	}
	_, err := newRecorded(recordedConfig{Path: path, Model: "m", Answers: "guess"})
	if err == nil || !strings.Contains(err.Error(), "must be response, source or verdict") {
		t.Error(err)
	}
	bad := writeTrace(t, strings.Replace(confidentRows, "0.25", "1.25", 1))
	if _, err := newRecorded(recordedConfig{Path: bad, Model: "m"}); err == nil ||
		!strings.Contains(err.Error(), "line 1: confidence is 1.25") {
		t.Error(err)
	}
}

func BenchmarkRecorded(b *testing.B) {
	path := filepath.Join(b.TempDir(), "trace.jsonl")
	var rows strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&rows, `{"benchmark":"b","item_id":%d,"model":"m","trial":0,"response":%q}`+"\n", i,
			strings.Repeat("word ", 200)+"\nAnswer: 7")
	}
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		b.SetBytes(int64(rows.Len()))
		for b.Loop() {
			m, err := newRecorded(recordedConfig{Path: path, Model: "m"})
			if err != nil {
				b.Fatal(err)
			}
			m.Close()
		}
	})
	b.Run("answer", func(b *testing.B) {
		m, err := newRecorded(recordedConfig{Path: path, Model: "m"})
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close()
		q := &synod.Question{ID: "4711", Form: synod.Number}
		for b.Loop() {
			r, err := m.Complete(context.Background(),
				Request{Prompt: &synod.Prompt{Purpose: synod.Answering, Question: q}})
			if _, _, ok := read.Answer(q, &r, false); err != nil || !ok {
				b.Fatal(err)
			}
		}
	})
}
