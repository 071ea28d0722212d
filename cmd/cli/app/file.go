package app

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"synod.dev/synod/internal/durable"
)

// WriteJSON prints v as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WriteFile writes a file with the access rights 0644. The file is replaced
// atomically: after a failure it is absent or has its old content. A device or a pipe, such as
// /dev/stdout, is written and not replaced.
func WriteFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".synod-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after a successful rename
	if err := errors.Join(write(f), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return durable.Rename(f.Name(), path)
}

// WriteBytes is WriteFile with the content as bytes.
func WriteBytes(path string, content []byte) error {
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteNew writes a file that must not exist, unless it may be replaced.
func WriteNew(path, text string, replace bool) error {
	if replace {
		if err := WriteBytes(path, []byte(text)); err != nil {
			return Fail(ExitFailure, err)
		}
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return Fail(ExitFailure, err)
	}
	_, err = io.WriteString(file, text)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = durable.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return Fail(ExitFailure, errors.Join(err, os.Remove(path)))
	}
	return nil
}
