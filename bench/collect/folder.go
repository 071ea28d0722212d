// Package collect asks a model questions and stores its graded answers together with their hidden
// states, in a folder that survives a crash. Package probe trains on these answers (CP-2).
//
// A folder has three files. probing.json has the settings (Head). answers.jsonl has one line for
// each answer: its grade, the mean log-probability of its tokens, and the confidence that the model
// stated. states.f32 has one record of fixed length for each answer: little-endian float32 numbers
// by position and layer, so that one layer of all answers can be read without the others. The
// record of an answer is written before its line. When the folder is opened again, everything after
// the last whole line is cut off, and the collection continues there. The settings and each line
// have a checksum, and a line has that of its record.
//
//	f, err := collect.Resume(dir, head)
//	err = f.Collect(ctx, items, collect.Asker{…})
//	data, left, err := f.Data()
//
// Its rank is 3: it uses the models of package llm and the items of package task. It is not pure,
// unlike package probe.
package collect

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod/internal/durable"

	"synod.dev/synod"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/probe"
)

// version is the format of a folder.
const version = 1

// Head has the settings of a collection.
type Head struct {
	Version   int               `json:"version"`
	Program   string            `json:"program"`
	Task      string            `json:"task"`
	Seed      uint64            `json:"seed"`
	Subject   probe.Subject     `json:"subject"`
	Identity  string            `json:"identity"` // digest of all settings of the model that can change an answer
	Stated    bool              `json:"stated"`   // the model is also asked for its confidence (CP-1)
	Layers    []int             `json:"layers"`
	Positions []engine.Position `json:"positions"`
}

// Check returns an error for a layer that the model does not have, an unknown position, a repeated
// one, and an empty list.
func (h *Head) Check() error {
	for i, l := range h.Layers {
		if l < 0 || l >= h.Subject.Layers {
			return fmt.Errorf("probing: layer %d; the model has layers 0 to %d", l, h.Subject.Layers-1)
		}
		if slices.Contains(h.Layers[:i], l) {
			return fmt.Errorf("probing: layer %d is given twice", l)
		}
	}
	for i, p := range h.Positions {
		if !slices.Contains(engine.Positions(), p) || slices.Contains(h.Positions[:i], p) {
			return fmt.Errorf("probing: position %q; want each of %v at most once", p, engine.Positions())
		}
	}
	if len(h.Layers) == 0 || len(h.Positions) == 0 {
		return fmt.Errorf("probing: there is nothing to collect: %d layers at %d positions", len(h.Layers),
			len(h.Positions))
	}
	return nil
}

