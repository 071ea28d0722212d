package read_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/table"
	"synod.dev/synod/internal/golden"
	"synod.dev/synod/llm/read"
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

// readLines reads a file of JSON lines of the public data, which may be packed. It skips the test if there is none.
func readLines[T any](t testing.TB, name string) (all []T) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", name))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: there is no public data at ../shared/data")
	} else if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		lines = bufio.NewScanner(z)
	}
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var v T
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

// recordedSet is a set of recorded replies to prompts that ask for JSON.
type recordedSet struct {
	name, title string
	form        synod.Form
	least       float64 // the share of right replies that must be read as right
	// missed are the replies in which the source found no answer and these readers do. Each was looked at: its answer
	// stands in the place that the prompt asked for, and is right.
	missed []string
}

// mostWrong is the share of replies whose recorded answer is wrong that may be read as right, missed apart.
const mostWrong = 0.003

var recordedSets = []recordedSet{
	{"gsm8k", "GSM8K", synod.Number, 0.99, nil},
	{"math-l5", "MATH, level 5", synod.Number, 0.99, []string{"math-l5-70 Phi-3.5-mini-instruct"}},
	{"crux", "CRUXEval", synod.Text, 0.97, []string{"crux-95 Qwen2-7B-Instruct", "crux-207 claude-3-haiku-20240307",
		"crux-207 Qwen2.5-7B-Instruct", "crux-207 gemma-2-9b-it", "crux-207 reka-core-20240501"}},
}

// right reports whether an answer is right: for numbers as a grader decides, for texts as Python's literals.
func (s recordedSet) right(q *synod.Question, gold, raw string, a synod.Answer) bool {
	if s.form == synod.Text {
		return sameLiteral(raw, gold)
	}
	return task.GradeAnswer(q, gold, a).Strict == task.Right
}

// theirs reports whether the answer that the source read is right.
func (s recordedSet) theirs(q *synod.Question, v vote) bool {
	if v.Answer == nil {
		return false
	}
	a, _ := read.Canonical(q, *v.Answer)
	return *v.Answer == v.Gold || s.right(q, v.Gold, *v.Answer, a)
}

// reading is how one reply is read.
type reading struct {
	vote
	before, now bool // it is read, by the strict readers and by these
	good        bool // it is read as right
	theirs      bool // the source reads it as right
	answer      synod.Answer
	cause       string // why the strict readers do not read it
	unread      string // why these do not
}

func (s recordedSet) readings(t testing.TB) (all []reading) {
	texts := map[string]string{}
	for _, v := range readLines[vote](t, "votes/"+s.name+".jsonl.gz") {
		texts[v.ID] = v.Question
	}
	for _, v := range readLines[vote](t, "votes/"+s.name+"-replies.jsonl.gz") {
		q := &synod.Question{Form: s.form, Text: texts[v.ID]}
		r := reading{vote: v, theirs: s.theirs(q, v), cause: read.Cause(q, v.Reply)}
		reply := synod.Reply{Status: synod.OK, Text: v.Reply}
		_, _, r.before = read.Answer(q, &reply, false)
		read.SetVersion(&reply)
		r.answer, _, r.now = read.Answer(q, &reply, false)
		if !r.now {
			r.unread = read.Unread(q, v.Reply)
			t.Logf("unread: %s %s: %s %q; want %q, theirs %s; ends %q", r.ID, r.Model, r.unread,
				end(read.RawAnswer(q, v.Reply)), r.Gold, r.recorded(), end(r.Reply))
		}
		r.good = r.now && s.right(q, v.Gold, read.RawAnswer(q, v.Reply), r.answer)
		all = append(all, r)
	}
	return all
}

// TestRecorded reads the recorded replies of capable models, which no server held to a schema. -v prints every reply
// that is read otherwise than by its source.
func TestRecorded(t *testing.T) {
	var out bytes.Buffer
	for _, set := range recordedSets {
		all := set.readings(t)
		right, good, wrong, missed := 0, 0, 0, 0
		unread := map[string]int{}
		for _, r := range all {
			if r.theirs != r.good {
				t.Logf("%s %s: want %q, ours %q, theirs %s; ends %q", r.ID, r.Model, r.Gold, r.answer, r.recorded(),
					end(r.Reply))
			}
			switch {
			case r.theirs && r.good:
				good++
				fallthrough
			case r.theirs:
				right++
			case r.good && r.Answer == nil && slices.Contains(set.missed, r.ID+" "+r.Model):
				missed++
			case r.good:
				wrong++
			}
			unread[r.unread]++
		}
		delete(unread, "")
		t.Logf("%s: of %d right replies %d are read as right (%.2f %%); of %d others %d, and %d that the source "+
			"missed; unread of all: %v", set.name, right, good, 100*float64(good)/float64(right), len(all)-right, wrong,
			missed, unread)
		if float64(good) < set.least*float64(right) || float64(wrong) > mostWrong*float64(len(all)-right) {
			t.Errorf("%s: want at least %.0f %%, and at most %.1f %%", set.name, 100*set.least, 100*mostWrong)
		}
		if missed != len(set.missed) {
			t.Errorf("%s: %d replies are read that the source missed, want %d", set.name, missed, len(set.missed))
		}
		fmt.Fprintf(&out, "**%s**, %d replies\n\n", set.title, len(all))
		writeCauses(t, &out, all)
		writeDifferent(t, &out, all)
	}
	checkDocs(t, "TestRecorded", strings.TrimRight(out.String(), "\n")+"\n")
}

