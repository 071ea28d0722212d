package task

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// maxFile is how much of a data file is read: ten times the largest known.
const maxFile = 1 << 30

// released says whether a file is one of those that are taken only as they were
// published, byte for byte.
func released(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".parquet" || ext == ".zip"
}

// readFile is the content of a file; a Parquet table becomes one JSON object a
// line.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	defer f.Close()
	if filepath.Ext(path) == ".parquet" {
		return readTable(path, f)
	}
	return readAll(path, f)
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

// readTable writes the rows of a Parquet table as JSON lines. On a broken table the
// library may panic or never end, so only tables with a pinned digest come here.
func readTable(path string, f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	table, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("task: %s: broken Parquet: %w", path, err)
	}
	rows := parquet.NewReader(table)
	defer rows.Close()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for n := 1; ; n++ {
		row := map[string]any{}
		if err := rows.Read(&row); errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		} else if err != nil {
			return nil, fmt.Errorf("task: %s:%d: broken Parquet: %w", path, n, err)
		}
		if err := enc.Encode(row); err != nil {
			return nil, fmt.Errorf("task: %s:%d: %w", path, n, err)
		}
		if out.Len() > maxFile {
			return nil, fmt.Errorf("task: %s holds more than %d bytes", path, maxFile)
		}
	}
}

// readMember is the content of a file in a zip archive.
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
