package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"synod.dev/synod/bench/store"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/llm"
)

// checkItems rejects questions that a run cannot ask.
func checkItems(items []task.Keyed) error {
	if len(items) == 0 {
		return errors.New("bench: there are no questions")
	}
	const longest = 500 // bytes of an id
	seen := map[string]bool{}
	for _, it := range items {
		q := it.Question
		switch {
		case q.ID == "":
			return errors.New("bench: a question has no id")
		case seen[q.ID]:
			return fmt.Errorf("bench: two questions have the id %q", q.ID)
		case len(q.ID) > longest:
			return fmt.Errorf("bench: the id %.60q… of a question has %d bytes; at most %d are accepted", q.ID,
				len(q.ID), longest)
		case q.Form == task.JSON && len(q.Schema) == 0:
			return fmt.Errorf("bench: question %q has answers of the form %s and no schema: "+
				"give one with --schema FILE", q.ID, q.Form)
		}
		seen[q.ID] = true
	}
	return nil
}

func encodeItems(items []task.Keyed) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, it := range items {
		if err := e.Encode(it); err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
	}
	return b.Bytes(), nil
}

// loadItems reads the questions of a cell and checks their SHA-256 digest.
func loadItems(s *store.Store, c *store.Cell) ([]task.Keyed, error) {
	records, err := s.Records(c.ID)
	if err != nil {
		return nil, err
	}
	return readItems([]byte(strings.Join(records, "\n")+"\n"), "the questions", c.Sum)
}

// readItems reads questions, one JSON object in each line, and checks their digest. Errors name where they come from.
func readItems(b []byte, path, want string) ([]task.Keyed, error) {
	if sumOf(b) != want {
		return nil, fmt.Errorf("bench: %s: they were changed after the run was created: %w", path, journal.ErrChanged)
	}
	var items []task.Keyed
	n := 0
	for line := range bytes.Lines(b) {
		n++
		var r task.Keyed
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("bench: %s: line %d: %w", path, n, err)
		}
		if r.Question.ID == "" || r.Question.Text == "" {
			return nil, fmt.Errorf("bench: %s: line %d: the question has no id or no text", path, n)
		}
		items = append(items, r)
	}
	if err := checkItems(items); err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return items, nil
}

// truth returns the keys of all questions, which simulated members need.
func (r *Run) truth() llm.Truth {
	var items []task.Item
	for _, it := range r.Items {
		if item, err := it.Item(); err == nil {
			items = append(items, item)
		}
	}
	return task.Truth(items)
}
