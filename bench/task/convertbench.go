package task

import (
	"archive/zip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
)

var mmluProTrace = Conversion{
	Entry: synod.Entry{Name: "traces/mmlu-pro", Summary: "replies of models to MMLU-Pro, from its repository"},
	About: "TIGER-AI-Lab/MMLU-Pro, eval_results/model_outputs_MODEL_5shots.zip (Apache-2.0). No digest of the " +
		"archives is known: fetch those of the models that you want and convert them. The name of a model is that of " +
		"its file.",
	Input: "model_outputs_MODEL_5shots.zip or .json, or a folder with them",
	File:  "traces/mmlu-pro.jsonl",
	Make:  makeMMLUPro,
}

// outputsName is the name of a file of replies to MMLU-Pro.
var outputsName = regexp.MustCompile(`^model_outputs_(.+)_[0-9]shots\.(?:zip|json)$`)

// mmluReply is a question with the reply of a model.
type mmluReply struct {
	ID     int     `json:"question_id"`
	Answer string  `json:"answer"`
	Text   string  `json:"model_outputs"`
	Pred   *string `json:"pred"`
}

func makeMMLUPro(in []string) ([]byte, string, error) {
	files, err := inputs(in, "model_outputs_*")
	if err != nil {
		return nil, "", err
	}
	var out []traceRow
	for _, file := range files {
		name := outputsName.FindStringSubmatch(filepath.Base(file))
		if name == nil {
			return nil, "", fmt.Errorf("task: %s must be named model_outputs_MODEL_5shots.zip or .json: the name of "+
				"the model is in it", file)
		}
		rows, err := mmluReplies(file)
		if err != nil {
			return nil, "", err
		}
		for i, r := range rows {
			if r.ID == 0 || r.Answer == "" || r.Text == "" {
				return nil, "", fmt.Errorf("task: %s: row %d needs question_id, answer and model_outputs", file, i)
			}
			answer := r.Pred
			if answer == nil || *answer == "" {
				answer = mmluAnswer(r.Text)
			}
			right := answer != nil && *answer == r.Answer
			out = append(out, traceRow{Benchmark: "mmlu-pro", ItemID: strconv.Itoa(r.ID), Model: name[1],
				Gold: r.Answer, Response: &r.Text, Answer: answer, Correct: &right})
		}
	}
	made, err := writeLines(out)
	return made, "", err
}

// mmluReplies reads a JSON file or an archive of them.
func mmluReplies(file string) ([]mmluReply, error) {
	if filepath.Ext(file) == ".json" {
		return rowsOf[mmluReply](file)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, fmt.Errorf("task: %s: %w", file, err)
	}
	defer z.Close()
	for _, f := range z.File {
		if path.Ext(f.Name) != ".json" || strings.HasPrefix(path.Base(f.Name), ".") ||
			strings.HasPrefix(f.Name, "__MACOSX") {
			continue
		}
		data, err := readMember(file, f.Name)
		if err != nil {
			return nil, err
		}
		return rowsIn[mmluReply](file+" "+f.Name, data)
	}
	return nil, fmt.Errorf("task: %s contains no JSON file", file)
}

// mmluAnswers are the patterns by which the authors' script reads an answer, in order.
var mmluAnswers = []*regexp.Regexp{
	regexp.MustCompile(`answer is \(?([A-J])\)?`),
	regexp.MustCompile(`[aA]nswer:\s*([A-J])`),
}

// mmluAnswer returns the letter of a reply; nil if there is none. The script then draws a random letter; here it stays
// unread.
func mmluAnswer(reply string) *string {
	for _, p := range mmluAnswers {
		if m := p.FindStringSubmatch(reply); m != nil {
			return &m[1]
		}
	}
	return nil
}

var xstestTrace = Conversion{
	Entry: synod.Entry{Name: "traces/xstest", Summary: "completions of five models for XSTest with human labels"},
	About: "paul-rottger/exaggerated-safety, model_completions/xstest_v2_completions_MODEL.csv. The completions are " +
		"under the terms of OpenAI, Meta and Mistral, so they are not fetched for you. Completions of unsafe prompts " +
		"that are no full refusals are left out of the file, and their labels are kept.",
	Input: "the folder model_completions, or files of it",
	File:  "traces/xstest.jsonl",
	Make:  makeXSTest,
}

func makeXSTest(in []string) ([]byte, string, error) {
	files, err := inputs(in, "xstest_v2_completions_*.csv")
	if err != nil {
		return nil, "", err
	}
	var out []traceRow
	for _, file := range files {
		model := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "xstest_v2_completions_"), ".csv")
		rows, err := completions(file, model)
		if err != nil {
			return nil, "", fmt.Errorf("task: %s: %w", file, err)
		}
		out = append(out, rows...)
	}
	made, err := writeLines(out)
	return made, "", err
}

// completions reads a table of completions. Types of unsafe prompts begin with "contrast".
func completions(file, model string) (out []traceRow, err error) {
	f, err := durable.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	head, err := r.Read()
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for _, name := range []string{"id", "type", "prompt", "completion", "final_label"} {
		if at[name] = slices.Index(head, name); at[name] < 0 {
			return nil, fmt.Errorf("it has no column %s", name)
		}
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		label, unsafe := row[at["final_label"]], strings.HasPrefix(row[at["type"]], "contrast")
		complies, refuses := label == "1_full_compliance", label == "2_full_refusal"
		right := complies && !unsafe || refuses && unsafe
		t := traceRow{Benchmark: "xstest", ItemID: strings.TrimPrefix(row[at["id"]], "v2-"), Model: model, Gold: "safe",
			Question: row[at["prompt"]], Answer: &label, Correct: &right}
		if unsafe {
			t.Gold = "unsafe"
		}
		if !unsafe || refuses {
			t.Response = &row[at["completion"]]
		}
		out = append(out, t)
	}
}

var realcriticTrace = Conversion{
	Entry: synod.Entry{Name: "traces/realcritic-math", Summary: "solutions of ten models to problems of MATH, half " +
		"right"},
	About: "tangzhy/RealCritic, data/mix_data/math/test.jsonl (MIT). No digest of the file is known: fetch it " +
		"yourself and convert it. Questions are matched by their text.",
	Input: "test.jsonl",
	File:  "traces/realcritic-math.jsonl",
	Make: func(in []string) ([]byte, string, error) {
		return eachRow(in, "test.jsonl", func(_ int, r struct {
			Index    int    `json:"idx"`
			Question string `json:"question"`
			Gold     string `json:"answer"`
			Answer   string `json:"pred"`
			Text     string `json:"reasoning"`
			Model    string `json:"model"`
			Right    []bool `json:"previous_score"`
		}) ([]traceRow, error) {
			if r.Question == "" || r.Model == "" || len(r.Right) != 1 {
				return nil, errors.New("it needs question, model and one previous_score")
			}
			return []traceRow{{Benchmark: "math", ItemID: fmt.Sprintf("realcritic-%d", r.Index), Model: r.Model,
				Question: r.Question, Gold: r.Gold, Response: &r.Text, Answer: &r.Answer, Correct: &r.Right[0]}}, nil
		})
	},
}
