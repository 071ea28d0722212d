package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod/core/param"
)

// endings are the endings of the names of question files. Spreadsheets are refused with advice.
var endings = []string{".jsonl", ".csv", ".tsv", ".json", ".yaml", ".yml"}
var spreadsheets = []string{".xlsx", ".xls", ".ods"}

// Endings lists the endings that the names of question files have, for messages.
func Endings() string {
	return strings.Join(endings[:len(endings)-1], ", ") + " or " + endings[len(endings)-1]
}

// IsFile reports whether a name is that of a file with own questions and not that of a task: by its ending.
func IsFile(name string) bool { return WithoutEnding(name) != name }

// WithoutEnding is the name of a question file without its ending, and any other name as it is.
func WithoutEnding(name string) string {
	ext := filepath.Ext(name)
	if low := strings.ToLower(ext); slices.Contains(endings, low) || slices.Contains(spreadsheets, low) {
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// placed is a question of a file, and the line or row in which it stands.
type placed struct {
	line int
	row  ownRow
}

// foreignRows reads a question file that has not one JSON object on each line: a table, YAML, or one JSON document. ok
// is false for other files.
func foreignRows(path string, data []byte) (rows []placed, ok bool, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		rows, err = tableRows(data, ',')
	case ".tsv":
		rows, err = tableRows(data, '\t')
	case ".xlsx", ".xls", ".ods":
		err = errors.New("a spreadsheet is not read: save the sheet as CSV")
	case ".yaml", ".yml":
		var doc any
		if err = param.UnmarshalAny(data, &doc); err == nil {
			rows, err = documentRows(doc)
		}
	case ".json":
		text := bytes.TrimSpace(data)
		if !bytes.HasPrefix(text, []byte("{")) || bytes.Contains(text, []byte("\n{")) {
			return nil, false, nil // an array, or lines
		}
		var doc any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err = d.Decode(&doc); err == nil {
			rows, err = documentRows(doc)
		}
	default:
		return nil, false, nil
	}
	return rows, true, err
}

// columnNames are the headings that a table may have for a key, in lower case. Other columns are left out.
var columnNames = map[string][]string{"id": {"id"}, "question": {"question", "input", "prompt"},
	"answer": {"answer", "target", "expected", "gold"}, "choices": {"choices", "options"}}

// tableRows reads a table with headings. Choices are a JSON list, texts between vertical bars, or columns A, B, ….
func tableRows(data []byte, comma rune) (rows []placed, err error) {
	if first, _, _ := bytes.Cut(data, []byte("\n")); comma == ',' && !bytes.Contains(first, []byte(",")) {
		if bytes.Contains(first, []byte(";")) { // as spreadsheets write CSV where the comma is the decimal sign
			comma = ';'
		}
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = comma
	names, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("the first line must have headings, such as question,answer: %w", err)
	}
	head, err := readHead(names)
	if err != nil {
		return nil, err
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		rows = append(rows, placed{line, head.row(cells)})
	}
}

// tableHead says which column of a table has what, by index.
type tableHead struct {
	keys    map[string]int // by the keys of columnNames
	letters []int          // the columns A, B, …, which have one choice each
}

// readHead finds the columns by their headings. A table must have questions.
func readHead(names []string) (tableHead, error) {
	h := tableHead{keys: map[string]int{}}
	for i, name := range names {
		name = strings.TrimSpace(name)
		if len(name) == 1 && name[0] == byte('A'+len(h.letters)) {
			h.letters = append(h.letters, i)
		}
		for key, known := range columnNames {
			if slices.Contains(known, strings.ToLower(name)) {
				h.keys[key] = i
			}
		}
	}
	if _, ok := h.keys["question"]; !ok {
		return h, fmt.Errorf("no column is called question; there are: %s", strings.Join(names, ", "))
	}
	return h, nil
}

// row reads a row of the table.
func (h *tableHead) row(cells []string) ownRow {
	cell := func(key string) string {
		if i, ok := h.keys[key]; ok {
			return strings.TrimSpace(cells[i])
		}
		return ""
	}
	row := ownRow{ID: idText(cell("id")), Question: cell("question"), Answer: cellValue(cell("answer")),
		Choices: cellChoices(cell("choices"))}
	if len(h.letters) > 1 {
		var texts []string
		for _, i := range h.letters {
			if text := strings.TrimSpace(cells[i]); text != "" {
				texts = append(texts, text)
			}
		}
		row.Choices, _ = json.Marshal(texts) // texts can always be written
	}
	return row
}

// cellValue is a cell as JSON: true and false as such, and everything else as a text.
func cellValue(s string) json.RawMessage {
	switch low := strings.ToLower(s); low {
	case "":
		return nil
	case "true", "false":
		return json.RawMessage(low)
	}
	b, _ := json.Marshal(s) // a string always has JSON
	return b
}

// cellChoices is a cell with choices as JSON.
func cellChoices(s string) json.RawMessage {
	if s == "" || json.Valid([]byte(s)) && s[0] == '[' {
		return json.RawMessage(s)
	}
	texts := strings.Split(s, "|")
	for i := range texts {
		texts[i] = strings.TrimSpace(texts[i])
	}
	b, _ := json.Marshal(texts)
	return b
}

// documentRows reads the questions of one document: a list of them, an object with a list under questions, samples or
// data, or promptfoo's configuration with tests.
func documentRows(doc any) (rows []placed, err error) {
	list, isList := doc.([]any)
	object, _ := doc.(map[string]any)
	tests, isTests := object["tests"].([]any)
	for _, key := range []string{"questions", "samples", "data"} {
		if under, ok := object[key].([]any); ok {
			list, isList = under, true
		}
	}
	switch {
	case isTests:
		list = tests
	case !isList:
		return nil, errors.New("it has no list of questions: give a list, an object with questions, or promptfoo's " +
			"tests")
	}
	for i, x := range list {
		var row ownRow
		if isTests {
			row, err = promptfooRow(x, object["prompts"])
		} else {
			var raw []byte
			if raw, err = json.Marshal(x); err == nil {
				err = decodeRow(raw, &row)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		rows = append(rows, placed{i + 1, row})
	}
	return rows, nil
}

// exactly are the assertions of promptfoo whose value is the answer.
var exactly = []string{"equals", "contains", "icontains"}

// promptfooRow reads a test of promptfoo: the first prompt with the test's variables in it or, without a prompt, the
// variable question, or the only one. The answer is the value of its one assertion that says what is right.
func promptfooRow(x, prompts any) (row ownRow, err error) {
	test, _ := x.(map[string]any)
	vars, _ := test["vars"].(map[string]any)
	text := "{{question}}"
	if all, ok := prompts.([]any); ok && len(all) > 0 {
		if first, ok := all[0].(string); ok && strings.Contains(first, "{{") {
			text = first
		}
	} else if len(vars) == 1 {
		for name := range vars {
			text = "{{" + name + "}}"
		}
	}
	for name, value := range vars {
		for _, place := range []string{"{{" + name + "}}", "{{ " + name + " }}"} {
			text = strings.ReplaceAll(text, place, fmt.Sprint(value))
		}
	}
	if strings.Contains(text, "{{") {
		return row, fmt.Errorf("the prompt %q has a variable that the test does not give", text)
	}
	row.Question = text
	asserts, _ := test["assert"].([]any)
	for _, a := range asserts {
		a, _ := a.(map[string]any)
		if kind, _ := a["type"].(string); slices.Contains(exactly, kind) {
			if row.Answer != nil {
				return row, errors.New("it has two assertions that say what is right")
			}
			row.Answer, err = json.Marshal(a["value"])
		}
	}
	if row.Answer == nil {
		err = fmt.Errorf("no assertion says what is right; one must be of type %s", strings.Join(exactly, ", "))
	}
	return row, err
}

// idText is an id: a text, or a number as it is written.
type idText string

// UnmarshalJSON reads a text or a number.
func (t *idText) UnmarshalJSON(b []byte) error {
	var n json.Number
	if json.Unmarshal(b, &n) == nil && len(b) > 0 && b[0] != '"' {
		*t = idText(n)
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

// madeID is the id of a question that has none: it follows from the text and the choices.
func madeID(row *ownRow) string {
	sum := sha256.Sum256([]byte(row.Question + "\x00" + string(row.Choices)))
	return "q-" + hex.EncodeToString(sum[:5])
}

// fromInspect fills question and answer from the input and the target of a sample of Inspect.
func (row *ownRow) fromInspect() error {
	if len(row.Input) > 0 && row.Question == "" {
		var messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		switch {
		case json.Unmarshal(row.Input, &row.Question) == nil:
		case json.Unmarshal(row.Input, &messages) == nil && len(messages) == 1 && messages[0].Role == "user":
			row.Question = messages[0].Content
		default:
			return errors.New("input must be a text, or one message of the user")
		}
	}
	if len(row.Target) > 0 && len(row.Answer) == 0 {
		var several []json.RawMessage
		if row.Answer = row.Target; json.Unmarshal(row.Target, &several) == nil {
			if len(several) != 1 {
				return errors.New("target must be one answer")
			}
			row.Answer = several[0]
		}
	}
	return nil
}