// recorded returns what the source read.
func (r reading) recorded() string {
	if r.Answer == nil {
		return "nothing"
	}
	return "`" + *r.Answer + "`"
}

// writeDifferent writes a table of the replies whose answer is right for the source or for these readers, and not for
// the other.
func writeDifferent(t testing.TB, out *bytes.Buffer, all []reading) {
	var keys []string
	models := map[string][]string{}
	for _, r := range all {
		if r.theirs == r.good {
			continue
		}
		ours := "nothing: " + r.unread
		if r.now {
			ours = "`" + string(r.answer) + "`"
		}
		key := strings.Join([]string{r.ID, "`" + r.Gold + "`", r.recorded(), ours}, "\x00")
		if models[key] == nil {
			keys = append(keys, key)
		}
		models[key] = append(models[key], r.Model)
	}
	x := table.Table{Head: []string{"question", "key", "the source reads", "Synod reads", "models"}}
	for _, key := range keys {
		var cells []any
		for _, cell := range strings.Split(key, "\x00") {
			cells = append(cells, cell)
		}
		x.Add(append(cells, strings.Join(models[key], ", "))...)
	}
	out.WriteString("\nRead otherwise than by the source:\n\n")
	if err := x.Write(out, "md"); err != nil {
		t.Fatal(err)
	}
	out.WriteString("\n")
}

func end(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-160):]
}

// writeCauses writes a table of the replies by model: of the right ones, how many are read and why the strict readers
// do not read the others; of all, how many these readers do not read.
func writeCauses(t testing.TB, out *bytes.Buffer, all []reading) {
	x := table.Table{Head: slices.Concat([]string{"model", "right", "read before", "read now"}, read.Causes,
		[]string{"all"}, read.Reasons)}
	sum := newRow("all")
	var rows []*causeRow
	for _, r := range all {
		i := slices.IndexFunc(rows, func(x *causeRow) bool { return x.model == r.Model })
		if i < 0 {
			i = len(rows)
			rows = append(rows, newRow(r.Model))
		}
		rows[i].add(r)
		sum.add(r)
	}
	for _, r := range append(rows, sum) {
		x.Add(r.cells()...)
	}
	if err := x.Write(out, "md"); err != nil {
		t.Fatal(err)
	}
}

// causeRow counts the replies of a model.
type causeRow struct {
	model                        string
	right, before, good, replies int
	causes                       map[string]int // why the strict readers do not read right ones
	unread                       map[string]int // why these do not read any
}

func newRow(model string) *causeRow {
	return &causeRow{model: model, causes: map[string]int{}, unread: map[string]int{}}
}

func (c *causeRow) add(r reading) {
	c.replies++
	if !r.now {
		c.unread[r.unread]++
	}
	if !r.theirs {
		return
	}
	c.right++
	if r.before {
		c.before++
	} else {
		c.causes[r.cause]++
	}
	if r.good {
		c.good++
	}
}

func (c *causeRow) cells() []any {
	cells := []any{c.model, c.right, percent(c.before, c.right), percent(c.good, c.right)}
	for _, cause := range read.Causes {
		cells = append(cells, countOrNone(c.causes[cause]))
	}
	cells = append(cells, c.replies)
	for _, reason := range read.Reasons {
		cells = append(cells, countOrNone(c.unread[reason]))
	}
	return cells
}

func countOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func percent(n, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// checkDocs compares a generated part of docs/measure/replies.txt.
func checkDocs(t *testing.T, test, made string) {
	t.Helper()
	const docs = "../../docs/measure/replies.txt"
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	begin, shut := "<!-- generated: go test ./llm/read -run "+test+" -rewrite -->\n\n", "\n<!-- end -->"
	before, rest, ok := strings.Cut(string(text), begin)
	onFile, after, ok2 := strings.Cut(rest, shut)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the part of %s", docs, test)
	}
	if *golden.Rewrite && onFile != made {
		if err := os.WriteFile(docs, []byte(before+begin+made+shut+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if onFile != made {
		t.Errorf("the part of %s in %s is old; -rewrite renews it", test, docs)
	}
}