// same returns an error that lists the settings that differ. The versions of the format and of the
// program may differ.
func (h *Head) same(want Head) error {
	var differ []string
	for _, d := range []struct {
		name      string
		was, want any
	}{
		{"task", h.Task, want.Task}, {"seed", h.Seed, want.Seed}, {"member", h.Identity, want.Identity},
		{"subject", h.Subject, want.Subject},
		{"layers", h.Layers, want.Layers}, {"positions", h.Positions, want.Positions},
		{"stated confidence", h.Stated, want.Stated},
	} {
		if was, now := fmt.Sprint(d.was), fmt.Sprint(d.want); was != now {
			differ = append(differ, fmt.Sprintf("%s was %s and is now %s", d.name, was, now))
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("%w: %s", ErrOtherSettings, strings.Join(differ, "; "))
	}
	return nil
}

// record returns the length of an answer's states in bytes.
func (h *Head) record() int64 { return 4 * int64(h.Subject.Width*len(h.Layers)*len(h.Positions)) }

// offset returns the offset in a record of the state of a layer at a position.
func (h *Head) offset(layer int, position engine.Position) (int64, error) {
	i, j := slices.Index(h.Positions, position), slices.Index(h.Layers, layer)
	if i < 0 || j < 0 {
		return 0, fmt.Errorf("probing: layer %d at %s was not collected: there are layers %v at %v", layer, position,
			h.Layers, h.Positions)
	}
	return 4 * int64((i*len(h.Layers)+j)*h.Subject.Width), nil
}

// Line is one answer.
type Line struct {
	Question string       `json:"question"` // its id
	Form     synod.Form   `json:"form"`
	Answer   string       `json:"answer"` // as the model wrote it, untrusted
	Verdict  task.Verdict `json:"verdict"`
	Tokens   int          `json:"tokens"`           // of the answer; 0: it has no states
	Logprob  *float64     `json:"logprob"`          // mean log-probability of its tokens; null: unknown
	Stated   *float64     `json:"stated"`           // confidence from 0 to 1; null: not asked for, or unreadable
	States   string       `json:"states,omitempty"` // SHA-256 of its states; "": an earlier version kept none
}

// Folder is a collection.
type Folder struct {
	Dir   string
	Head  Head
	Lines []Line

	answers, states *os.File // open during Collect
}

const (
	headFile    = "probing.json"
	answersFile = "answers.jsonl"
	statesFile  = "states.f32"
)

// The files are bounded, in bytes.
const (
	maxHead    = 1 << 20
	maxAnswers = 64 << 20
)

var (
	// ErrNoFolder means that a folder has no collection.
	ErrNoFolder = errors.New("there are no collected answers in this folder")
	// ErrOtherSettings means that the collection in a folder has other settings.
	ErrOtherSettings = errors.New("probing: the collection in this folder has other settings")
)

// Resume opens the collection in a folder, or creates it if the folder is new or empty. It returns
// ErrOtherSettings if the folder has a collection with other settings.
func Resume(dir string, want Head) (*Folder, error) {
	f, err := Open(dir)
	if errors.Is(err, ErrNoFolder) {
		if err := want.Check(); err != nil {
			return nil, err
		}
		return create(dir, want)
	}
	if err != nil {
		return nil, err
	}
	return f, f.Head.same(want)
}

func create(dir string, h Head) (*Folder, error) {
	h.Version = version
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	if len(list) > 0 {
		return nil, fmt.Errorf("probing: %s is not empty and has no collected answers; give another folder", dir)
	}
	text, err := durable.EncodeSealed(h)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, headFile), text, 0o644); err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	return &Folder{Dir: dir, Head: h}, nil
}

// Open reads the collection in a folder. It returns ErrNoFolder if there is none, and other errors
// for a damaged one or another version.
func Open(dir string) (*Folder, error) {
	text, err := durable.ReadFile(filepath.Join(dir, headFile), maxHead)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("probing: %s: %w", dir, ErrNoFolder)
	}
	if err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	f := &Folder{Dir: dir}
	if _, err := durable.DecodeSealed(text, &f.Head); err != nil {
		return nil, fmt.Errorf("probing: %s: %w", headFile, err)
	}
	if h := f.Head; h.Version != version || h.record() <= 0 {
		return nil, fmt.Errorf("probing: %s has version %d and records of %d bytes; this build reads version %d",
			headFile, h.Version, h.record(), version)
	}
	_, err = f.read()
	return f, err
}

// read reads the whole lines that have a record, and returns their length in bytes.
func (f *Folder) read() (whole int64, err error) {
	text, err := durable.ReadFile(filepath.Join(f.Dir, answersFile), maxAnswers)
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
		if !ended { // the process ended while it wrote this line
			return whole, nil
		}
		var l Line
		if _, err := durable.DecodeSealed(append(line[:len(line):len(line)], '\n'), &l); err != nil {
			return 0, fmt.Errorf("probing: %s line %d: %w", answersFile, n, err)
		}
		if int64(n) > records {
			return 0, fmt.Errorf("probing: %s line %d has no states in %s; the folder is damaged, collect again",
				answersFile, n, statesFile)
		}
		f.Lines = append(f.Lines, l)
		whole = int64(len(text) - len(rest))
	}
}

