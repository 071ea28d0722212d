package task_test

import (
	"encoding/json"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/task"
)

// An item that was recorded and read again grades as before, for every built-in
// problem.
func TestRecord(t *testing.T) {
	set, err := task.Open("builtin", task.Options{})
	if err != nil {
		t.Fatal(err)
	}
	items, err := set.Items()
	if err != nil {
		t.Fatal(err)
	}
	truth := task.Truth(items)
	for _, it := range items {
		b, err := json.Marshal(it.Record())
		if err != nil {
			t.Fatal(err)
		}
		var r task.Record
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
		again, err := r.Item()
		if err != nil {
			t.Fatalf("%s: %v", it, err)
		}
		a := truth(&it.Question)
		if was, is := it.Grade(a), again.Grade(a); is != was || is.Verdict != task.Right {
			t.Errorf("%s: %s was graded %+v, and is %+v", it, a, was, is)
		}
	}
	if _, err := (task.Record{Question: synod.Question{Text: "?", Form: synod.Number}, Key: "many"}).Item(); err == nil {
		t.Error("a key that cannot be read was taken")
	}
}
