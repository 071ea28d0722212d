package task

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
