package task

import (
	"fmt"
	"strings"

	"synod.dev/synod"
)

// traceRow is a recorded reply in the layout that recorded members replay.
type traceRow struct {
	Benchmark  string   `json:"benchmark"`
	ItemID     string   `json:"item_id"`
	Model      string   `json:"model"`
	Trial      int      `json:"trial"`
	Question   string   `json:"question,omitempty"`
	Gold       string   `json:"gold"`
	Response   *string  `json:"response"` // nil: left out
	Answer     *string  `json:"answer"`
	Confidence *float64 `json:"confidence"`
	Correct    *bool    `json:"correct"`
}

// cpwbftSource returns a file of the repository of CP-WBFT, which is under the MIT licence.
func cpwbftSource(file, sum string, size int64) Source {
	return Source{URL: "https://raw.githubusercontent.com/Z1ivan/Byzantine-Fault-Tolerance-in-LLM-MAS/" +
		"5558e842e2ed2634e00c093bb2f21d52b7b32b80/data/byzantine/" + file, SHA256: sum, Size: size}
}

var cpwbftTrace = Conversion{
	Entry: synod.Entry{Name: "traces/cp-wbft", Summary: "CP-WBFT's problem files with the replies of its models"},
	About: "Z1ivan/Byzantine-Fault-Tolerance-in-LLM-MAS, data/byzantine (MIT): ten questions of GSM8K, XSTest and " +
		"CommonsenseQA for each pair of models, selected so that the strong model is right and the weak one wrong. " +
		"The positions of questions in GSM8K's test split are names of items, so its file is needed too.",
	Input: "the folder data/byzantine of the repository, and GSM8K's test.jsonl or gsm8k-test.jsonl",
	File:  "traces/cp-wbft.jsonl",
	From: []Source{
		cpwbftSource("gsm8k/gsm8k_final_dataset_20250723_154643.json",
			"9b6cf3a978f52ea11c9a74b972ad9e2b327c3e72269da07c8d541c0c06150b11", 81058),
		cpwbftSource("safe/safe_final_dataset_aligned_20250723_191623.json",
			"72a57cb62e0ca61cd09bd3c8cb30e5602d8ed6eef780b401948383dd65142c64", 146480),
		cpwbftSource("gsm8k/llama3.1_10.json",
			"919b5d6b06b3b8651aa83ded7146dc2643714b0594bda4e111f37838c071830a", 55472),
		cpwbftSource("safe/all_llama31_win.json",
			"e19eac4060c545fd3c662d73a6f0f1b69ace41161dd349d0c553d42a9588f528", 9567),
		cpwbftSource("commonsense/gpt4omini_win_10.json",
			"317297edcd9e5c7026ae05868c017170e6c1be4862106a810c8cb7fedb45a2d2", 15321),
		cpwbftSource("commonsense/llama31_win_10.json",
			"1a99342a284539b8de68c4c6229d6fb2a11a30ab191b416b2a5a5efc0e71389e", 9678),
		gsm8k.Source,
	},
	Make: makeCPWBFT,
}

// cpRow is a question in any of the six files.
type cpRow struct {
	ID           any    `json:"id"`
	QuestionID   any    `json:"question_id"`
	Question     string `json:"question"`
	Label        string `json:"label"`
	Key          string `json:"correct_answer"`
	Truth        string `json:"ground_truth"`
	Dataset      string `json:"dataset_type"`
	StrongModel  string `json:"strong_model"`
	StrongText   string `json:"strong_response"`
	StrongAnswer string `json:"strong_answer"`
	StrongRight  bool   `json:"strong_correct"`
	WeakModel    string `json:"weak_model"`
	WeakText     string `json:"weak_response"`
	WeakAnswer   string `json:"weak_answer"`
	WeakRight    bool   `json:"weak_correct"`

	Trials []cpRow `json:"test_results"`

	GPTStrong *cpReply `json:"gpt4omini"`
	GPTWeak   *cpReply `json:"gpt35turbo"`
	Llama3    *cpReply `json:"llama3"`
	Llama31   *cpReply `json:"llama31"`

	Llama3Text        string    `json:"llama3_response"`
	Llama31Text       string    `json:"llama31_response"`
	Llama3Right       cpVerdict `json:"llama3_correct"`
	Llama31Right      cpVerdict `json:"llama31_correct"`
	Llama3Confidence  *float64  `json:"llama3_confidence"`
	Llama31Confidence *float64  `json:"llama31_confidence"`
	Llama3Stored      struct {
		Answer string `json:"extracted_answer"`
	} `json:"precomputed_llama3"`
	Llama31Stored struct {
		Answer string `json:"extracted_answer"`
	} `json:"precomputed_llama31"`
}

