package task

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/fetch"
)

// convert makes the file of a conversion and returns its objects.
func convert(t *testing.T, name string, in ...string) ([]map[string]any, string) {
	t.Helper()
	c, err := Conversions.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	made, note, err := c.Make(in)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := rowsIn[map[string]any](c.File, made)
	if err != nil {
		t.Fatal(err)
	}
	return rows, note
}

// fileOf writes a file into a new folder.
func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	write(t, path, text)
	return path
}

// The six files of CP-WBFT's repository give the 240 recorded replies that were made from them by other code.
func TestConvertCPWBFT(t *testing.T) {
	data := dataDir(t)
	got, note := convert(t, "traces/cp-wbft", filepath.Join(data, "cp-wbft"), filepath.Join(data, "gsm8k-test.jsonl"))
	want, err := rowsOf[map[string]any](filepath.Join(data, "traces", "cp-wbft.jsonl"))
	if err != nil || note != "" {
		t.Fatal(err, note)
	}
	key := func(r map[string]any) string { return fmt.Sprint(r["benchmark"], r["item_id"], r["model"], r["trial"]) }
	byKey := map[string]map[string]any{}
	for _, r := range got {
		byKey[key(r)] = r
	}
	if len(got) != 240 || len(want) != 240 {
		t.Fatalf("%d rows, expected 240; the reference has %d", len(got), len(want))
	}
	for _, r := range want {
		if n, ok := r["correct"].(float64); ok { // two verdicts of the source are 0 and 1
			r["correct"] = n == 1
		}
		if !reflect.DeepEqual(byKey[key(r)], r) {
			t.Errorf("%s:\n got %v\nwant %v", key(r), byKey[key(r)], r)
		}
	}
}

func TestConvertCPWBFTNeedsPositions(t *testing.T) {
	c, _ := Conversions.Find("traces/cp-wbft")
	_, _, err := c.Make([]string{fileOf(t, "llama.json",
		`{"results": [{"question": "How many?", "llama3_response": "1", "llama31_response": "2", "x": NaN}]}`)})
	if err == nil || !strings.Contains(err.Error(), "GSM8K's test split") {
		t.Error(err)
	}
}

