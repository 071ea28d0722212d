package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Erase selects what is removed of what people have asked. All that is selected must fit.
type Erase struct {
	Key    *string   // the id of the key that has asked; nil: any, and requests without a key
	Text   string    // is in the question, the answer, the journal, the stored response or the task, in any case
	Before time.Time // it was asked before; zero: at any time
	Anew   bool      // the file is written anew as a whole, which takes as long as its size makes it
}

// Erased is what was removed, or would be.
type Erased struct {
	Requests  int // of which the texts were removed, and the journal
	Journals  int
	Responses int // that were stored for later requests
	Tasks     int // of agents
	Running   int // requests that have not ended, and were left as they are
	Elsewhere int // journals that lie on other machines, with several gateways on one database

	// Older is whether the file was made by a release that did not overwrite what it deleted: texts that were deleted
	// before may still be in its unused parts, until it is written anew.
	Older bool
}

// erasing is the work of one Erase.
type erasing struct {
	Erase
	lower                      string
	requests, gone             []string // ids: whose texts are removed, and whose journals
	responses, tasks, journals []string // the last are paths
	found                      Erased
}

// Erase removes texts of requests that have ended, their journals in a folder, stored responses and tasks. What was
// spent stays, with the time, model and tokens of each request, until Retain removes them. Nothing of a text is left
// in the file of the store (but see Erased.Older); a database of several gateways frees what was removed in its own
// time. With dry it only counts.
func (s *Store) Erase(ctx context.Context, e Erase, journals string, dry bool) (Erased, error) {
	w := &erasing{Erase: e, lower: strings.ToLower(e.Text)}
	if w.Before.IsZero() {
		w.Before = s.now().Add(time.Hour) // also what a clock that is ahead has dated
	}
	if err := errors.Join(s.flush(), w.findRequests(ctx, s, journals),
		w.findBodies(ctx, s, "responses", "conversation || body", &w.responses),
		w.findBodies(ctx, s, "tasks", "body", &w.tasks)); err != nil {
		return Erased{}, fmt.Errorf("store: %w", err)
	}
	w.found.Requests, w.found.Journals = len(w.requests), len(w.journals)
	w.found.Responses, w.found.Tasks = len(w.responses), len(w.tasks)
	if dry || w.found == (Erased{Running: w.found.Running}) && !e.Anew {
		return w.found, nil
	}
	for _, file := range w.journals {
		if err := remove(filepath.Split(file)); err != nil {
			return Erased{}, fmt.Errorf("store: %w", err)
		}
	}
	if err := w.remove(s); err != nil {
		return Erased{}, err
	}
	var err error
	w.found.Older, err = s.compact(ctx, e.Anew)
	return w.found, err
}

// findRequests finds requests, and their journals. What has neither text nor journal has nothing to remove.
func (w *erasing) findRequests(ctx context.Context, s *Store, journals string) error {
	rows, err := s.db.QueryContext(ctx, `SELECT requests.id, begun, ended, journal, COALESCE(texts.question, ''),
		COALESCE(texts.answer, '') FROM requests LEFT JOIN texts ON texts.id = requests.id
		WHERE begun < $1 AND ($2 = 0 OR key_id = $3) AND (journal <> '' OR texts.id IS NOT NULL)`,
		w.Before.UnixMilli(), bit(w.Key != nil), w.key())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, name, question, answer string
		var begun, ended int64
		if err := rows.Scan(&id, &begun, &ended, &name, &question, &answer); err != nil {
			return err
		}
		day := time.UnixMilli(begun).UTC().Format(time.DateOnly)
		file := filepath.Join(journals, day, filepath.Base(name)+".jsonl")
		if w.in(question) || w.in(answer) {
			err = nil
		} else if err = w.inFile(name, file); errors.Is(err, errNotIn) {
			continue
		}
		if err == nil && ended == 0 {
			w.found.Running++
			continue
		}
		if err == nil {
			err = w.take(s, id, name, file)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// take selects a request.
func (w *erasing) take(s *Store, id, name, file string) error {
	w.requests = append(w.requests, id)
	if name == "" {
		return nil
	}
	switch _, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist) && s.postgres:
		w.found.Elsewhere++
		return nil
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		w.journals = append(w.journals, file)
	}
	w.gone = append(w.gone, id)
	return nil
}

