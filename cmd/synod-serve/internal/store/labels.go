package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"synod.dev/synod/core/reliability"
	"synod.dev/synod/council/trust"
)

// Label is what a key says about the answer to one of its runs. It has hashes of answers, and no text.
type Label struct {
	Run   string
	Key   string // the id of the key; "": the owner of a gateway that needs none
	Model string // of the run
	At    time.Time
	Mark  string // "right", "wrong", or "value" if the key gave the right value
	// Answers are the first answers of the members that were asked, labelled.
	Answers []reliability.Observation
	// Predicted is the probability that the run stated of its decision; negative: none.
	Predicted float64
	Correct   bool // the run has a decision, and it is right
}

// SetLabel keeps a label in place of an earlier one of the same run and key.
func (s *Store) SetLabel(l Label) error {
	answers, err := json.Marshal(l.Answers)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return s.run(func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO labels (run, key_id, model, at, mark, answers, predicted, correct)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (run, key_id) DO UPDATE SET at = $4, mark = $5,
			answers = $6, predicted = $7, correct = $8`, l.Run, l.Key, l.Model, s.now().UnixMilli(), l.Mark,
			string(answers), l.Predicted, bit(l.Correct))
		return err
	})
}

// Labels returns the labels of a model's runs, the oldest first; "": those of all models.
func (s *Store) Labels(ctx context.Context, model string) ([]Label, error) {
	return s.labels(ctx, "$1 = '' OR model = $1", model)
}

// LabelOf returns the label of a run by a key; nil if there is none.
func (s *Store) LabelOf(ctx context.Context, run, key string) (*Label, error) {
	all, err := s.labels(ctx, "run = $1 AND key_id = $2", run, key)
	if len(all) == 0 {
		return nil, err
	}
	return &all[0], err
}

// CountLabels returns how many labels the runs of a model have.
func (s *Store) CountLabels(ctx context.Context, model string) (n int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM labels WHERE model = $1", model).Scan(&n)
	if err != nil {
		err = fmt.Errorf("store: %w", err)
	}
	return n, err
}

func (s *Store) labels(ctx context.Context, where string, args ...any) (all []Label, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT run, key_id, model, at, mark, answers, predicted, correct FROM labels
		WHERE `+where+" ORDER BY at, run, key_id", args...)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var l Label
		var at, correct int64
		var answers string
		if err := rows.Scan(&l.Run, &l.Key, &l.Model, &at, &l.Mark, &answers, &l.Predicted, &correct); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		if err := json.Unmarshal([]byte(answers), &l.Answers); err != nil {
			return nil, fmt.Errorf("store: the label of run %s: %w", l.Run, err)
		}
		l.At, l.Correct = time.UnixMilli(at), correct != 0
		all = append(all, l)
	}
	return all, rows.Err()
}

// Marks returns the labels of a model's runs as trust.ReadMarks reads them, the oldest first.
func (s *Store) Marks(ctx context.Context, model string) ([]trust.Mark, error) {
	labels, err := s.Labels(ctx, model)
	all := make([]trust.Mark, 0, len(labels))
	for i := range labels {
		l := &labels[i]
		m := trust.Mark{Run: l.Run, Council: l.Model, Key: l.Key, At: l.At.UTC(), Right: l.Correct}
		if len(l.Answers) > 0 {
			m.Question = l.Answers[0].Question
		}
		if l.Predicted >= 0 {
			m.Probability = &l.Predicted
		}
		all = append(all, m)
	}
	return all, err
}

// Feedback returns the labelled first answers to the questions of a model. A question that a key has asked several
// times counts once for that key, as it labelled it last.
func (s *Store) Feedback(ctx context.Context, model string) (all []reliability.Observation, err error) {
	labels, err := s.Labels(ctx, model)
	if err != nil {
		return nil, err
	}
	last := map[string]string{} // run by question and key
	for _, l := range labels {
		last[l.question()] = l.Run
	}
	for _, l := range labels {
		if last[l.question()] != l.Run {
			continue
		}
		for _, o := range l.Answers {
			o.Question = l.question()
			all = append(all, o)
		}
	}
	return all, nil
}

// question names the question of a label for its key.
func (l *Label) question() string {
	if len(l.Answers) == 0 {
		return ""
	}
	return l.Answers[0].Question + " " + l.Key
}

// LabelStamps returns by model what changes with its labels.
func (s *Store) LabelStamps(ctx context.Context) (map[string]string, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT model, COUNT(*), MAX(at) FROM labels GROUP BY model")
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer rows.Close()
	stamps := map[string]string{}
	for rows.Next() {
		var model string
		var n, at int64
		if err := rows.Scan(&model, &n, &at); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		stamps[model] = fmt.Sprint(n, " ", at)
	}
	return stamps, rows.Err()
}

// Unlabel withdraws the labels of a key, by its id: of a run, or all for "". It returns how many there were.
func (s *Store) Unlabel(key, run string) (n int64, err error) {
	err = s.run(func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM labels WHERE key_id = $1 AND ($2 = '' OR run = $2)", key, run)
		if err != nil {
			return err
		}
		if n, err = res.RowsAffected(); err != nil || run != "" {
			return err
		}
		return note(ctx, tx, s.now(), "labels withdrawn", key, fmt.Sprintf("%d labels", n))
	})
	return n, err
}