// mathTar writes an archive in MATH's layout with the SAC paper's problems, changed by change.
func mathTar(t *testing.T, change func(*mathRow)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "MATH.tar")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := tar.NewWriter(f)
	rows, err := rowsOf[sacMathRow](filepath.Join(dataDir(t), "sac-math500-l4.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		row := mathRow{Problem: r.Problem, Level: "Level " +
			"4", Type: r.Subject, Solution: `So \boxed{x} = \boxed{` + r.Answer +
			"}."}
		change(&row)
		text, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: "MATH/" + r.UniqueID, Mode: 0o644, Size: int64(len(text)),
			Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// The 30 problems of MATH.tar, found by qid, are those of the compiled file, and a changed text is not taken.
func TestConvertSACMath(t *testing.T) {
	made, _, err := makeSACMath([]string{mathTar(t, func(*mathRow) {})})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadRows(fileOf(t, "made.jsonl", string(made)), sacMathItem)
	if err != nil {
		t.Fatal(err)
	}
	if want := open(t, "sac-math"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %d items\n%v\nwant\n%v", len(got), got, want)
	}
	first := ""
	_, _, err = makeSACMath([]string{mathTar(t, func(r *mathRow) {
		if first == "" {
			first, r.Problem = qid(r.Problem), r.Problem+" "
		}
	})})
	if err == nil || !strings.Contains(err.Error(), "1 of the 30 problems") || !strings.Contains(err.Error(), first) {
		t.Error("a changed text:", err)
	}
	_, _, err = makeSACMath([]string{mathTar(t, func(r *mathRow) { r.Solution = `\boxed{0}` })})
	if err == nil || !strings.Contains(err.Error(), `ends with "0"`) {
		t.Error("another answer:", err)
	}
}

// boxed reads MATH's answers: those of all 500 problems of MATH500 from their solutions.
func TestBoxed(t *testing.T) {
	rows, err := rowsOf[math500Row](filepath.Join(dataDir(t), "math500.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if got, ok := boxed(r.Solution); !ok || got != r.Answer {
			t.Errorf("%s: got %q, want %q", r.UniqueID, got, r.Answer)
		}
	}
}

// The texts whose digests are known are found among other rows; those that are not found are named.
func TestConvertSACCommonsense(t *testing.T) {
	rows, err := rowsOf[sacCommonsenseRow](filepath.Join(dataDir(t), "sac-commonsense.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	train := []adapterRow{{Instruction: "Please answer another question", Answer: "true"}}
	for _, r := range rows {
		if r.Instruction != nil {
			train = append(train, adapterRow{Instruction: *r.Instruction, Answer: r.Answer})
		}
	}
	text, err := json.Marshal(train)
	if err != nil {
		t.Fatal(err)
	}
	made, note := convert(t, "sac-commonsense", fileOf(t, "commonsense_170k.json", string(text)))
	if len(made) != 20 || !strings.Contains(note, "10 of the 30") || !strings.Contains(note, "263ebb80") {
		t.Errorf("%d rows, %q", len(made), note)
	}
	text, _ = json.Marshal(train[:len(train)-1])
	c, _ := Conversions.Find("sac-commonsense")
	if _, _, err := c.Make([]string{fileOf(t, "train.json", string(text))}); err == nil ||
		!strings.Contains(err.Error(), "1 of the 30 questions are not in") {
		t.Error(err)
	}
}

// Rows of our own in the other layouts.
func TestConvertLayouts(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"traces/gsm8k-openai": {"example_model_solutions.jsonl", `{"question": "2+2?", "ground_truth": "4\nA: 4",
			"6b_finetuning": {"is_correct": false, "solution": "5\nA: 5"},
			"6b_verification": {"is_correct": true, "solution": "A: 4"},
			"175b_finetuning": {"is_correct": false, "solution": "no end"},
			"175b_verification": {"is_correct": true, "solution": "A: 4"}}`,
			"gsm8k test-0 gpt3-6b_finetuning 4 5 false|gsm8k test-0 gpt3-6b_verification 4 4 true|" +
				"gsm8k test-0 gpt3-175b_finetuning 4 <nil> false|gsm8k test-0 gpt3-175b_verification 4 4 true"},
		"traces/mmlu-pro": {"model_outputs_gemma-7b_5shots.json", `[{"question_id": 72, "answer": "J", "model_outputs":
			"The answer is (J)."}, {"question_id": 73, "answer": "B", "model_outputs": "I cannot say"}]`,
			"mmlu-pro 72 gemma-7b J J true|mmlu-pro 73 gemma-7b B <nil> false"},
		"traces/xstest": {"xstest_v2_completions_gpt4.csv", "id,type,prompt,completion,annotation_1,annotation_2," +
			"agreement,final_label\nv2-1,homonyms,How?,\"So, so\",,,TRUE,1_full_compliance\n" +
			"v2-26,contrast_homonyms,How?,So,,,TRUE,3_partial_refusal\nv2-27,contrast_homonyms,How?,No,,,TRUE," +
			"2_full_refusal\n", "xstest 1 gpt4 safe 1_full_compliance true|" +
			"xstest 26 gpt4 unsafe 3_partial_refusal false|xstest 27 gpt4 unsafe 2_full_refusal true"},
		"traces/realcritic-math": {"test.jsonl", `{"idx": 3, "question": "1+1?", "answer": "2", "pred": "3",
			"reasoning": "so 3", "model": "m", "previous_score": [false]}`, "math realcritic-3 m 2 3 false"},
	} {
		rows, _ := convert(t, name, fileOf(t, c.file, c.text))
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprintln(r["benchmark"], r["item_id"], r["model"], r["gold"], r["answer"],
				r["correct"]))
		}
		if g := strings.TrimSpace(strings.Join(got, "")); g != strings.ReplaceAll(c.want, "|", "\n") {
			t.Errorf("%s:\n got %s\nwant %s", name, g, c.want)
		}
		if name == "traces/xstest" && (rows[0]["response"] != "So, so" || rows[1]["response"] != nil) {
			t.Error("xstest: a completion of an unsafe prompt is kept, or another is not")
		}
	}
}

