package task

import "synod.dev/synod"

// Record is an item together with its key: what a run folder keeps, so that it can
// be graded where the data set is not. It is the one way to a key; nothing that
// members see is made from it.
type Record struct {
	Question synod.Question `json:"question"`
	Key      string         `json:"key"`
	Level    int            `json:"level,omitempty"`
	Topic    string         `json:"topic,omitempty"`
	Note     string         `json:"note,omitempty"`
	Ungraded bool           `json:"ungraded,omitempty"`
}

// Record is the item with its key.
func (it Item) Record() Record {
	return Record{Question: it.Question, Key: it.key, Level: it.Level, Topic: it.Topic, Note: it.Note, Ungraded: it.ungraded}
}

// Item is the recorded item, checked as a loaded one is.
func (r Record) Item() (Item, error) {
	it := Item{Question: r.Question, Level: r.Level, Topic: r.Topic, Note: r.Note, key: r.Key, ungraded: r.Ungraded}
	return it, it.check()
}
