package store

import (
	"database/sql"
	"errors"
)

// Cell is a run: its manifest, and the list of its questions.
type Cell struct {
	ID       int64  // given by the store
	Name     string // "": no cell of the grid needs the run any more
	Hash     string
	N        int // questions
	Repeats  int
	Manifest string // as package bench seals it
	Sum      string // of the questions: equal for equal lists
	// Questions are the ids and the records of the questions; nil in what Cells returns.
	Questions []Question
}

// Question is a question of a list.
type Question struct{ ID, Record string }

// Total returns the number of results that the cell has when it is finished.
func (c *Cell) Total() int { return c.N * c.Repeats }

// Meta returns a text; "" if there is none.
func (s *Store) Meta(key string) (value string, err error) {
	err = s.db.QueryRow("SELECT value FROM meta WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, s.named(err)
}

func setMeta(tx *sql.Tx, meta map[string]string) error {
	for key, value := range meta { // any order: the keys differ
		if _, err := tx.Exec("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value); err != nil {
			return err
		}
	}
	return nil
}

// insertCell adds a cell, and its list of questions if that is new.
func insertCell(tx *sql.Tx, c *Cell) error {
	var list int64
	err := tx.QueryRow("SELECT id FROM lists WHERE sum = ?", c.Sum).Scan(&list)
	if errors.Is(err, sql.ErrNoRows) {
		list, err = insertList(tx, c)
	}
	if err != nil {
		return err
	}
	res, err := tx.Exec("INSERT INTO cells (name, hash, n, repeats, questions, manifest) VALUES (?, ?, ?, ?, ?, ?)",
		nullable(c.Name), c.Hash, c.N, c.Repeats, list, c.Manifest)
	if err == nil {
		c.ID, err = res.LastInsertId()
	}
	return err
}

func insertList(tx *sql.Tx, c *Cell) (list int64, err error) {
	res, err := tx.Exec("INSERT INTO lists (sum) VALUES (?)", c.Sum)
	if err != nil {
		return 0, err
	}
	if list, err = res.LastInsertId(); err != nil {
		return 0, err
	}
	insert, err := tx.Prepare("INSERT INTO questions VALUES (?, ?, ?, ?)")
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	for i, q := range c.Questions {
		if _, err := insert.Exec(list, i, q.ID, q.Record); err != nil {
			return 0, err
		}
	}
	return list, nil
}

func nullable(name string) any {
	if name == "" {
		return nil
	}
	return name
}

// Cells returns the cells in the order in which they were added.
func (s *Store) Cells() (all []Cell, err error) {
	rows, err := s.db.Query("SELECT c.id, COALESCE(c.name, ''), c.hash, c.n, c.repeats, c.manifest, l.sum " +
		"FROM cells c JOIN lists l ON l.id = c.questions ORDER BY c.id")
	if err != nil {
		return nil, s.named(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c Cell
		if err := rows.Scan(&c.ID, &c.Name, &c.Hash, &c.N, &c.Repeats, &c.Manifest, &c.Sum); err != nil {
			return nil, s.named(err)
		}
		all = append(all, c)
	}
	return all, s.named(rows.Err())
}

// Records returns the records of the questions of a cell, in order.
func (s *Store) Records(cell int64) (all []string, err error) {
	rows, err := s.db.Query("SELECT record FROM questions WHERE list = (SELECT questions FROM cells WHERE id = ?) "+
		"ORDER BY question", cell)
	if err != nil {
		return nil, s.named(err)
	}
	defer rows.Close()
	for rows.Next() {
		var record string
		if err := rows.Scan(&record); err != nil {
			return nil, s.named(err)
		}
		all = append(all, record)
	}
	return all, s.named(rows.Err())
}

// Update changes the cells at once: it renames those of the map ("" takes the name away), adds those of the list
// and sets texts. The caller keeps others from writing.
func (s *Store) Update(names map[int64]string, add []*Cell, meta map[string]string) error {
	return s.transact(func(tx *sql.Tx) error {
		for id := range names { // names may be exchanged
			if _, err := tx.Exec("UPDATE cells SET name = NULL WHERE id = ?", id); err != nil {
				return err
			}
		}
		for id, name := range names {
			if _, err := tx.Exec("UPDATE cells SET name = ? WHERE id = ?", nullable(name), id); err != nil {
				return err
			}
		}
		for _, c := range add {
			if err := insertCell(tx, c); err != nil {
				return err
			}
		}
		return setMeta(tx, meta)
	})
}
