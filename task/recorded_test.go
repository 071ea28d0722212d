package task

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/read"
)

// vote is a recorded reply with the answer that its source read in it.
type vote struct {
	ID       string  `json:"id"`
	Question string  `json:"question"`
	Model    string  `json:"model"`
	Gold     string  `json:"gold"`
	Answer   *string `json:"answer"`
	Reply    string  `json:"reply"`
}

// readVotes reads the lines of a file of the recorded votes.
func readVotes(t testing.TB, file string) (all []vote) {
	t.Helper()
	f, err := os.Open(filepath.Join(dataDir(t), "votes", file))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: the public data has no votes")
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var v vote
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// recordedSet is a set of recorded replies, and how their answers are compared with the key.
type recordedSet struct {
	name  string
	form  synod.Form
	same  func(q *synod.Question, gold string, a synod.Answer, surface string) bool
	least float64 // the share of right replies that must be read as right
}

var recordedSets = []recordedSet{
	{"gsm8k", synod.Number, sameNumber, 0.99},
	{"math-l5", synod.Number, sameNumber, 0.99},
	{"crux", synod.Text, sameLiteral, 0.97},
}

func sameNumber(q *synod.Question, gold string, a synod.Answer, _ string) bool {
	return GradeAnswer(q, gold, a).Strict == Right
}

// sameLiteral compares two answers as Python literals. Letter case counts, unlike in the votes of a council, and a
// missing pair of quotes does not.
func sameLiteral(q *synod.Question, gold string, a synod.Answer, surface string) bool {
	want, ok := read.Canonical(q, gold)
	if !ok {
		return literal(string(a)) == literal(strings.ToLower(gold))
	}
	_, shown, _ := read.AnswerIn(q, "Answer: "+gold)
	return literal(string(want)) == literal(string(a)) && literal(shown) == literal(surface)
}

var (
	literalString = regexp.MustCompile(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`)
	literalSpace  = regexp.MustCompile(`\s+`)
)

// literal writes a Python literal in one way: with its strings in single quotation marks, without white space outside
// of them, and without quotation marks around the whole.
func literal(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range literalString.FindAllStringIndex(s, -1) {
		b.WriteString(literalSpace.ReplaceAllString(s[at:m[0]], "") + "'" + s[m[0]+1:m[1]-1] + "'")
		at = m[1]
	}
	b.WriteString(literalSpace.ReplaceAllString(s[at:], ""))
	if out := b.String(); len(out) > 1 && literalString.FindString(out) == out {
		return out[1 : len(out)-1]
	}
	return b.String()
}

// TestRecorded reads the recorded replies of capable models, which no server held to a schema.
func TestRecorded(t *testing.T) {
	for _, set := range recordedSets {
		t.Run(set.name, func(t *testing.T) {
			texts := map[string]string{}
			for _, v := range readVotes(t, set.name+".jsonl.gz") {
				texts[v.ID] = v.Question
			}
			var right, before, now, wrong, falsely int
			for _, v := range readVotes(t, set.name+"-replies.jsonl.gz") {
				q := &synod.Question{Form: set.form, Text: texts[v.ID]}
				reply := synod.Reply{Status: synod.OK, Text: v.Reply}
				old, oldShown, oldOK := read.Answer(q, &reply, false)
				read.SetVersion(&reply)
				a, shown, ok := read.Answer(q, &reply, false)
				good := ok && set.same(q, v.Gold, a, shown)
				theirs := v.Answer != nil && recordedRight(set, q, v)
				if theirs {
					right++
					if oldOK && set.same(q, v.Gold, old, oldShown) {
						before++
					}
					if good {
						now++
					} else {
						t.Logf("MISS %s %s gold %q theirs %q got %q %v: %q", v.ID, v.Model, v.Gold, *v.Answer, a, ok, tail(v.Reply))
					}
				} else {
					wrong++
					if good {
						falsely++
						ans := "null"
						if v.Answer != nil {
							ans = *v.Answer
						}
						t.Logf("FALSE %s %s gold %q theirs %q got %q: %q", v.ID, v.Model, v.Gold, ans, a, tail(v.Reply))
					}
				}
			}
			t.Logf("%s: right %d, before %.1f %%, now %.2f %%; wrong %d, read as right %d", set.name, right,
				100*float64(before)/float64(right), 100*float64(now)/float64(right), wrong, falsely)
		})
	}
}

// recordedRight reports whether the answer that the source read is right.
func recordedRight(set recordedSet, q *synod.Question, v vote) bool {
	a, shown, ok := read.AnswerIn(q, fmt.Sprintf(`{"answer": %s}`, mustJSON(*v.Answer)))
	if set.form == synod.Number {
		return *v.Answer == v.Gold || ok && set.same(q, v.Gold, a, shown)
	}
	return literal(*v.Answer) == literal(v.Gold)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
