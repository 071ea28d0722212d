package task

import (
	"fmt"

	"synod.dev/synod"
)

var math500 = Entry{
	Entry: synod.Entry{Name: "math500", Summary: "500 competition problems of five levels"},
	Form:  string(synod.Math), Items: 500,
	About: "MATH (Hendrycks et al. 2021) in the split of Lightman et al. 2023, MIT.",
	Source: Source{
		URL:    "https://media.githubusercontent.com/media/openai/prm800k/7ecc794703b2877f63226f2477a49b34f9b25163/prm800k/math_splits/test.jsonl",
		SHA256: "35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132", Size: 446564,
	},
	Layout: "one JSON object a line: problem, solution, answer, subject, level (1 to 5), unique_id",
	files:  []string{"math500.jsonl", "test.jsonl"},
	open:   func(path string, _ Options) ([]Item, error) { return readRows(path, math500Item) },
}

type math500Row struct {
	Problem  string `json:"problem"`
	Solution string `json:"solution"`
	Answer   string `json:"answer"`
	Subject  string `json:"subject"`
	Level    int    `json:"level"`
	UniqueID string `json:"unique_id"`
}

func math500Item(_ int, row math500Row) (Item, error) {
	if row.Level < 1 || row.Level > 5 {
		return Item{}, fmt.Errorf("the level is %d; it must be from 1 to 5", row.Level)
	}
	if row.UniqueID == "" {
		return Item{}, fmt.Errorf("there is no unique_id")
	}
	q := synod.Question{ID: row.UniqueID, Text: row.Problem, Form: synod.Math}
	return Item{Question: q, Level: row.Level, Topic: row.Subject, key: row.Answer}, nil
}