// findBodies finds rows of a table of texts as JSON.
func (w *erasing) findBodies(ctx context.Context, s *Store, table, text string, into *[]string) error {
	rows, err := s.db.QueryContext(ctx, "SELECT id, "+text+" FROM "+table+
		" WHERE at < $1 AND ($2 = 0 OR key_id = $3)", w.Before.UnixMilli(), bit(w.Key != nil), w.key())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var body []byte
		if err := rows.Scan(&id, &body); err != nil {
			return err
		}
		switch err := w.inJSON(bytes.NewReader(body)); {
		case err == nil:
			*into = append(*into, id)
		case !errors.Is(err, errNotIn):
			return err
		}
	}
	return rows.Err()
}

func (w *erasing) key() string {
	if w.Key == nil {
		return ""
	}
	return *w.Key
}

// in reports whether a text has what is looked for.
func (w *erasing) in(text string) bool { return strings.Contains(strings.ToLower(text), w.lower) }

var errNotIn = errors.New("it is not in the file")

// inFile returns nil if a journal has what is looked for, and errNotIn if not. name "" means that there is none.
func (w *erasing) inFile(name, file string) error {
	if name == "" {
		return errNotIn
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return errNotIn
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return w.inJSON(f)
}

// inJSON does the same for the strings of JSON values. What is no JSON, as the last line of a run that was killed, is
// looked through as it is.
func (w *erasing) inJSON(r io.Reader) error {
	if w.lower == "" {
		return nil
	}
	d := json.NewDecoder(r)
	for {
		t, err := d.Token()
		if text, ok := t.(string); ok && w.in(text) {
			return nil
		}
		var syntax *json.SyntaxError
		switch {
		case err == io.EOF:
			return errNotIn
		case err == io.ErrUnexpectedEOF || errors.As(err, &syntax):
			rest, err := io.ReadAll(io.MultiReader(d.Buffered(), r))
			if err == nil && !w.in(string(rest)) {
				err = errNotIn
			}
			return err
		case err != nil:
			return err
		}
	}
}

// atOnce is how many rows one transaction removes, so that gateways wait for none of them long.
const atOnce = 500

// remove removes what was found. The audit has how much it was, and not what was looked for.
func (w *erasing) remove(s *Store) error {
	for _, x := range []struct {
		statement string
		ids       []string
	}{
		{"DELETE FROM texts WHERE id = $1", w.requests}, {"DELETE FROM labels WHERE run = $1", w.requests},
		{"UPDATE requests SET journal = '', bytes = 0 WHERE id = $1", w.gone},
		{"DELETE FROM responses WHERE id = $1", w.responses}, {"DELETE FROM tasks WHERE id = $1", w.tasks},
	} {
		for ids := range slices.Chunk(x.ids, atOnce) {
			if err := s.run(func(ctx context.Context, tx *sql.Tx) error {
				for _, id := range ids {
					if _, err := tx.ExecContext(ctx, x.statement, id); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		return note(ctx, tx, s.now(), "data deleted", w.key(), fmt.Sprintf("%d requests, %d journals, %d responses, "+
			"%d tasks", w.found.Requests, w.found.Journals, w.found.Responses, w.found.Tasks))
	})
}

// incremental is SQLite's number for files that give back free pages bit by bit.
const incremental = 2

// compact gives the room of what was removed back, and empties the log of the file. Gateways wait for a step at most,
// or with anew until the whole file is written. older is whether the file keeps its free pages.
func (s *Store) compact(ctx context.Context, anew bool) (older bool, err error) {
	if s.postgres {
		return false, nil
	}
	var mode int
	if anew {
		_, err = s.db.ExecContext(ctx, "VACUUM") // also gives an older file the mode
	}
	if err == nil {
		err = s.db.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&mode)
	}
	if err == nil && mode == incremental {
		err = s.giveBack(ctx)
	}
	if err == nil {
		err = s.scrub(ctx, mode != 0)
	}
	var busy, pages, moved int
	if err == nil {
		err = s.db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	}
	if err == nil && busy != 0 {
		err = errors.New("the store is in use")
	}
	if err != nil {
		return false, fmt.Errorf("store: all is removed, but its bytes may still be in unused parts of the file (give "+
			"the command again, or stop the gateway for it): %w", err)
	}
	return mode != incremental, nil
}

// giveBack gives free pages back, a few in a step.
func (s *Store) giveBack(ctx context.Context) error {
	for before := -1; ; {
		var free int
		if err := s.db.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free); err != nil {
			return err
		}
		if free == 0 || free == before { // nothing can be given back now
			return nil
		}
		before = free
		rows, err := s.db.QueryContext(ctx, "PRAGMA incremental_vacuum(1000)")
		if err != nil {
			return err
		}
		for rows.Next() { // each page is a step
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
}
