package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"synod.dev/synod/internal/durable"
	"synod.dev/synod/llm"
)

// ledger is the file in which a hub writes what requests may cost before they leave, and what they cost when they are
// over. So a hub that was killed knows what was spent, and which requests may still be on their way.
type ledger struct {
	mu   sync.Mutex
	file *os.File
	sync bool // entries have to outlive a failure of the power: there is a budget
}

// entry is a line of the ledger: one of three kinds.
type entry struct {
	Before *llm.Spent `json:"before,omitempty"` // what was spent before the lines that follow

	Grant  string     `json:"grant,omitempty"` // id of a permit
	Worker string     `json:"worker,omitempty"`
	Wanted llm.Wanted `json:"wanted,omitzero"`

	Release string    `json:"release,omitempty"` // id of a permit
	Spent   llm.Spent `json:"spent,omitzero"`
}

const (
	ledgerFile = "spending.jsonl"
	maxLedger  = 1 << 30
	maxEntry   = 64 << 10
)

// spending is what a ledger says.
type spending struct {
	spent llm.Spent
	open  map[string]entry // permits that were granted and not released
}

// openLedger reads the ledger of a folder and begins it anew with its sums. known is what the results say was spent,
// which counts if it is more: questions may have been asked without a hub.
func openLedger(dir string, known llm.Spent, sync bool) (*ledger, *spending, error) {
	path := filepath.Join(dir, ledgerFile)
	s, err := readLedger(path)
	if err != nil {
		return nil, nil, fmt.Errorf("the ledger %s: %w", path, err)
	}
	s.spent.Calls, s.spent.Tokens = max(s.spent.Calls, known.Calls), max(s.spent.Tokens, known.Tokens)
	s.spent.USD = max(s.spent.USD, known.USD)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	err = e.Encode(entry{Before: &s.spent})
	for _, open := range s.open {
		err = errors.Join(err, e.Encode(open))
	}
	if err == nil {
		err = durable.WriteFile(path, text.Bytes())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the ledger: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("the ledger: %w", err)
	}
	return &ledger{file: f, sync: sync}, s, nil
}

func readLedger(path string) (*spending, error) {
	s := &spending{open: map[string]entry{}}
	text, err := durable.ReadFile(path, maxLedger)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxEntry)
	for n, read := 1, 0; lines.Scan(); n++ {
		line := lines.Bytes()
		read += len(line) + 1
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			if read > len(text) && durable.Torn(line, `{"`) { // it was being written when the hub died
				return s, nil
			}
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		s.take(e)
	}
	return s, lines.Err()
}

func (s *spending) take(e entry) {
	switch {
	case e.Before != nil:
		s.spent = *e.Before
	case e.Grant != "":
		s.open[e.Grant] = e
	case e.Release != "":
		if _, open := s.open[e.Release]; open {
			delete(s.open, e.Release)
			s.spent = llm.Spent{Calls: s.spent.Calls + e.Spent.Calls, Tokens: s.spent.Tokens + e.Spent.Tokens,
				USD: s.spent.USD + e.Spent.USD}
		}
	}
}

// granted writes that a request may leave. It is on disk when granted returns, if there is a budget.
func (l *ledger) granted(id, worker string, w llm.Wanted) error {
	return l.write(entry{Grant: id, Worker: worker, Wanted: w}, l.sync)
}

// released writes what a request has cost. If the line is lost, the request counts what it could cost at most.
func (l *ledger) released(id string, spent llm.Spent) error {
	return l.write(entry{Release: id, Spent: spent}, false)
}

func (l *ledger) write(e entry, sync bool) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err = l.file.Write(append(b, '\n')); err == nil && sync {
		err = l.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	return nil
}

func (l *ledger) close() error { return errors.Join(l.file.Sync(), l.file.Close()) }
