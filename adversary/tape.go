package adversary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// TapeVersion is the version of the format of a Tape.
const TapeVersion = 1

// MaxTaped is the largest number of answers that a seat takes from a tape. Every journal holds them.
const MaxTaped = 1000

// Tape is what a weak model answered wrongly to the questions of a task, for an adversary that replays it to other
// questions (SAC appendix B.4). On file it is a line with its head and a line for each answer, all of them JSON.
type Tape struct {
	TapeHead
	Answers []Taped
}

// TapeHead says where the answers of a tape come from.
type TapeHead struct {
	Version  int    `json:"tape"`
	Program  string `json:"program"`
	Model    string `json:"model"`    // its name in the council
	Identity string `json:"identity"` // what it is, with its settings
	Kind     string `json:"kind"`     // endpoint, embedded, recorded or simulated
	Task     string `json:"task"`
	Seed     uint64 `json:"seed"`
	// Of Asked questions that have a reply, Right were answered rightly, and Unread have no answer that can be read and
	// graded. The others are on the tape.
	Asked  int `json:"asked"`
	Right  int `json:"right"`
	Unread int `json:"unread"`
}

// Taped is a wrong answer on a tape.
type Taped struct {
	Form   synod.Form `yaml:"form" json:"form" doc:"form of the answer" example:"number"`
	Answer string     `yaml:"answer" json:"answer" doc:"the answer" example:"\"42\""`
	Of     string     `yaml:"of" json:"of" doc:"digest of the question, to which it is not replayed" example:"5f2a0c1d9b3e4a67"`
}

// TapedOf returns the digest of a question in a Taped.
func TapedOf(q *synod.Question) string {
	sum := sha256.Sum256([]byte(q.Text))
	return hex.EncodeToString(sum[:8])
}

// Write writes the file.
func (t *Tape) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t.TapeHead); err != nil {
		return err
	}
	for _, a := range t.Answers {
		if err := enc.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

// ParseTape reads the text of a tape. Errors name the line.
func ParseTape(text []byte) (*Tape, error) {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	t := &Tape{}
	if err := json.Unmarshal(lines[0], &t.TapeHead); err != nil || t.Version == 0 {
		return nil, errors.New("this is no tape of answers; synod bench tape records one")
	}
	if t.Version != TapeVersion {
		return nil, fmt.Errorf("the tape has version %d, and this program reads version %d", t.Version, TapeVersion)
	}
	for i, line := range lines[1:] {
		var a Taped
		if err := json.Unmarshal(line, &a); err != nil || a.Form == "" || a.Answer == "" {
			return nil, fmt.Errorf(`line %d of the tape is no answer such as {"form": "number", "answer": "42", "of": `+
				`"5f2a0c1d9b3e4a67"}`, i+2)
		}
		t.Answers = append(t.Answers, a)
	}
	switch n := len(t.Answers); {
	case n == 0:
		return nil, errors.New("the tape has no answers: the model made no mistakes; record it with harder " +
			"questions, or with a weaker model")
	case n > MaxTaped:
		return nil, fmt.Errorf("the tape has %d answers, and a seat takes at most %d; record fewer questions", n,
			MaxTaped)
	}
	return t, nil
}

// Suited is implemented by an adversary that cannot attack every question. The caller that puts questions to a council
// calls Suits first.
type Suited interface {
	// Suits returns why the adversary has nothing to send for a question; nil if it has.
	Suits(q *synod.Question) error
}

// fitting returns the answers of a tape that are replies to other questions of the same form. An answer that this
// question cannot have, such as a label that none of its options has, is left out.
func fitting(all []Taped, q *synod.Question) (answers []string) {
	of := TapedOf(q)
	for _, a := range all {
		if a.Form != q.Form || a.Of == of {
			continue
		}
		if _, ok := read.Canonical(q, a.Answer); ok && !slices.Contains(answers, a.Answer) {
			answers = append(answers, a.Answer)
		}
	}
	return answers
}
