package task

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
)

// topical returns items of topics with so many each, one topic after the other, as MMLU-Pro has them.
func topical(t *testing.T, sizes ...int) (items []Item) {
	t.Helper()
	for topic, n := range sizes {
		for range n {
			it, err := NewItem(synod.Question{ID: fmt.Sprintf("q%d", len(items)), Text: "?", Form: synod.Number}, "1")
			if err != nil {
				t.Fatal(err)
			}
			it.Topic, it.Level = fmt.Sprintf("topic%d", topic), topic+1
			items = append(items, it)
		}
	}
	return items
}

func drawn(t *testing.T, s Sample, items []Item) (ids []string, topics map[string]int) {
	t.Helper()
	out, err := s.Of(items)
	if err != nil {
		t.Fatal(err)
	}
	topics = map[string]int{}
	for _, it := range out {
		ids = append(ids, it.Question.ID)
		topics[it.Topic]++
	}
	return ids, topics
}

// A draw by category has each category's share of the set, and is the same every time. Another seed draws others.
func TestSampleByCategory(t *testing.T) {
	items := topical(t, 500, 300, 190, 10)
	s := Sample{N: 100, By: "category", Seed: 1}
	ids, topics := drawn(t, s, items)
	if len(ids) != 100 || topics["topic0"] != 50 || topics["topic1"] != 30 || topics["topic2"] != 19 ||
		topics["topic3"] != 1 {
		t.Errorf("%d drawn: %v", len(ids), topics)
	}
	seen := slices.Clone(ids)
	slices.Sort(seen)
	if len(slices.Compact(seen)) != 100 {
		t.Error("a question was drawn twice")
	}
	if again, _ := drawn(t, s, items); !slices.Equal(again, ids) {
		t.Error("the same draw is another one")
	}
	if none, _ := drawn(t, Sample{N: 100, By: "category"}, items); !slices.Equal(none, ids) {
		t.Error("without a seed it is not 1")
	}
	if other, _ := drawn(t, Sample{N: 100, By: "category", Seed: 2}, items); slices.Equal(other, ids) {
		t.Error("another seed draws the same")
	}
	if slices.Equal(ids[:10], []string{"q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9"}) {
		t.Error("the first questions were taken")
	}
}

// Without strata every question has the same chance: over many draws each is drawn about as often.
func TestSampleIsUniform(t *testing.T) {
	items := topical(t, 8, 2)
	counts := map[string]int{}
	for seed := range uint64(2000) {
		ids, _ := drawn(t, Sample{N: 3, Seed: seed + 1}, items)
		for _, id := range ids {
			counts[id]++
		}
	}
	for id, n := range counts {
		if n < 500 || n > 700 { // 600 expected, standard deviation 20
			t.Errorf("%s was drawn %d times", id, n)
		}
	}
}

func TestBadSamples(t *testing.T) {
	items := topical(t, 4)
	items[2].Topic = ""
	for _, c := range []struct {
		s    Sample
		want string
	}{{Sample{N: 5}, "of 4"}, {Sample{N: 2, By: "category"}, "question q2 has no category"}} {
		if _, err := c.s.Of(items); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
	for _, text := range []string{"", "0", "ten", "10,by=topic", "10,seed=-1", "10,size=3", "-3", "10,x"} {
		if s, err := ParseSample(text); err == nil {
			t.Errorf("%q: %+v", text, s)
		}
	}
	s, err := ParseSample("10,by=level,seed=7")
	if err != nil || s != (Sample{N: 10, By: "level", Seed: 7}) || s.String() != "10,by=level,seed=7" {
		t.Errorf("%+v, %v", s, err)
	}
}
