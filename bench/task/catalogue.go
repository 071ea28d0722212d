package task

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"synod.dev/synod"
)

// Entry describes a set of the catalogue and loads it.
type Entry struct {
	synod.Entry
	Form   string `json:"form"`             // the form of its answers, or "mixed"
	Items  int    `json:"items"`            // how many items the published set has
	About  string `json:"about,omitempty"`  // source, licence and known problems
	Layout string `json:"layout,omitempty"` // the layout of its file; "" for a set that needs no file
	// Source is a published file. Only a file with a known digest is pulled. Its URL names a commit if its
	// host has commits.
	Source Source `json:"source,omitzero"` // the published file, if there is one
	// Made names the conversion that makes the set's file from published ones; "" for a set that is a file itself.
	Made string `json:"made,omitempty"`

	// Files are the names under which a folder of data may hold the set, the first preferred; empty for a set that
	// needs no file.
	Files []string `json:"-"`
	// Load reads all items from the file at path, "" for a set that needs no file. ReadRows helps.
	Load func(path string, o Options) ([]Item, error) `json:"-"`
}

// Source is a published file. Only one whose digest is known is pulled; its URL
// names a commit where its host has commits.
type Source struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256,omitempty"` // "" if no digest is known
	Size   int64  `json:"size,omitempty"`   // in bytes; 0 if only the digest is known
	Rows   *Rows  `json:"rows,omitempty"`   // rows of the public hub in place of a file; nil for a file
}

// Options select the items of a set.
type Options struct {
	Data   string // the file, or a folder that holds it under its usual name
	Pulled string // the folder of a Store, used if Data is ""
	Levels []int  // only items of these levels; empty: all
	Seed   uint64 // seed of the built-in problems
	Number int    // how many built-in problems of these levels; 0: those among the first 180
}

// Catalogue lists the tasks by name.
var Catalogue = synod.NewCatalogue("task", slices.Concat(
	[]Entry{builtin, gsm8k, math500, sacMath, sacCommonsense, csqa, commonsense, mmluPro, xstest}, adapters())...)

// Open returns the set with the given name in the catalogue.
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
	if len(e.Files) > 0 {
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

// read loads the set's file. A file that must be the pinned one is verified first.
func (e Entry) read(path string, o Options) ([]Item, error) {
	switch filepath.Ext(path) {
	case ".parquet":
		return nil, &ParquetError{path}
	case ".zip": // only the published archive
		if err := e.verify(path); err != nil {
			return nil, fmt.Errorf("task: %s: %w", e.Name, err)
		}
	}
	return e.Load(path, o)
}

// find returns the path of the set's file: the given file, a file in the given folder, or the pulled file.
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
	for _, f := range e.Files {
		path := filepath.Join(data, f)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("task: %s: %s holds none of %s", e.Name, data, strings.Join(e.Files, ", "))
}

// NoDataError reports that the data of a set was neither given nor pulled.
type NoDataError struct{ Entry Entry }

func (e *NoDataError) Error() string {
	s := fmt.Sprintf("task: %s needs its data: give --data with the file %s or a folder that holds it", e.Entry.Name,
		e.Entry.Files[0])
	if !slices.ContainsFunc(e.Entry.Parts(), func(p Entry) bool { return !p.Pullable() }) {
		s += ", or fetch it with: synod data pull " + e.Entry.Name
	}
	return s
}
