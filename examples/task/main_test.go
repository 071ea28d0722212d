package main

import (
	"testing"

	"synod.dev/synod/task"
)

func TestCapitals(t *testing.T) {
	task.Catalogue.Add(capitals)
	set, err := task.Open("capitals", task.Options{Data: "."})
	if err != nil {
		t.Fatal(err)
	}
	items, err := set.Items()
	if err != nil || len(items) != capitals.Items {
		t.Fatalf("%d items, %v", len(items), err)
	}
	if g := items[1].GradeReply("The capital is Oslo.\nAnswer: Oslo"); g.Verdict != task.Right {
		t.Errorf("%+v", g)
	}
}