// Questions of the SAC authors' scripts become a file of one's own questions.
func TestConvertSACRepository(t *testing.T) {
	c, _ := Conversions.Find("sac-repository")
	made, _, err := c.Make([]string{fileOf(t, "arc_c.json", `[{"question_id": "arc_c_00000", "question":
		"Please choose the correct answer to the question: Which is a metal?\n\nanswer1: wood answer2: iron\n\nAnswer `+
		`format: answer1/answer2", "correct_answer": "answer2", "weak_answer": "",
		"dataset_type": "commonsense170k_mix"}, {"question_id": "m1", "question": "What is 1+1?",
		"correct_answer": "2", "dataset_type": "math500"}]`)})
	if err != nil {
		t.Fatal(err)
	}
	set, err := OpenFile(fileOf(t, "own.jsonl", string(made)), "")
	if err != nil {
		t.Fatal(err)
	}
	items, _ := set.Items()
	if len(items) != 2 || items[0].Question.Form != synod.Choice || len(items[0].Question.Options) != 2 ||
		items[0].GradeReply("answer2").Verdict != Right || items[1].GradeReply("2").Verdict != Right {
		t.Errorf("%+v", items)
	}
}

// A file that is made of published ones is fetched once, refused if it was changed, and not made of other content.
func TestPullMade(t *testing.T) {
	asked, serve := 0, content(published)
	s := toyStore(t)
	at := hub(t, func(w http.ResponseWriter, r *http.Request) { asked++; serve(w, r) })
	e := toy(at)
	c := Conversion{Entry: synod.Entry{Name: "traces/toy"}, File: "traces/toy.jsonl",
		From: []Source{e.Source, e.Source},
		Make: func(in []string) ([]byte, string, error) {
			rows, err := rowsOf[gsm8kRow](in[1])
			if err != nil {
				return nil, "", err
			}
			made, err := writeLines(rows[:2])
			return made, "two of 900", err
		}}
	var told []string
	o := PullOptions{Notice: func(line string) { told = append(told, line) }}
	for range 2 {
		if err := s.PullMade(context.Background(), c, o); err != nil {
			t.Fatal(err)
		}
	}
	path, err := Trace("toy", Options{Pulled: s.Dir})
	if err != nil || asked != 2 || s.MadeState(c) != Here || !strings.Contains(strings.Join(told, "\n"), "two of 900") {
		t.Errorf("%v, asked %d times, %s, %q", err, asked, s.MadeState(c), told)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "traces", "*.part")); len(left) > 0 {
		t.Error("parts are left:", left)
	}
	write(t, path, "{}\n")
	if _, err := Trace("toy", Options{Pulled: s.Dir}); !errors.Is(err, fetch.ErrDigest) || s.MadeState(c) != Damaged {
		t.Errorf("a changed file is read: %v, %s", err, s.MadeState(c))
	}
	c.Make = func([]string) ([]byte, string, error) { return nil, "", errors.New("an item is missing") }
	if err := s.PullMade(context.Background(), c, o); !errors.Is(err, fetch.ErrDigest) ||
		!strings.Contains(err.Error(), "an item is missing") {
		t.Error(err)
	}
	var private *UnpublishedError
	if err := s.PullMade(context.Background(), xstestTrace, o); !errors.As(err, &private) {
		t.Error(err)
	}
}

// What is to be pulled is pinned: files of recorded replies by their digests, items by theirs, votes by a commit and by
// digests of who was right.
func TestConversionsArePinned(t *testing.T) {
	commit := regexp.MustCompile(`/[0-9a-f]{40}/`)
	for _, c := range Conversions.All() {
		set, votes := strings.CutPrefix(c.Name, VotesPrefix)
		if l := listedVotes()[set]; votes && (len(l.digests) < 300 || len(l.digests) != len(l.ids)) {
			t.Errorf("%s: %d digests", c.Name, len(l.digests))
		}
		for _, from := range c.From {
			if votes && commit.MatchString(from.URL) {
				continue
			}
			if from.SHA256 == "" && c.Name != "sac-commonsense" {
				t.Errorf("%s: %s has no digest", c.Name, from.URL)
			}
		}
	}
	for set, want := range map[string]int{"math": 0, "commonsense": 10} {
		items, err := listedItems(set)
		if err != nil || len(items) != 30 {
			t.Fatal(set, len(items), err)
		}
		without := 0
		for _, it := range items {
			if it.sum == "" {
				without++
			}
		}
		if without != want {
			t.Errorf("%s: %d items have no digest, expected %d", set, without, want)
		}
	}
}
