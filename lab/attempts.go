package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"synod.dev/synod/council"

	"synod.dev/synod/report"
)

// attempt is a line of attempts.jsonl: how an attempt at a question ended. What
// the journal says is not said again.
type attempt struct {
	Question string  `json:"question"`
	Repeat   int     `json:"repeat"`
	Stopped  string  `json:"stopped"`
	Failed   bool    `json:"failed,omitempty"` // it ended without an outcome that counts
	Reason   string  `json:"reason,omitempty"`
	Seconds  float64 `json:"seconds"`

	Ended time.Time `json:"ended,omitzero"`
}

// interruption is the line that a run's owner leaves by interrupting it: of no
// question, since it may come between two.
var interruption = attempt{Stopped: council.Interrupted}

// attempts appends to attempts.jsonl.
type attempts struct {
	mu   sync.Mutex
	file *os.File
}

func attemptsFile(dir string) string { return filepath.Join(dir, "attempts.jsonl") }

func openAttempts(dir string) (*attempts, error) {
	f, err := os.OpenFile(attemptsFile(dir), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := []byte{'\n'}
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			f.Write([]byte{'\n'}) // the last writer died within its line
		}
	}
	return &attempts{file: f}, nil
}

func (a *attempts) add(at attempt) error {
	at.Ended = time.Now().UTC().Add(time.Millisecond - 1).Truncate(time.Millisecond) // rounded up: it did not begin before its run, which is rounded down
	b, err := json.Marshal(at)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err = a.file.Write(append(b, '\n'))
	return err
}

// history is what attempts.jsonl says of a question.
type history struct {
	seconds float64
	last    attempt
}

// failure is how the last attempt failed, for a report.
func (h history) failure() report.Failure {
	return report.Failure{Question: h.last.Question, Repeat: h.last.Repeat, Stopped: h.last.Stopped, Reason: h.last.Reason}
}

// histories reads attempts.jsonl. A line that was being written when its writer
// died says nothing.
func histories(dir string) (map[string]history, error) {
	b, err := os.ReadFile(attemptsFile(dir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("lab: %w", err)
	}
	all := map[string]history{}
	for line := range bytes.Lines(b) {
		var at attempt
		if json.Unmarshal(line, &at) != nil {
			continue
		}
		key := at.key()
		h := all[key]
		all[key] = history{h.seconds + at.Seconds, at}
	}
	return all, nil
}

func (a attempt) key() string { return fmt.Sprintf("%d %s", a.Repeat, a.Question) }
