// Package trust keeps what a council's own questions say about the reliability of its members: the history from
// which package reliability estimates weights, without labels. It is one JSON file with a version.
//
// The file has hashes of questions and answers, not their texts: who has the file learns which members agreed. A file
// of another version, or one whose checksum does not match, is refused and left alone. The checksum stands at the
// beginning (package durable), so a file whose end was lost is refused too. A file of an earlier program has none, or
// has it at the end; it is read, and sealed when it is next changed. Update holds a lock, and the file is replaced as a
// whole, so that a crash leaves the old or the new one.
//
// Its rank is 2: councils read it.
package trust

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"synod.dev/synod/core/reliability"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/filelock"
)

// Version is the version of the file.
const Version = 1

// History is the content of a file.
type History struct {
	Version   int        `json:"version"`
	Questions []Question `json:"questions"` // in the order in which they were learned
	// Unsealed says that the file has no checksum, so that a change of it would not be noticed.
	Unsealed bool `json:"-"`
}

// Question is the independent answers to one question.
type Question struct {
	ID      string   `json:"id"`   // Hash of the question
	Kind    string   `json:"kind"` // of task: the form of the question
	Answers []Answer `json:"answers"`
}

// Answer is that of one member.
type Answer struct {
	Member string            `json:"member"`
	Answer string            `json:"answer"`          // Hash of the canonical answer; "": unreadable
	Label  reliability.Label `json:"label,omitempty"` // from a graded run; "": nobody has graded it
	Sure   float64           `json:"sure,omitempty"`  // how likely its model said that it is, in (0, 1]; 0: it did not say
}

// maxQuestions is how many questions of a kind are kept, the last ones.
const maxQuestions = 2000

// maxFile bounds the file that is read, in bytes.
const maxFile = 64 << 20

// Hash is the name of a text in the file.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// Load reads a file. One that does not exist is an empty history.
func Load(path string) (*History, error) {
	b, err := durable.ReadFile(path, maxFile)
	if errors.Is(err, os.ErrNotExist) {
		return &History{Version: Version}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	h, err := decode(b)
	if errors.Is(err, durable.ErrDamaged) {
		return nil, fmt.Errorf("trust: %s: %w; restore it from a copy, or move it away, and a new history begins", path,
			err)
	}
	if err != nil {
		return nil, fmt.Errorf("trust: %s cannot be read: %w; move it away", path, err)
	}
	if h.Version != Version {
		return nil, fmt.Errorf("trust: %s has version %d, and this program reads version %d; move it away, or use the "+
			"program that wrote it", path, h.Version, Version)
	}
	return h, nil
}

// decode reads the content of a file.
func decode(b []byte) (*History, error) {
	h := &History{}
	sealed, err := durable.DecodeSealed(b, h)
	if err == nil && !sealed {
		h.Unsealed = true
	} else if err != nil && !sealed {
		return decodeSummed(b, err)
	}
	return h, err
}

// decodeSummed reads a file of an earlier program, which has its checksum at the end. no is the error if it is none.
func decodeSummed(b []byte, no error) (*History, error) {
	var old struct {
		History
		Sum string `json:"sum"`
	}
	if _, err := durable.DecodeSealed(b, &old); err != nil || old.Sum == "" {
		return nil, no
	}
	object, err := json.Marshal(old.History)
	if sum := sha256.Sum256(object); err != nil || hex.EncodeToString(sum[:]) != old.Sum {
		return nil, durable.ErrDamaged
	}
	return &old.History, nil
}

// patience is how long Update waits for another process, which holds the lock for milliseconds.
const patience = 10 * time.Second

// Update changes a file under a lock against other processes.
func Update(path string, change func(*History) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	held, err := lock(path + ".lock")
	if err != nil {
		return fmt.Errorf("trust: %s: %w", path, err)
	}
	defer held.Close()
	h, err := Load(path)
	if err != nil {
		return err
	}
	if err := change(h); err != nil {
		return err
	}
	h.prune()
	b, err := durable.EncodeSealed(h)
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	if err := durable.WriteFile(path, b); err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	return nil
}

func lock(path string) (held *os.File, err error) {
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if held, err = filelock.Lock(path); !errors.Is(err, filelock.ErrHeld) || time.Now().After(until) {
			return held, err
		}
	}
}

// prune drops the oldest questions of a kind beyond maxQuestions.
func (h *History) prune() {
	seen := map[string]int{}
	kept := []Question{}
	for _, q := range slices.Backward(h.Questions) {
		if seen[q.Kind]++; seen[q.Kind] <= maxQuestions {
			kept = append(kept, q)
		}
	}
	slices.Reverse(kept)
	h.Questions = kept
}

// Add appends the observations of questions. What is known of a question already is replaced member by member, where it
// stands, so that a question that is asked again counts once; a label and a likelihood are not lost by that if the
// answer is the same.
func (h *History) Add(all []reliability.Observation) {
	at := map[string]int{}
	for i, q := range h.Questions {
		at[q.Kind+" "+q.ID] = i
	}
	for _, o := range all {
		key := o.Kind + " " + o.Question
		i, known := at[key]
		if !known {
			i = len(h.Questions)
			at[key] = i
			h.Questions = append(h.Questions, Question{ID: o.Question, Kind: o.Kind})
		}
		h.Questions[i].set(Answer{o.Member, o.Answer, o.Label, o.Sure})
	}
}

func (q *Question) set(a Answer) {
	i := slices.IndexFunc(q.Answers, func(b Answer) bool { return b.Member == a.Member })
	if i < 0 {
		q.Answers = append(q.Answers, a)
		return
	}
	if was := q.Answers[i]; a.Answer == was.Answer {
		a.Label, a.Sure = cmp.Or(a.Label, was.Label), cmp.Or(a.Sure, was.Sure)
	}
	q.Answers[i] = a
}

// Observations lists the answers in order.
func (h *History) Observations() (all []reliability.Observation) {
	for _, q := range h.Questions {
		for _, a := range q.Answers {
			all = append(all, reliability.Observation{Question: q.ID, Kind: q.Kind, Member: a.Member, Answer: a.Answer,
				Label: a.Label, Sure: a.Sure})
		}
	}
	return all
}

// Has counts which of the questions, by their hashes, are in the history.
func (h *History) Has(ids []string) (n int) {
	known := map[string]bool{}
	for _, q := range h.Questions {
		known[q.ID] = true
	}
	for _, id := range ids {
		if known[id] {
			n++
		}
	}
	return n
}

// Forget removes the answers of a member and of a kind; "": of all. It returns how many it removed.
func (h *History) Forget(member, kind string) (removed int) {
	for i := range h.Questions {
		q := &h.Questions[i]
		if kind != "" && q.Kind != kind {
			continue
		}
		before := len(q.Answers)
		q.Answers = slices.DeleteFunc(q.Answers, func(a Answer) bool { return member == "" || a.Member == member })
		removed += before - len(q.Answers)
	}
	h.Questions = slices.DeleteFunc(h.Questions, func(q Question) bool { return len(q.Answers) == 0 })
	return removed
}
