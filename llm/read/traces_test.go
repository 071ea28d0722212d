package read_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/table"
	"synod.dev/synod/llm/read"
)

// trace is a recorded reply with the verdict of its source.
type trace struct {
	ID       json.Number `json:"item_id"`
	Model    string      `json:"model"`
	Gold     string      `json:"gold"`
	Response string      `json:"response"`
	Correct  bool        `json:"correct"`
}

// traceRow counts the replies of a model.
type traceRow struct{ replies, read, right, before, good, wrong int }

func (n *traceRow) add(q *synod.Question, v trace) {
	reply := synod.Reply{Status: synod.OK, Text: v.Response}
	old, _, _ := read.Answer(q, &reply, false)
	read.SetVersion(&reply)
	a, _, ok := read.Answer(q, &reply, false)
	n.replies++
	if ok {
		n.read++
	}
	good := string(a) == v.Gold
	switch {
	case v.Correct && good:
		n.good++
	case good:
		n.wrong++
	}
	if v.Correct {
		n.right++
		if string(old) == v.Gold {
			n.before++
		}
	}
}

// TestTraces reads the recorded replies to prompts that ask for reasoning and "The answer is (X)", by model.
func TestTraces(t *testing.T) {
	traces := readLines[trace](t, "traces/mmlu-pro.jsonl")
	set, err := task.Open("mmlu-pro", task.Options{Data: filepath.Join("..", "..", "..", "shared", "data")})
	if err != nil {
		t.Fatal(err)
	}
	items, err := set.Items()
	if err != nil {
		t.Fatal(err)
	}
	questions := map[string]*synod.Question{}
	for i := range items {
		questions[items[i].Question.ID] = &items[i].Question
	}
	rows, models, all := map[string]*traceRow{}, []string{}, &traceRow{}
	for _, v := range traces {
		if rows[v.Model] == nil {
			rows[v.Model] = &traceRow{}
			models = append(models, v.Model)
		}
		q := questions[v.ID.String()]
		if q == nil {
			t.Fatalf("there is no question %s", v.ID)
		}
		rows[v.Model].add(q, v)
		all.add(q, v)
	}
	rows["all"] = all
	x := table.Table{Head: []string{"model", "replies", "read", "right", "right before", "right now",
		"right for Synod only"}}
	for _, model := range append(models, "all") {
		n := rows[model]
		x.Add(model, n.replies, percent(n.read, n.replies), n.right, percent(n.before, n.right),
			percent(n.good, n.right), countOrNone(n.wrong))
	}
	var out bytes.Buffer
	if err := x.Write(&out, "md"); err != nil {
		t.Fatal(err)
	}
	checkDocs(t, "TestTraces", out.String())
}
