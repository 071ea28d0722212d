package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// OpenFile reads a user's own questions from a file with one JSON object on each line:
//
//	{"id": "q1", "question": "How many legs have three cats?", "answer": 12}
//	{"id": "q2", "question": "Which is a fish?", "answer": "B", "choices": ["whale", "cod"]}
//
// An answer is a string, a number, true or false or, with the forms JSON and
// Action, any value. Choices are texts, which
// get the letters from A on, or {"label", "text"} objects; the answer is a label or the whole text of a
// choice. With form "" the form is guessed for each line: choices give Choice, true and false give Bool, a
// number gives Number, and everything else is Text. A missing id is made from the text. The file may also be a table
// (CSV, TSV) with the headings question and answer, YAML, a JSON document, promptfoo's configuration with tests, or
// samples of Inspect with input and target. Questions of the form synod.Prose have no answer: there is no right
// text to compare with, so they are Ungraded.
func OpenFile(path string, form synod.Form) (Set, error) {
	return OpenShaped(path, synod.Question{Form: form})
}

// OpenShaped is OpenFile for questions with the form of another one, and with its schema or its tools. Then an
// answer is a JSON value that follows the schema, or a call of one of the tools.
func OpenShaped(path string, as synod.Question) (Set, error) {
	if as.Form != "" && as.Form != synod.Prose && !slices.Contains(Forms(), as.Form) {
		return nil, unknownForm(as.Form)
	}
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	rows, foreign, err := foreignRows(path, data)
	if err != nil {
		return nil, fmt.Errorf("task: %s: %w", path, err)
	}
	var items []Item
	made := map[string]int{} // ids that were made
	if foreign {
		items, err = placedItems(path, rows, as, made)
	} else {
		items, err = parseRows(path, data, func(_ int, row ownRow) (Item, error) { return ownItem(row, as, made) })
	}
	if errors.Is(err, errEmpty) {
		return nil, fmt.Errorf("%w; give a line for each question, such as %s", err, exampleRow)
	}
	if err != nil {
		return nil, err
	}
	return list(items), nil
}

// exampleRow is a line of a question file.
const exampleRow = `{"id": "q1", "question": "What is 17 + 25?", "answer": "42"}`

// placedItems makes items of rows that know their lines.
func placedItems(path string, rows []placed, as synod.Question, made map[string]int) ([]Item, error) {
	r := rowReader{path: path, seen: map[string]int{}}
	for _, p := range rows {
		it, err := ownItem(p.row, as, made)
		if err == nil {
			err = r.add(p.line, it)
		}
		if err != nil {
			return nil, r.at(p.line, err)
		}
	}
	if len(r.items) == 0 {
		return nil, fmt.Errorf("task: %s %w", path, errEmpty)
	}
	return r.items, nil
}

type ownRow struct {
	ID       idText          `json:"id"`
	Question string          `json:"question"`
	Answer   json.RawMessage `json:"answer"`
	Choices  json.RawMessage `json:"choices"`

	// What samples of Inspect have in place of question and answer, and what nothing reads.
	Input    json.RawMessage `json:"input"`
	Target   json.RawMessage `json:"target"`
	Metadata json.RawMessage `json:"metadata"`
}

// ownItem makes an item of a row. A missing id follows from the text; made counts how often it was made.
func ownItem(row ownRow, as synod.Question, made map[string]int) (Item, error) {
	form := as.Form
	if err := row.fromInspect(); err != nil {
		return Item{}, err
	}
	if row.ID == "" {
		id := madeID(&row)
		if made[id]++; made[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, made[id])
		}
		row.ID = idText(id)
	}
	it := Item{Question: synod.Question{ID: string(row.ID), Text: row.Question, Form: form, Schema: as.Schema,
		Tools: as.Tools}}
	q := &it.Question
	var err error
	if q.Options, err = ownChoices(row.Choices); err != nil {
		return Item{}, err
	}
	if err := distinct(q.Options); err != nil {
		return Item{}, err
	}
	if form == synod.Prose {
		if len(row.Answer) > 0 {
			return Item{}, errors.New("a question of the form prose has no answer to compare with: leave answer out")
		}
		return Ungraded(*q), nil
	}
	if it.key, err = ownKey(row.Answer, form); err != nil {
		return Item{}, err
	}
	if form == "" {
		q.Form = guessForm(q, row.Answer, it.key)
	}
	if len(q.Options) > 0 && q.Form != synod.Choice {
		return Item{}, fmt.Errorf("there are choices, and the form is %s", q.Form)
	}
	return it, nil
}

// ownKey returns the answer as text.
func ownKey(raw json.RawMessage, form synod.Form) (string, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", errors.New("there is no answer")
	case form == JSON || form == synod.Action:
		return string(raw), nil
	case raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case raw[0] != '{' && raw[0] != '[':
		return string(raw), nil
	}
	return "", errors.New("the answer must be a string, a number, true or false")
}

func guessForm(q *synod.Question, raw json.RawMessage, key string) synod.Form {
	if len(q.Options) > 0 {
		return synod.Choice
	}
	if s := string(bytes.TrimSpace(raw)); s == "true" || s == "false" {
		return synod.Bool
	}
	if _, ok := read.Canonical(&synod.Question{Form: synod.Number}, key); ok {
		return synod.Number
	}
	return synod.Text
}

// ownChoices reads choices in any of the three supported layouts.
func ownChoices(raw json.RawMessage) ([]synod.Option, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var texts []string
	if json.Unmarshal(raw, &texts) == nil {
		if len(texts) == 0 {
			return nil, errors.New("choices is an empty list; leave it out where there are none")
		}
		return lettered(texts)
	}
	if raw[0] == '{' {
		var c columns
		if err := decodeRow(raw, &c); err != nil {
			return nil, fmt.Errorf("in choices: %w", err)
		}
		return c.options()
	}
	var each []json.RawMessage
	if json.Unmarshal(raw, &each) != nil {
		return nil, errors.New("choices must be a list of texts")
	}
	out := make([]synod.Option, len(each))
	for i, one := range each {
		if err := decodeRow(one, &out[i]); err != nil {
			return nil, fmt.Errorf("in choice %d: %w", i+1, err)
		}
	}
	return out, nil
}

// distinct refuses choices of which two have the same text, because a reader could not distinguish them.
func distinct(options []synod.Option) error {
	for i, o := range options {
		if k := slices.IndexFunc(options[:i], func(p synod.Option) bool { return p.Text == o.Text }); k >= 0 {
			return fmt.Errorf("choices %s and %s have the same text: %q", options[k].Label, o.Label, o.Text)
		}
	}
	return nil
}

func unknownForm(form synod.Form) error {
	var names []string
	for _, f := range Forms() {
		names = append(names, string(f))
	}
	return fmt.Errorf("task: there is no form %q%s; known forms: %s", form, synod.Hint(string(form), names),
		strings.Join(names, ", "))
}
