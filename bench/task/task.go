// Package task holds the questions that councils are measured with, and the graders that decide whether an
// answer is right.
//
// A Set is a list of Items. An item is a question, which members see, and a key, which only the grader sees.
// The key is not exported, so that no prompt and no print of an Item can reveal it. Catalogue lists the sets:
// the built-in problems, which need no download, and public benchmarks in their published layouts. Loading is
// strict: a line that is empty or broken, has a misspelt key, or has an answer that its own grader cannot read
// is an error with file and line.
//
// GradeAnswer grades canonical answers and GradeReply the text of a model. GradeReply reads an answer twice,
// strictly (an answer that the reply commits to) and flexibly (otherwise, the last thing that could be one),
// and reports both; an answer that cannot be read is unreadable, not wrong. Mathematical expressions are
// compared by package llm/read/formula, and replies that refuse are recognised by package llm/read/refusal.
//
//	set, err := task.Open("builtin", task.Options{})
//	items, err := set.Items()
//	grade := set.Grade(items[0], answer)
//
// Another module adds a set with Catalogue.Add before main opens one (see the example of Entry).
package task

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// Set is a list of questions with their grader.
type Set interface {
	// Items returns the questions in the order of the data set. Every call returns
	// the same ones.
	Items() ([]Item, error)
	// Grade reports whether an answer, in canonical form, is right.
	Grade(Item, synod.Answer) Grade
}

// Item is a question and its key.
type Item struct {
	Question synod.Question
	Level    int    // difficulty from 1 to 5; 0 where the set has none
	Topic    string // the subject or kind, "" where the set has none
	Note     string // a remark for readers of results, for example that the wording is not the data set's

	key      string
	ungraded bool // it has no right answer
}

// Ungraded returns an item that has no right answer, such as a game. No answer to it is scored.
func Ungraded(q synod.Question) Item { return Item{Question: q, ungraded: true} }

// NewItem returns an item with its key, the right answer as text. It fails if the question is empty or if its
// grader cannot read the key.
func NewItem(q synod.Question, key string) (Item, error) {
	it := Item{Question: q, key: key}
	return it, it.check()
}

// check reports what is wrong with an item.
func (it *Item) check() error {
	q := &it.Question
	switch {
	case q.Text == "":
		return fmt.Errorf("the question is empty")
	case q.Form == synod.Choice && len(q.Options) < 2:
		return fmt.Errorf("a choice question needs two choices at least, and has %d", len(q.Options))
	case it.ungraded && it.key != "":
		return fmt.Errorf("it is ungraded, and has an answer")
	case it.ungraded:
		return nil
	case it.key == "":
		return fmt.Errorf("there is no answer")
	}
	for i, o := range q.Options {
		if o.Label == "" {
			return fmt.Errorf("choice %d has no label", i+1)
		}
		for _, p := range q.Options[:i] {
			if p.Label == o.Label {
				return fmt.Errorf("two choices have the label %q", o.Label)
			}
		}
	}
	if !readable(q, it.key) {
		return fmt.Errorf("the answer %q cannot be read as %s", it.key, phrase(q))
	}
	return nil
}

// phrase describes an answer to q with its article, for error messages.
func phrase(q *synod.Question) string {
	switch q.Form {
	case synod.Choice:
		return "one of the choices"
	case synod.Bool:
		return "true or false"
	case synod.Math:
		return "a mathematical expression"
	case JSON:
		if len(q.Schema) > 0 {
			return "JSON that follows the schema"
		}
		return "JSON"
	case synod.Action:
		return "a call of one of the tools"
	case synod.Stance:
		return "complies or refuses"
	}
	return "a " + string(q.Form)
}

// String returns the id of the question and never the key.
func (it Item) String() string { return it.Question.ID }

// GoString returns what %#v prints. It does not contain the key either.
func (it Item) GoString() string { return fmt.Sprintf("task.Item(%q)", it.Question.ID) }

// list is a Set whose items are all in memory.
type list []Item

// Items returns the questions.
func (l list) Items() ([]Item, error) { return l, nil }

// Grade grades an answer to one of the questions.
func (l list) Grade(it Item, a synod.Answer) Grade { return it.Grade(a) }

// Grade grades a canonical answer to the item's question.
func (it Item) Grade(a synod.Answer) Grade { return GradeAnswer(&it.Question, it.key, a) }

// GradeReply grades the text of a reply to the item's question.
func (it Item) GradeReply(text string) Grade { return GradeReply(&it.Question, it.key, text) }

// Truth returns a function that gives the canonical right answer to a question of one of the items, or None.
// It is for simulated members and for checks of reports; no other member and no prompt may see it.
func Truth(items []Item) func(*synod.Question) synod.Answer {
	keys := make(map[string]synod.Answer, len(items))
	for _, it := range items {
		if a, ok := read.Bare(&it.Question, it.key); ok {
			keys[it.Question.ID] = a
		}
	}
	return func(q *synod.Question) synod.Answer { return keys[q.ID] }
}

// Keyed is an item together with its key, as a run folder keeps it, so that a run can be graded without the
// data set. It is the only way to read a key; nothing that members see is made from it.
type Keyed struct {
	Question synod.Question `json:"question"`
	Key      string         `json:"key"`
	Level    int            `json:"level,omitempty"`
	Topic    string         `json:"topic,omitempty"`
	Note     string         `json:"note,omitempty"`
	Ungraded bool           `json:"ungraded,omitempty"`
}

// Record returns the item with its key.
func (it Item) Record() Keyed {
	return Keyed{Question: it.Question, Key: it.key, Level: it.Level, Topic: it.Topic, Note: it.Note,
		Ungraded: it.ungraded}
}

// Item returns the recorded item. It fails if the record is not a valid item.
func (r Keyed) Item() (Item, error) {
	it := Item{Question: r.Question, Level: r.Level, Topic: r.Topic, Note: r.Note, key: r.Key, ungraded: r.Ungraded}
	return it, it.check()
}
