package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"synod.dev/synod"
)

var csqa = Entry{
	Entry: synod.Entry{Name: "csqa", Summary: "CommonsenseQA, five choices, dev split"},
	Form:  string(synod.Choice), Items: 1221,
	About: "Talmor et al. 2019. Both public layouts are read: the release's, with question.stem, and the hub's flat one.",
	Source: Source{
		URL:    "https://s3.amazonaws.com/commensenseqa/dev_rand_split.jsonl",
		SHA256: "3210497fdaae614ac085d9eb873dd7f4d49b6f965a93adadc803e1229fd8a02a", Size: 471653,
	},
	Layout: "one JSON object a line: id, question, question_concept, choices {label: […], text: […]}, answerKey; or the release's: id, question {stem, question_concept, choices: [{label, text}]}, answerKey",
	files:  []string{"csqa-dev.jsonl", "dev_rand_split.jsonl", "csqa-dev-nested-sample.jsonl"},
	open:   func(path string, _ Options) ([]Item, error) { return readRows(path, csqaItem) },
}

type csqaRow struct {
	ID        string          `json:"id"`
	Question  json.RawMessage `json:"question"`
	Concept   string          `json:"question_concept"`
	Choices   *columns        `json:"choices"`
	AnswerKey string          `json:"answerKey"`
}

// columns are choices as the flat layout has them.
type columns struct {
	Label []string `json:"label"`
	Text  []string `json:"text"`
}

func (c *columns) options() ([]synod.Option, error) {
	if len(c.Label) != len(c.Text) {
		return nil, fmt.Errorf("there are %d labels and %d texts of choices", len(c.Label), len(c.Text))
	}
	out := make([]synod.Option, len(c.Label))
	for i := range out {
		out[i] = synod.Option{Label: c.Label[i], Text: c.Text[i]}
	}
	return out, nil
}

// nested is the question of the original release.
type nested struct {
	Concept string         `json:"question_concept"`
	Choices []synod.Option `json:"choices"`
	Stem    string         `json:"stem"`
}

func csqaItem(_ int, row csqaRow) (Item, error) {
	if row.ID == "" {
		return Item{}, errors.New("there is no id")
	}
	it := Item{Topic: row.Concept, key: row.AnswerKey}
	it.Question = synod.Question{ID: row.ID, Form: synod.Choice}
	if bytes.HasPrefix(bytes.TrimSpace(row.Question), []byte("{")) {
		var n nested
		if err := decodeRow(row.Question, &n); err != nil {
			return Item{}, fmt.Errorf("in question: %w", err)
		}
		it.Topic, it.Question.Text, it.Question.Options = n.Concept, n.Stem, n.Choices
		return it, nil
	}
	if err := json.Unmarshal(row.Question, &it.Question.Text); err != nil {
		return Item{}, errors.New(`"question" must be a string or an object`)
	}
	if row.Choices == nil {
		return Item{}, errors.New("there are no choices")
	}
	options, err := row.Choices.options()
	it.Question.Options = options
	return it, err
}
