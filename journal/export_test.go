package journal

import (
	"bufio"
	"crypto/sha256"
	"os"
)

// Over writes to an open file, for tests of files that fail.
func Over(f *os.File) *Writer {
	return &Writer{path: f.Name(), file: f, buf: bufio.NewWriter(f), sum: sha256.New()}
}