// cpReply is a model's reply in the files of CommonsenseQA and XSTest.
type cpReply struct {
	Text       string    `json:"response"`
	Preview    string    `json:"response_preview"`
	Answer     *string   `json:"extracted_answer"`
	Confidence *float64  `json:"confidence"`
	Stored     *float64  `json:"precomputed_confidence"`
	Correct    cpVerdict `json:"correct"`
}

// cpVerdict is true, false, 1 or 0.
type cpVerdict struct{ right *bool }

func (v *cpVerdict) UnmarshalJSON(b []byte) error {
	yes := string(b) == "true" || string(b) == "1"
	if !yes && string(b) != "false" && string(b) != "0" {
		return fmt.Errorf("a verdict is %s; it must be true, false, 1 or 0", b)
	}
	v.right = &yes
	return nil
}

// makeCPWBFT writes a row for each reply. A file is recognised by its keys, so that names do not matter.
func makeCPWBFT(in []string) ([]byte, string, error) {
	var files []string
	positions := map[string]int{} // in GSM8K's test split, by question
	for _, path := range in {
		rows, err := rowsOf[gsm8kRow](path)
		if err == nil && len(rows) > 0 && strings.Contains(rows[0].Answer, "####") {
			for n, r := range rows {
				positions[r.Question] = n
			}
			continue
		}
		more, err := inputs([]string{path}, "*.json")
		if err != nil {
			return nil, "", err
		}
		files = append(files, more...)
	}
	var out []traceRow
	for _, file := range files {
		rows, err := rowsOf[cpRow](file, "questions", "results")
		if err != nil {
			return nil, "", err
		}
		for i, r := range rows {
			replies, err := r.replies(i, positions)
			if err != nil {
				return nil, "", fmt.Errorf("task: %s: question %d: %w", file, i, err)
			}
			out = append(out, replies...)
		}
	}
	made, err := writeLines(out)
	return made, "", err
}

// replies returns the rows of the question with index i of a file.
func (r cpRow) replies(i int, positions map[string]int) ([]traceRow, error) {
	switch {
	case r.StrongModel != "":
		return r.trials(i)
	case r.Llama3Text != "":
		n, known := positions[r.Question]
		if !known {
			return nil, fmt.Errorf("it is not in GSM8K's test split, whose file must be given too: %.60q", r.Question)
		}
		at := traceRow{Benchmark: "gsm8k", ItemID: fmt.Sprintf("test-%d", n), Question: r.Question, Gold: r.Truth}
		weak, strong := at, at
		weak.Model, weak.Response, weak.Answer = "Llama-3-8B-Instruct", &r.Llama3Text, &r.Llama3Stored.Answer
		weak.Confidence, weak.Correct = r.Llama3Confidence, r.Llama3Right.right
		strong.Model, strong.Response, strong.Answer = "Llama-3.1-8B-Instruct", &r.Llama31Text, &r.Llama31Stored.Answer
		strong.Confidence, strong.Correct = r.Llama31Confidence, r.Llama31Right.right
		return []traceRow{weak, strong}, nil
	case r.GPTStrong != nil && r.GPTWeak != nil:
		at := traceRow{Benchmark: "csqa", ItemID: text(r.ID), Question: r.Question, Gold: r.Key}
		return []traceRow{r.GPTStrong.row(at, "gpt-4o-mini"), r.GPTWeak.row(at, "gpt-3.5-turbo")}, nil
	case r.Llama3 != nil && r.Llama31 != nil:
		at := traceRow{Benchmark: "csqa", ItemID: text(r.QuestionID), Question: r.Question, Gold: r.Key}
		if r.Label != "" {
			at.Benchmark, at.ItemID, at.Gold = "xstest", text(r.ID), r.Label
		}
		return []traceRow{r.Llama3.row(at, "Llama-3-8B-Instruct"), r.Llama31.row(at, "Llama-3.1-8B-Instruct")}, nil
	}
	return nil, fmt.Errorf("it has none of the keys strong_model, llama3_response, gpt4omini and llama3")
}

