// Package probing collects graded answers together with their hidden states, in a
// folder that survives anything, and hands them to package probe (CP-2).
//
// A folder holds three files. probing.json says what was asked of whom. answers.jsonl
// has a line an answer: its grade, its mean token log-probability and what the model
// states of its own confidence when asked. states.f32 has a record of equal length an
// answer: little-endian float32, position by position and layer by layer, so that one
// layer of all answers is read without the others. A record is written before its
// line; what a killed process left behind the last whole line is cut off when the
// folder is opened again, and the collection goes on there.
//
//	f, err := probing.Create(dir, head)
//	done, err := f.Collect(ctx, items, probing.Asker{…})
//	data, left, err := f.Data()
package probing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/probe"
	"synod.dev/synod/task"
)

// version is the format of a folder.
const version = 1

// Head says what a folder's answers are answers to, and whose.
type Head struct {
	Version   int               `json:"version"`
	Program   string            `json:"program"`
	Task      string            `json:"task"`
	Seed      uint64            `json:"seed"`
	Subject   probe.Subject     `json:"subject"`
	Identity  string            `json:"identity"` // of the member: everything that changes an answer
	Stated    bool              `json:"stated"`   // it is also asked how sure it is (CP-1)
	Layers    []int             `json:"layers"`
	Positions []engine.Position `json:"positions"`
}

// record is the length of an answer's states in bytes.
func (h *Head) record() int64 { return 4 * int64(h.Subject.Width*len(h.Layers)*len(h.Positions)) }

// Line is one answer.
type Line struct {
	Question string       `json:"question"` // its id
	Form     synod.Form   `json:"form"`
	Answer   string       `json:"answer"` // as the member gave it, untrusted
	Verdict  task.Verdict `json:"verdict"`
	Tokens   int          `json:"tokens"` // of the answer; 0: there are no states of it
	Logprob  *float64     `json:"logprob"`
	Stated   *float64     `json:"stated"` // null: not asked, or unreadable
}

// Folder is a collection.
type Folder struct {
	Dir   string
	Head  Head
	Lines []Line

	answers, states *os.File // open while collecting
}

const (
	headFile    = "probing.json"
	answersFile = "answers.jsonl"
	statesFile  = "states.f32"
)

// ErrNoFolder means that there is no collection in a folder.
var ErrNoFolder = errors.New("there are no collected answers in this folder")

// Create begins a collection in a folder that is new or empty.
func Create(dir string, h Head) (*Folder, error) {
	h.Version = version
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	if len(list) > 0 {
		return nil, fmt.Errorf("probing: %s is not empty and holds no collected answers; give another folder", dir)
	}
	text, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, headFile), append(text, '\n'), 0o644); err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	return &Folder{Dir: dir, Head: h}, nil
}

// Open reads what has been collected.
func Open(dir string) (*Folder, error) {
	text, err := os.ReadFile(filepath.Join(dir, headFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("probing: %s: %w", dir, ErrNoFolder)
	}
	if err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	f := &Folder{Dir: dir}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f.Head); err != nil {
		return nil, fmt.Errorf("probing: %s: %w", headFile, err)
	}
	if h := f.Head; h.Version != version || h.record() <= 0 {
		return nil, fmt.Errorf("probing: %s has version %d and records of %d bytes; this build reads version %d", headFile, h.Version, h.record(), version)
	}
	_, err = f.read()
	return f, err
}

// read reads the whole lines that have a record, and returns their length.
func (f *Folder) read() (whole int64, err error) {
	text, err := os.ReadFile(filepath.Join(f.Dir, answersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("probing: %w", err)
	}
	info, err := os.Stat(filepath.Join(f.Dir, statesFile))
	if err != nil {
		return 0, fmt.Errorf("probing: %w", err)
	}
	records := info.Size() / f.Head.record()
	f.Lines = nil
	for n := 1; ; n++ {
		line, rest, ended := bytes.Cut(text[whole:], []byte("\n"))
		if !ended { // cut off while it was written
			return whole, nil
		}
		var l Line
		if err := json.Unmarshal(line, &l); err != nil {
			return 0, fmt.Errorf("probing: %s line %d: %w", answersFile, n, err)
		}
		if int64(n) > records {
			return 0, fmt.Errorf("probing: %s line %d has no states in %s; the folder is damaged, collect again", answersFile, n, statesFile)
		}
		f.Lines = append(f.Lines, l)
		whole = int64(len(text) - len(rest))
	}
}

// begin opens the files for what is to come, cut to what is whole.
func (f *Folder) begin() error {
	whole, err := f.read()
	if err != nil {
		return err
	}
	for _, o := range []struct {
		name string
		size int64
		into **os.File
	}{{answersFile, whole, &f.answers}, {statesFile, int64(len(f.Lines)) * f.Head.record(), &f.states}} {
		file, err := os.OpenFile(filepath.Join(f.Dir, o.name), os.O_RDWR|os.O_CREATE, 0o644)
		if err == nil {
			*o.into = file
			err = file.Truncate(o.size)
		}
		if err == nil {
			_, err = file.Seek(0, 2)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("probing: %w", err), f.end())
		}
	}
	return nil
}

func (f *Folder) end() (err error) {
	for _, file := range []**os.File{&f.answers, &f.states} {
		if *file != nil {
			err = errors.Join(err, (*file).Close())
			*file = nil
		}
	}
	return err
}

// keep writes an answer.
func (f *Folder) keep(l Line, states []byte) error {
	if int64(len(states)) != f.Head.record() {
		return fmt.Errorf("probing: an answer has %d bytes of states and not %d", len(states), f.Head.record())
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := f.states.Write(states); err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	if _, err := f.answers.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	f.Lines = append(f.Lines, l)
	return nil
}
