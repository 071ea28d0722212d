package task

import (
	"errors"
	"fmt"
	"strings"

	"synod.dev/synod"
)

var gsm8k = Entry{
	Entry: synod.Entry{Name: "gsm8k", Summary: "grade-school word problems, test split"},
	Form:  string(synod.Number), Items: 1319,
	About: "Cobbe et al. 2021, MIT. The key is what follows #### in the worked solution.",
	Source: Source{
		URL:    "https://raw.githubusercontent.com/openai/grade-school-math/3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data/test.jsonl",
		SHA256: "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14", Size: 749738,
	},
	Layout: `one JSON object a line: question, answer (worked, with the last line "#### N")`,
	files:  []string{"gsm8k-test.jsonl", "test.jsonl"},
	open:   func(path string, _ Options) ([]Item, error) { return readRows(path, gsm8kItem) },
}

type gsm8kRow struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// gsm8kItem names an item by its position, as recorded runs do.
func gsm8kItem(n int, row gsm8kRow) (Item, error) {
	_, key, found := strings.Cut(row.Answer, "\n#### ")
	if !found {
		return Item{}, errors.New(`the answer has no last line "#### N"`)
	}
	q := synod.Question{ID: fmt.Sprintf("test-%d", n), Text: row.Question, Form: synod.Number}
	return Item{Question: q, key: strings.TrimSpace(key)}, nil
}
