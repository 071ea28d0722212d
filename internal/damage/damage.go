// Package damage changes files at random. Tests check with it that no change is accepted silently: the file is refused,
// or is read as it was.
//
// A log may lose its end, as it does when a process dies; its tests count that as read as it was.
//
// Its rank is 0: tests of all packages that keep files use it.
package damage

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Change makes a random change of a text: a bit or a byte is another one, a part is lost, doubled or zero, the end is
// lost, or two lines are exchanged.
func Change(c *rand.Rand, text []byte) []byte {
	b, at := bytes.Clone(text), c.IntN(len(text))
	end := min(len(b), at+1+c.IntN(200))
	switch c.IntN(8) {
	case 0, 1:
		b[at] ^= 1 << c.IntN(8)
	case 2:
		b[at] = "0123456789,{}[]\"\n atu"[c.IntN(20)]
	case 3:
		return slices.Delete(b, at, end)
	case 4:
		return slices.Insert(b, at, b[at:end]...)
	case 5:
		clear(b[at:end])
	case 6:
		return b[:at]
	case 7:
		lines := bytes.SplitAfter(b, []byte("\n"))
		i, j := c.IntN(len(lines)), c.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return bytes.Join(lines, nil)
	}
	return b
}

// Silent changes a file so many times, each time from what it is now, and returns the changes with which read succeeds
// and returns something else than from the file as it is. The file is as it was afterwards.
func Silent(t *testing.T, path string, changes int, read func() (string, error)) (silent [][]byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := read()
	if err != nil {
		t.Fatalf("%s as it is: %v", path, err)
	}
	chance := rand.New(rand.NewPCG(1, uint64(len(text))))
	for range changes {
		changed := Change(chance, text)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(); err == nil && got != want {
			silent = append(silent, changed)
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return silent
}

// Check fails if a change of a file is accepted silently, or if none would be without its checksum, which bare removes.
func Check(t *testing.T, path string, changes int, bare func([]byte) []byte, read func() (string, error)) {
	t.Helper()
	for _, changed := range Silent(t, path, changes, read) {
		t.Errorf("%s is read although it was changed: %.300q", path, changed)
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bare(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	n := len(Silent(t, path, changes, read))
	t.Logf("%s: of %d changes, %d would be accepted without a checksum", path, changes, n)
	if n == 0 {
		t.Errorf("%s: no change is accepted without a checksum either", path)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
