package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"synod.dev/synod/task"
)

// maxGradeLine is how long a line of a batch may be.
const maxGradeLine = 4 << 20

// gradeRow is a line of a batch. Other keys of a line are kept and not read.
type gradeRow struct {
	Form    string          `json:"form"`
	Want    json.RawMessage `json:"want"`
	Got     json.RawMessage `json:"got"`
	Choices []string        `json:"choices"`
	Verdict json.RawMessage `json:"verdict"`
}

// answerText is an answer as text: a string's own, or a number, true or any value
// as it stands.
func answerText(name string, raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", fmt.Errorf("the line has no %q", name)
	}
	if raw[0] != '"' {
		return string(raw), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

func (f gradeFlags) gradeLines(in io.Reader, out io.Writer) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxGradeLine)
	w := bufio.NewWriter(out)
	defer w.Flush()
	for n := 1; s.Scan(); n++ {
		raw := s.Bytes()
		if n == 1 {
			raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
		}
		line, err := f.gradeLine(bytes.TrimSpace(raw))
		if err != nil {
			return fail(exitError1, fmt.Errorf("stdin, line %d: %w", n, err))
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return fail(exitError1, err)
		}
	}
	if err := s.Err(); err != nil {
		return fail(exitError1, fmt.Errorf("read stdin: %w", err))
	}
	return nil
}

// gradeLine adds the grade to a line and leaves what stands in it as it is.
func (f gradeFlags) gradeLine(line []byte) ([]byte, error) {
	if len(line) == 0 {
		return nil, errors.New("the line is empty")
	}
	var row gradeRow
	if err := json.Unmarshal(line, &row); err != nil {
		return nil, fmt.Errorf("it is no line of {\"form\", \"want\", \"got\"}: %w", err)
	}
	if row.Form == "" {
		row.Form = f.form
	}
	q, err := f.question(row.Form, row.Choices)
	if err != nil {
		return nil, err
	}
	if row.Verdict != nil {
		return nil, errors.New("the line has a verdict already")
	}
	want, err := answerText("want", row.Want)
	if err != nil {
		return nil, err
	}
	got, err := answerText("got", row.Got)
	if err != nil {
		return nil, err
	}
	g := task.GradeReply(q, want, got)
	g.Verdict = f.verdict(g)
	graded, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	body := line[:len(line)-1] // all but the closing brace
	return slices.Concat(body, []byte(","), graded[1:]), nil
}
