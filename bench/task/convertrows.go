package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"synod.dev/synod"
)

// Conversion makes a file that Synod reads from files in the layout in which a paper or a benchmark publishes its
// questions or its recorded replies.
type Conversion struct {
	synod.Entry
	About string // where the files are published, under which licence, and what is known to be wrong with them
	Input string // what to give
	File  string // what is made, as a folder of data holds it, such as "traces/cp-wbft.jsonl"
	// From are the published files, in the order in which Make expects them. Without them the file cannot be pulled,
	// and About says why.
	From []Source
	// Make reads files or folders. The note says what is missing; "" if nothing is.
	Make func(in []string) (made []byte, note string, err error)
}

// rowsOf returns the objects of a file with a JSON list, with one object on each line, or with an object that holds a
// list under one of the keys.
func rowsOf[T any](path string, keys ...string) (rows []T, err error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return rowsIn[T](path, data, keys...)
}

func rowsIn[T any](path string, data []byte, keys ...string) (rows []T, err error) {
	err = decodeRows(path, data, &rows, func(d *json.Decoder) error {
		var row T
		err := d.Decode(&row)
		if err == nil {
			rows = append(rows, row)
		}
		return err
	}, keys...)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// decodeRows decodes a list into the slice that list points to, or one object after the other by next.
func decodeRows(path string, data []byte, list any, next func(*json.Decoder) error, keys ...string) (err error) {
	data = withoutNaN(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))))
	switch {
	case bytes.HasPrefix(data, []byte("[")):
		err = json.Unmarshal(data, list)
	case len(keys) > 0:
		var held map[string]json.RawMessage
		if err = json.Unmarshal(data, &held); err == nil {
			at := slices.IndexFunc(keys, func(k string) bool { return held[k] != nil })
			if at < 0 {
				return fmt.Errorf("task: %s has none of the keys %q", path, keys)
			}
			err = json.Unmarshal(held[keys[at]], list)
		}
	default:
		d := json.NewDecoder(bytes.NewReader(data))
		for d.More() && err == nil {
			err = next(d)
		}
	}
	if err != nil {
		return fmt.Errorf("task: %s: %w", path, err)
	}
	return nil
}

// withoutNaN replaces NaN outside strings by null. Python's json writes NaN, which is not JSON.
func withoutNaN(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) {
		return data
	}
	out := bytes.Clone(data[:0])
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && bytes.HasPrefix(data[i:], []byte("NaN")):
			out = append(out, "null"...)
			i += len("NaN") - 1
			continue
		}
		out = append(out, data[i])
	}
	return out
}

// writeLines encodes one object on each line, without escapes for HTML.
func writeLines[T any](rows []T) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, row := range rows {
		if err := e.Encode(row); err != nil {
			return nil, fmt.Errorf("task: %w", err)
		}
	}
	return out.Bytes(), nil
}

// inputs replaces each folder by the files in it, at any depth, whose names match the pattern.
func inputs(in []string, pattern string) (files []string, err error) {
	for _, path := range in {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("task: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(at string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if ok, _ := filepath.Match(pattern, d.Name()); ok {
				files = append(files, at)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("task: %w", err)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("task: there is no file %s in %q", pattern, in)
	}
	return files, nil
}
