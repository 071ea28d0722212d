package app

import (
	"fmt"
	"io"
	"os"
	"testing"
)

// A pipe is written, and not replaced by a file.
func TestWriteFileToPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	if err := WriteBytes(path, []byte("rows")); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "rows" {
		t.Errorf("%q, %v", got, err)
	}
}
