package task

import (
	"strings"
	"testing"

	"synod.dev/synod"
)

// TestBuiltin checks every answer in another way than the one in which it was computed, and that no other
// candidate would be accepted.
func TestBuiltin(t *testing.T) {
	for seed := range uint64(6) {
		for i := range 300 {
			it, p := builtinItem(seed, i)
			if err := it.check(); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, it, err)
			}
			if !p.holds(it.key) {
				t.Errorf("seed %d: %s: %q has the key %s, which does not hold", seed, it, p.text, it.key)
			}
			for _, c := range candidates(it) {
				if c != it.key && p.holds(c) {
					t.Errorf("seed %d: %s: %q has the key %s, and %s holds too", seed, it, p.text, it.key, c)
				}
			}
			if strings.Contains(p.text, "%!") {
				t.Errorf("%s: a template is broken: %s", it, p.text)
			}
			if g := it.GradeReply("Answer: " + it.key); g.Verdict != Right {
				t.Errorf("%s: its own key is %+v", it, g)
			}
		}
	}
}

// candidates are answers that a careless generator would accept too.
func candidates(it Item) []string {
	switch it.Question.Form {
	case synod.Bool:
		return []string{"true", "false"}
	case synod.Choice:
		var all []string
		for _, o := range it.Question.Options {
			all = append(all, o.Label)
		}
		return all
	}
	var all []string
	for n := -5; n < 200; n++ {
		all = append(all, itoa(n))
	}
	return all
}

func TestBuiltinIsStable(t *testing.T) {
	long, err := makeBuiltin(Options{Seed: 7, Number: 400})
	if err != nil {
		t.Fatal(err)
	}
	short, _ := makeBuiltin(Options{Seed: 7})
	if len(short) != builtinItems {
		t.Errorf("%d items by default, want %d", len(short), builtinItems)
	}
	levels, topics := map[int]int{}, map[string]int{}
	for i, it := range short {
		if it.Question.Text != long[i].Question.Text || it.key != long[i].key {
			t.Errorf("item %d depends on how many are asked for", i)
		}
		levels[it.Level]++
		topics[it.Topic]++
	}
	if len(levels) != 5 || len(topics) != len(kinds) {
		t.Errorf("levels %v, topics %v", levels, topics)
	}
	if _, err := makeBuiltin(Options{Number: maxBuiltin + 1}); err == nil {
		t.Error("there is no limit")
	}
	hard, err := makeBuiltin(Options{Seed: 7, Levels: []int{4, 5}, Number: 150})
	if err != nil || len(hard) != 150 {
		t.Fatalf("%d of 150 hard problems, %v", len(hard), err)
	}
	for _, it := range hard {
		if it.Level < 4 {
			t.Errorf("%s is of level %d", it, it.Level)
		}
	}
	if hard[0].Question.Text != long[18].Question.Text {
		t.Error("a problem depends on which levels are asked for")
	}
	if _, err := Open("builtin", Options{Levels: []int{9}, Number: 5}); err == nil {
		t.Error("there is no level 9")
	}
}
