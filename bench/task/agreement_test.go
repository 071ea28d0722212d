package task

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"synod.dev/synod"
)

// trace is a recorded response with the verdict of its source.
type trace struct {
	Benchmark string          `json:"benchmark"`
	ItemID    json.RawMessage `json:"item_id"`
	Model     string          `json:"model"`
	Trial     int             `json:"trial"`
	Gold      string          `json:"gold"`
	Response  *string         `json:"response"`
	Answer    *string         `json:"answer"`
	Correct   verdictOf       `json:"correct"`
}

// verdictOf is a recorded verdict: true and false, or 1 and 0.
type verdictOf bool

func (v *verdictOf) UnmarshalJSON(b []byte) error {
	s := string(b)
	*v = s == "true" || s == "1" || s == "1.0"
	if !*v && s != "false" && s != "0" && s != "0.0" {
		return fmt.Errorf("%s is no verdict", s)
	}
	return nil
}

func (r trace) id() string { return strings.Trim(string(r.ItemID), `"`) }

func readTraces(t *testing.T, file string) (all []trace) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dataDir(t), "traces", file))
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<22)
	for s.Scan() {
		var r trace
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Response != nil {
			all = append(all, r)
		}
	}
	return all
}

// tally counts how often a grader's verdicts agree with recorded ones.
type tally struct{ rows, strict, flexible, unreadable, falseRight, falseWrong int }

func (c tally) String() string {
	return fmt.Sprintf("%d rows; agree: strict %d (%.2f %%), flexible %d (%.2f %%); strict unreadable %d; ours right, "+
		"theirs wrong %d; ours wrong, theirs right %d",
		c.rows, c.strict, 100*float64(c.strict)/float64(c.rows), c.flexible, 100*float64(c.flexible)/float64(c.rows),
		c.unreadable, c.falseRight, c.falseWrong)
}

// TestAgreement grades the recorded responses again and compares with the verdicts of their sources. An
// unreadable answer counts as not right, as in the sources. The floors are the measured figures, which
// docs/measure/grading.md explains; -v prints the differences.
func TestAgreement(t *testing.T) {
	questions := map[string]*synod.Question{}
	for _, name := range []string{"csqa", "mmlu-pro"} {
		for _, it := range open(t, name) {
			questions[it.Question.ID] = &it.Question
		}
	}
	for _, c := range []struct {
		file, benchmark string
		form            synod.Form
		rows            int
		strict, loose   int // floors
	}{
		{"gsm8k-openai.jsonl", "gsm8k", synod.Number, 1600, 1600, 1600},
		{"mmlu-pro.jsonl", "mmlu-pro", synod.Choice, 2200, 2168, 2165},
		{"realcritic-math.jsonl", "math", synod.Math, 268, 264, 267},
		{"cp-wbft.jsonl", "gsm8k", synod.Number, 100, 97, 97},
		{"cp-wbft.jsonl", "csqa", synod.Choice, 40, 37, 37},
	} {
		t.Run(strings.TrimSuffix(c.file, ".jsonl")+"-"+c.benchmark, func(t *testing.T) {
			var n tally
			for _, r := range readTraces(t, c.file) {
				if r.Benchmark != c.benchmark {
					continue
				}
				q := questions[r.id()]
				if q == nil {
					q = &synod.Question{Form: c.form}
				}
				g := GradeReply(q, r.Gold, *r.Response)
				n.rows++
				n.count(r, g)
				if (g.Strict == Right) != bool(r.Correct) || (g.Flexible == Right) != bool(r.Correct) {
					answer := "none"
					if r.Answer != nil {
						answer = strconv.Quote(*r.Answer)
					}
					t.Logf("%s %s: theirs %v (%s); strict %s %q, flexible %s %q; want %q; ends %q",
						r.id(), r.Model, r.Correct, answer, g.Strict, g.Got, g.Flexible, g.Loose, r.Gold,
						tail(*r.Response))
				}
			}
			t.Log(n)
			if n.rows != c.rows || n.strict < c.strict || n.flexible < c.loose {
				t.Errorf("%d rows, %d and %d agree; want %d, at least %d and %d", n.rows, n.strict, n.flexible,
					c.rows, c.strict, c.loose)
			}
		})
	}
}

func (n *tally) count(r trace, g Grade) {
	if (g.Strict == Right) == bool(r.Correct) {
		n.strict++
	}
	if (g.Flexible == Right) == bool(r.Correct) {
		n.flexible++
	}
	switch {
	case g.Strict == Unreadable:
		n.unreadable++
	case g.Strict == Right && !bool(r.Correct):
		n.falseRight++
	case g.Strict == Wrong && bool(r.Correct):
		n.falseWrong++
	}
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-160):]
}
