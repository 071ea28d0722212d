package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/bench/task"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
)

// The files in the folder of a search.
const (
	identityFile = "search.json" // what is searched, by which a resumed search is checked
	triesFile    = "tries.jsonl" // a line for each try
	maxFile      = 1 << 30       // bytes
)

// identity is what the choices of a search depend on.
type identity struct {
	Version     int      `json:"version"`
	Council     string   `json:"council"`
	Adversaries []string `json:"adversaries"`
	Seats       []string `json:"seats"`
	Keep        []string `json:"keep"`
	Members     int      `json:"members"`
	Strategy    Strategy `json:"strategy"`
	Seed        uint64   `json:"seed"`
	Questions   string   `json:"questions"`         // SHA-256 of the questions of the search
	History     string   `json:"history,omitempty"` // of those of the history; "": the council does not learn
}

func (s *searching) identity() identity {
	text, _ := yaml.Marshal(s.Spec) // it was read from YAML
	i := identity{Version: Version, Council: string(text), Seats: s.space.seats, Keep: s.Keep, Members: s.Members,
		Strategy: s.Strategy, Seed: s.Seed, Questions: digest(s.Items)}
	if len(s.History) > 0 {
		i.History = digest(s.History)
	}
	for _, k := range s.space.kinds {
		i.Adversaries = append(i.Adversaries, k.name)
	}
	return i
}

// digest returns the SHA-256 of questions with their keys.
func digest(items []task.Item) string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, it := range items {
		_ = e.Encode(it.Record()) // strings and numbers; a hash takes every byte
	}
	return hex.EncodeToString(h.Sum(nil))
}

// log keeps the tries of a search in a folder.
type log struct {
	tries []Try // those that the folder had
	file  *os.File
	lock  io.Closer
}

// openLog opens the folder of a search, or makes it. It fails if another search is in it.
func openLog(dir string, i identity) (_ *log, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := &log{}
	lock, err := filelock.Lock(filepath.Join(dir, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%s: another process is searching in this folder", dir)
	}
	if err != nil {
		return nil, err
	}
	l.lock = lock
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if err := checkIdentity(dir, i); err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(filepath.Join(dir, triesFile), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	return l, l.read()
}

// checkIdentity compares what is searched with what the folder says, or writes it in a new folder.
func checkIdentity(dir string, i identity) error {
	path := filepath.Join(dir, identityFile)
	now, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	was, err := durable.ReadFile(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 1 { // the lock is there
			err = errors.Join(err, fmt.Errorf("%s is not empty and contains no search; choose another folder with -o",
				dir))
			return err
		}
		return durable.WriteFile(path, append(now, '\n'))
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(bytes.TrimSpace(was), now) {
		return fmt.Errorf("%s has a search with other settings, questions or another council; repeat its command, or "+
			"choose another folder with -o", dir)
	}
	return nil
}

// read reads the tries. A line that a crash cut off is removed.
func (l *log) read() error {
	text, err := io.ReadAll(io.LimitReader(l.file, maxFile))
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for n, line := range bytes.Split(bytes.TrimSpace(whole), []byte("\n")) {
		var t Try
		if len(line) == 0 {
			break
		}
		if _, err := durable.DecodeSealed(append(line, '\n'), &t); err != nil || t.N != n+1 || len(t.Case) == 0 {
			return fmt.Errorf("%s: line %d is not try %d of a search, or it was changed", l.file.Name(), n+1, n+1)
		}
		l.tries = append(l.tries, t)
	}
	if err := l.file.Truncate(int64(len(whole))); err != nil {
		return err
	}
	_, err = l.file.Seek(int64(len(whole)), io.SeekStart)
	return err
}

// add writes a try.
func (l *log) add(t Try) error {
	line, err := durable.EncodeSealed(t)
	if err == nil {
		_, err = l.file.Write(line)
	}
	return err
}

func (l *log) close() {
	if l.file != nil {
		_ = l.file.Close() // every try was written by its own call
	}
	if l.lock != nil {
		_ = l.lock.Close()
	}
}