// begin opens the files for writing, cut to the whole answers.
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
			_, err = file.Seek(0, io.SeekEnd)
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

// add writes an answer.
func (f *Folder) add(l Line, states []byte) error {
	if int64(len(states)) != f.Head.record() {
		return fmt.Errorf("probing: an answer has %d bytes of states; want %d", len(states), f.Head.record())
	}
	sum := sha256.Sum256(states)
	l.States = hex.EncodeToString(sum[:])
	text, err := durable.EncodeSealed(l)
	if err != nil {
		return err
	}
	if _, err := f.states.Write(states); err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	if _, err := f.answers.Write(text); err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	f.Lines = append(f.Lines, l)
	return nil
}

// Left counts the answers that are used neither for training nor for measuring.
type Left struct {
	Unreadable int `json:"unreadable"` // the answer could not be graded
	Empty      int `json:"empty"`      // the answer has no tokens, so no states
}

// Data returns the usable answers for package probe. It reads states from disk, one layer and
// position at a time. It returns an error if no answer is usable.
func (f *Folder) Data() (probe.Data, Left, error) {
	d := probe.Data{Task: f.Head.Task, Subject: f.Head.Subject, Layers: f.Head.Layers}
	for _, p := range f.Head.Positions {
		d.Positions = append(d.Positions, string(p))
	}
	var left Left
	var rows []int64
	for i, l := range f.Lines {
		switch {
		case l.Verdict == task.Unreadable:
			left.Unreadable++
			continue
		case l.Tokens == 0:
			left.Empty++
			continue
		}
		rows = append(rows, int64(i))
		d.Samples = append(d.Samples, probe.Sample{Question: l.Question, Right: l.Verdict == task.Right,
			Logprob: l.Logprob, Stated: l.Stated, Asked: f.Head.Stated})
	}
	d.States = func(layer int, position string) ([][]float32, error) { return f.layer(rows, layer, position) }
	if len(rows) == 0 {
		return d, left, fmt.Errorf("probing: none of the %d answers in %s can be used", len(f.Lines), f.Dir)
	}
	return d, left, f.checkStates()
}

// checkStates compares all states with their hashes.
func (f *Folder) checkStates() error {
	file, err := os.Open(filepath.Join(f.Dir, statesFile))
	if err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	defer file.Close()
	in, raw := bufio.NewReaderSize(file, 1<<20), make([]byte, f.Head.record())
	for i, l := range f.Lines {
		if _, err := io.ReadFull(in, raw); err != nil {
			return fmt.Errorf("probing: %s: %w", statesFile, err)
		}
		if sum := sha256.Sum256(raw); l.States != "" && hex.EncodeToString(sum[:]) != l.States {
			return fmt.Errorf("probing: the states of answer %d in %s were changed or damaged; collect again", i+1,
				statesFile)
		}
	}
	return nil
}

// layer reads the states of one layer at one position, for some answers.
func (f *Folder) layer(rows []int64, layer int, position string) ([][]float32, error) {
	h := f.Head
	at, err := h.offset(layer, engine.Position(position))
	if err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(f.Dir, statesFile))
	if err != nil {
		return nil, fmt.Errorf("probing: %w", err)
	}
	defer file.Close()
	raw := make([]byte, 4*h.Subject.Width)
	out := make([][]float32, len(rows))
	for i, r := range rows {
		if _, err := file.ReadAt(raw, r*h.record()+at); err != nil {
			return nil, fmt.Errorf("probing: %s: %w", statesFile, err)
		}
		out[i] = make([]float32, h.Subject.Width)
		for j := range out[i] {
			out[i][j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:]))
		}
	}
	return out, nil
}

// Form returns the form of all items, or probe.Mixed if they have several. There must be at least
// one item.
func Form(items []task.Item) string {
	form := string(items[0].Question.Form)
	for _, it := range items {
		if string(it.Question.Form) != form {
			return probe.Mixed
		}
	}
	return form
}
