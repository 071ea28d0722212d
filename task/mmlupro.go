package task

import (
	"fmt"
	"strconv"

	"synod.dev/synod"
)

var mmluPro = Entry{
	Entry: synod.Entry{Name: "mmlu-pro", Summary: "MMLU-Pro, up to ten choices, 14 subjects"},
	Form:  string(synod.Choice), Items: 12032,
	About: "Wang et al. 2024, Apache-2.0. Most questions have ten options, some as few as three. " +
		"An answer that cannot be read stays unread; the authors' script draws a random letter there.",
	Source: hubFile("TIGER-Lab/MMLU-Pro", "b189ec765aa7ed75c8acfea42df31fdae71f97be", "data/test-00000-of-00001.parquet",
		"0e24a191921c2f453518a537a8b2117bd137e7714d4ef1565e9ba06c1ecb9ad8", 4144185),
	Layout: "a Parquet table, or one JSON object a line: question_id, question, options (a list), answer (a letter), answer_index, cot_content, category, src",
	files:  []string{"mmlu-pro.jsonl", "mmlu-pro/test-00000-of-00001.parquet"},
	open:   func(path string, _ Options) ([]Item, error) { return readRows(path, mmluProItem) },
}

type mmluProRow struct {
	QuestionID  int      `json:"question_id"`
	Question    string   `json:"question"`
	Options     []string `json:"options"`
	Answer      string   `json:"answer"`
	AnswerIndex int      `json:"answer_index"`
	CotContent  string   `json:"cot_content"`
	Category    string   `json:"category"`
	Src         string   `json:"src"`
}

func mmluProItem(_ int, row mmluProRow) (Item, error) {
	options, err := lettered(row.Options)
	if err != nil {
		return Item{}, err
	}
	if i := row.AnswerIndex; i < 0 || i >= len(options) || options[i].Label != row.Answer {
		return Item{}, fmt.Errorf("answer %q and answer_index %d disagree", row.Answer, i)
	}
	q := synod.Question{ID: strconv.Itoa(row.QuestionID), Text: row.Question, Form: synod.Choice, Options: options}
	return Item{Question: q, Topic: row.Category, key: row.Answer}, nil
}

// lettered labels choices A, B, C, …
func lettered(texts []string) ([]synod.Option, error) {
	if len(texts) > 26 {
		return nil, fmt.Errorf("there are %d choices; letters reach to 26", len(texts))
	}
	out := make([]synod.Option, len(texts))
	for i, text := range texts {
		out[i] = synod.Option{Label: string(rune('A' + i)), Text: text}
	}
	return out, nil
}