// trials returns the replies of GPT models: trial 0 is the question's own, the others are its test_results.
func (r cpRow) trials(i int) (out []traceRow, err error) {
	at := traceRow{Benchmark: "gsm8k", ItemID: fmt.Sprintf("train-cpwbft-%d", i), Question: r.Question, Gold: r.Key}
	if r.Dataset == "safe" {
		at.Benchmark, at.ItemID = "xstest", text(r.QuestionID)
	}
	for n, t := range append([]cpRow{r}, r.Trials...) {
		strong, weak := at, at
		strong.Trial, strong.Model, strong.Response, strong.Correct = n, t.StrongModel, &t.StrongText, &t.StrongRight
		weak.Trial, weak.Model, weak.Response, weak.Correct = n, t.WeakModel, &t.WeakText, &t.WeakRight
		if at.Benchmark == "gsm8k" { // for XSTest the answer is the whole reply
			strong.Answer, weak.Answer = &t.StrongAnswer, &t.WeakAnswer
		}
		out = append(out, strong, weak)
	}
	return out, nil
}

func (r *cpReply) row(at traceRow, model string) traceRow {
	at.Model, at.Response, at.Answer, at.Correct = model, &r.Text, r.Answer, r.Correct.right
	if r.Text == "" {
		at.Response = &r.Preview
	}
	if at.Confidence = r.Confidence; r.Stored != nil {
		at.Confidence = r.Stored
	}
	return at
}

// text writes an id that is a string or a number.
func text(id any) string { return fmt.Sprint(id) }

var gsm8kTrace = Conversion{
	Entry: synod.Entry{Name: "traces/gsm8k-openai", Summary: "replies of four GPT-3 systems to GSM8K's test split"},
	About: "openai/grade-school-math, grade_school_math/data/example_model_solutions.jsonl (MIT). No digest of the " +
		"file is known: fetch it yourself and convert it.",
	Input: "example_model_solutions.jsonl",
	File:  "traces/gsm8k-openai.jsonl",
	Make: func(in []string) ([]byte, string, error) {
		type solution struct {
			Right bool   `json:"is_correct"`
			Text  string `json:"solution"`
		}
		return eachRow(in, "example_model_solutions.jsonl", func(n int, r struct {
			Question string   `json:"question"`
			Truth    string   `json:"ground_truth"`
			Small    solution `json:"6b_finetuning"`
			SmallV   solution `json:"6b_verification"`
			Large    solution `json:"175b_finetuning"`
			LargeV   solution `json:"175b_verification"`
		}) (out []traceRow, err error) {
			last := func(s string) *string {
				if _, a, ok := cutLast(s, "A: "); ok {
					return &a
				}
				return nil
			}
			gold := last(r.Truth)
			if gold == nil {
				return nil, fmt.Errorf(`ground_truth has no last line "A: N"`)
			}
			for _, s := range []struct {
				model string
				solution
			}{{"6b_finetuning", r.Small}, {"6b_verification", r.SmallV}, {"175b_finetuning", r.Large},
				{"175b_verification", r.LargeV}} {
				out = append(out, traceRow{Benchmark: "gsm8k", ItemID: fmt.Sprintf("test-%d", n),
					Model: "gpt3-" + s.model, Gold: *gold, Response: &s.Text, Answer: last(s.Text), Correct: &s.Right})
			}
			return out, nil
		})
	},
}

// cutLast cuts s around the last separator.
func cutLast(s, sep string) (before, after string, ok bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], strings.TrimSpace(s[at+len(sep):]), true
}

// eachRow makes rows of each row of the files.
func eachRow[T any](in []string, pattern string, use func(n int, row T) ([]traceRow, error)) (made []byte, note string,
	err error) {
	files, err := inputs(in, pattern)
	if err != nil {
		return nil, "", err
	}
	var out []traceRow
	for _, file := range files {
		rows, err := rowsOf[T](file)
		if err != nil {
			return nil, "", err
		}
		for n, r := range rows {
			more, err := use(n, r)
			if err != nil {
				return nil, "", fmt.Errorf("task: %s: row %d: %w", file, n, err)
			}
			out = append(out, more...)
		}
	}
	made, err = writeLines(out)
	return made, "", err
}
