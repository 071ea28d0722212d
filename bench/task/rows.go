package task

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"synod.dev/synod"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/internal/jsonobject"
)

// ReadRows reads a file with one JSON object on each line, or with one JSON array of objects, and makes an item of each
// row with use, whose n counts rows from 0. Unknown keys of an object, repeated ids and invalid items are errors with
// file and line.
func ReadRows[T any](path string, use func(n int, row T) (Item, error)) ([]Item, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parseRows(path, data, use)
}

var errEmpty = errors.New("contains no question")

// parseRows does what ReadRows does with data that was read from path.
func parseRows[T any](path string, data []byte, use func(n int, row T) (Item, error)) ([]Item, error) {
	r := rowReader{path: path, seen: map[string]int{}}
	return r.parse(data, func(n int, raw []byte) (Item, error) {
		var row T
		if err := decodeRow(raw, &row); err != nil {
			return Item{}, err
		}
		return use(n, row)
	})
}

// rowReader collects items and refuses repeated ids. It is not generic, so that it is compiled once.
type rowReader struct {
	path  string
	use   func(n int, raw []byte) (Item, error)
	items []Item
	seen  map[string]int // id → line
}

func (r *rowReader) parse(data []byte, use func(n int, raw []byte) (Item, error)) ([]Item, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r.use = use
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		err = r.array(data)
	} else {
		err = r.lines(data)
	}
	if err == nil && len(r.items) == 0 {
		err = fmt.Errorf("task: %s %w", r.path, errEmpty)
	}
	return r.items, err
}

func (r *rowReader) lines(data []byte) error {
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(line) > maxRow {
			return r.at(n, fmt.Errorf("the line has %d bytes; at most %d are read", len(line), maxRow))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			return r.at(n, errors.New("the line is empty"))
		}
		if err := r.row(n, line); err != nil {
			return r.at(n, err)
		}
	}
	return nil
}

func (r *rowReader) array(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	line := func() int { return 1 + bytes.Count(data[:d.InputOffset()], []byte("\n")) }
	if _, err := d.Token(); err != nil {
		return r.at(1, err)
	}
	for d.More() {
		var raw json.RawMessage
		err := d.Decode(&raw)
		n := line()
		if err == nil {
			err = r.row(n, raw)
		}
		if err != nil {
			return r.at(n, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return r.at(line(), err)
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return r.at(line(), errors.New("something follows the array"))
	}
	return nil
}

// row makes an item of one object.
func (r *rowReader) row(n int, raw []byte) error {
	it, err := r.use(len(r.items), raw)
	if err != nil {
		return err
	}
	return r.add(n, it)
}

// add adds the item of a line.
func (r *rowReader) add(n int, it Item) error {
	if err := it.check(); err != nil {
		return err
	}
	if first, again := r.seen[it.Question.ID]; again {
		return fmt.Errorf("line %d already has the id %q", first, it.Question.ID)
	}
	r.seen[it.Question.ID] = n
	r.items = append(r.items, it)
	return nil
}

func (r *rowReader) at(line int, err error) error {
	return fmt.Errorf("task: %s:%d: %w", r.path, line, err)
}

// decodeRow decodes one object into a struct. Unknown and repeated keys are errors.
func decodeRow(raw []byte, into any) error {
	if !utf8.Valid(raw) {
		return errors.New("the text is not UTF-8")
	}
	members, err := jsonobject.Members(raw)
	if err != nil {
		return err
	}
	known := fieldsOf(reflect.TypeOf(into).Elem())
	for _, m := range members {
		if !slices.Contains(known, m.Key) {
			return fmt.Errorf("unknown key %q%s; known are: %s", m.Key, synod.Hint(m.Key, known),
				strings.Join(known, ", "))
		}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("the value of %q is a %s; it must be %s", wrong.Field, wrong.Value, kind(wrong.Type))
		}
		return fmt.Errorf("broken JSON: %w", err)
	}
	return nil
}

// fieldsOf lists the JSON names of a struct's fields.
func fieldsOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	}
	return t.String()
}

// maxFile is the largest data file that is read, in bytes: twice the largest known one.
const maxFile = 256 << 20

// maxRow is the longest line of a file of JSON lines, in bytes: a question with pictures.
const maxRow = 16 << 20

// ParquetError reports that a file is a Parquet table, which this program does not read.
type ParquetError struct{ Path string }

func (e *ParquetError) Error() string {
	return fmt.Sprintf("task: %s is a Parquet table; convert it into JSON lines first, for example with "+
		"go run synod.dev/synod/bench/parquet@latest %[1]s > rows.jsonl (docs/measure/bench.md), and pass "+
		"--data rows.jsonl", e.Path)
}

// readFile returns the content of a file.
func readFile(path string) ([]byte, error) {
	data, err := durable.ReadFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	return data, nil
}

func readAll(name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("task: read %s: %w", name, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("task: %s is larger than %d bytes", name, maxFile)
	}
	return data, nil
}

// readMember returns the content of a file in a zip archive.
func readMember(path, name string) ([]byte, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("task: %s: %w", path, err)
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("task: %s: %w", path, err)
	}
	defer f.Close()
	return readAll(path+" "+name, f)
}
