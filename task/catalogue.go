package task

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod"
)

// Entry is a line of the catalogue of tasks.
type Entry struct {
	synod.Entry
	Form   string `json:"form"`             // of its answers, or "mixed"
	Items  int    `json:"items"`            // how many the published set has
	About  string `json:"about,omitempty"`  // source, licence, what to beware of
	Layout string `json:"layout,omitempty"` // of its file; "" for a set inside the binary
	Source Source `json:"source,omitzero"`  // the published file, where there is one

	files []string // names by which a folder of data may hold it
	open  func(path string, o Options) ([]Item, error)
}

// Source is a published file. Only one whose digest is known is pulled; its URL
// names a commit where its host has commits.
type Source struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256,omitempty"` // "" where no digest is known
	Size   int64  `json:"size,omitempty"`   // bytes; 0 where only the digest is known
}

// Options say which items of a set are wanted.
type Options struct {
	Data   string // the file, or a folder that holds it under its usual name
	Pulled string // the folder of a Store, where Data is ""
	Levels []int  // only items of these levels; empty: all
	Seed   uint64 // of the built-in problems
	Number int    // how many built-in problems of these levels; 0: those among the 180 that the catalogue speaks of
}

// Catalogue is the table of tasks.
var Catalogue = synod.NewCatalogue("task", slices.Concat(
	[]Entry{builtin, gsm8k, math500, sacMath, sacCommonsense, csqa, commonsense, mmluPro, xstest}, adapters())...)

// Open returns the named set, or the own problems in a .jsonl file.
func Open(name string, o Options) (Set, error) {
	e, err := Catalogue.Find(name)
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	return e.Open(o)
}

// Open reads the set.
func (e Entry) Open(o Options) (Set, error) {
	path := ""
	if len(e.files) > 0 {
		var err error
		if path, err = e.find(o); err != nil {
			return nil, err
		}
	}
	items, err := e.read(path, o)
	if err != nil {
		return nil, err
	}
	if len(o.Levels) > 0 {
		items = slices.DeleteFunc(items, func(it Item) bool { return !slices.Contains(o.Levels, it.Level) })
		if len(items) == 0 {
			return nil, fmt.Errorf("task: %s has no item of level %s", e.Name, strings.Trim(fmt.Sprint(o.Levels), "[]"))
		}
	}
	return list(items), nil
}

// read opens the set's file; one that must be the pinned one is checked first.
func (e Entry) read(path string, o Options) ([]Item, error) {
	if released(path) {
		if err := e.verify(path); err != nil {
			return nil, fmt.Errorf("task: %s: %w", e.Name, err)
		}
	}
	return e.open(path, o)
}

// find is where the set lies: what was given, a file or a folder, or what was
// pulled.
func (e Entry) find(o Options) (string, error) {
	data := o.Data
	if data == "" {
		path, err := e.pulled(o.Pulled)
		if path != "" || err != nil {
			return path, err
		}
		return "", &NoDataError{e}
	}
	info, err := os.Stat(data)
	if err != nil {
		return "", fmt.Errorf("task: %s: %w", e.Name, err)
	}
	if !info.IsDir() {
		return data, nil
	}
	for _, f := range e.files {
		path := filepath.Join(data, f)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("task: %s: %s holds none of %s", e.Name, data, strings.Join(e.files, ", "))
}

// NoDataError says that a set was neither given nor pulled.
type NoDataError struct{ Entry Entry }

func (e *NoDataError) Error() string {
	s := fmt.Sprintf("task: %s needs its data: give --data with the file %s or a folder that holds it", e.Entry.Name, e.Entry.files[0])
	if !slices.ContainsFunc(e.Entry.Parts(), func(p Entry) bool { return !p.Source.Pinned() }) {
		s += ", or fetch it with: synod data pull " + e.Entry.Name
	}
	return s
}
