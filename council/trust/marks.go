package trust

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"synod.dev/synod/internal/durable"
)

// Mark is what a user has said about a decision, as gateways export it: one JSON object a line. It has no texts.
type Mark struct {
	Run      string    `json:"run"`
	Question string    `json:"question"` // hash
	Council  string    `json:"council"`
	Key      string    `json:"key"` // id of who said it
	At       time.Time `json:"at"`
	Right    bool      `json:"right"`
	// Probability is what the run stated of its decision, in [0, 1]; null: nothing.
	Probability *float64 `json:"probability"`
}

// Month returns the month (UTC) in which it was said, such as 2026-11.
func (m *Mark) Month() string { return m.At.UTC().Format("2006-01") }

// WriteMarks writes marks that ReadMarks reads.
func WriteMarks(w io.Writer, all []Mark) error {
	e := json.NewEncoder(w)
	for i := range all {
		if err := e.Encode(&all[i]); err != nil {
			return fmt.Errorf("trust: %w", err)
		}
	}
	return nil
}

// ReadMarks reads the file that a gateway has exported.
func ReadMarks(path string) (all []Mark, err error) {
	b, err := durable.ReadFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	for i, line := range bytes.Split(b, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var m Mark
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&m); err != nil || d.More() || m.Run == "" || m.At.IsZero() {
			return nil, fmt.Errorf("trust: %s, line %d is not a label as synod serve labels export writes it", path,
				i+1)
		}
		if p := m.Probability; p != nil && !(*p >= 0 && *p <= 1) {
			return nil, fmt.Errorf("trust: %s, line %d: probability is %v; it must be in [0, 1]", path, i+1, *p)
		}
		all = append(all, m)
	}
	return all, nil
}
