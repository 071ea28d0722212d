package durable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(path, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := ReadFile(path, 4); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "it has 5 bytes") {
		t.Errorf("a larger file: %v", err)
	}
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("this system has no /dev/zero")
	}
	if _, err := ReadFile("/dev/zero", 1<<10); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an endless file: %v", err)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"first", "second"} {
		if err := WriteFile(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files are left", len(list))
	}
	if err := Rename(path, filepath.Join(dir, "none", "g")); err == nil {
		t.Error("a file was renamed into a folder that does not exist")
	}
	if err := SyncDir(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that does not exist was synced")
	}
}

func TestTorn(t *testing.T) {
	const whole = `{"k":"a","x":[1,"}"]}`
	for n := range len(whole) + 1 {
		if !Torn([]byte(whole[:n]), `{"k":`) {
			t.Errorf("%q can be the beginning of a line", whole[:n])
		}
	}
	for _, rest := range []string{whole + "J", whole + "{", "x", `{"j"`, `{"k":"a"]`, `{"k":"a\x01`} {
		if Torn([]byte(rest), `{"k":`) {
			t.Errorf("%q cannot be the beginning of a line", rest)
		}
	}
	for _, zeros := range []int{1, 15, 40} {
		for _, written := range []int{0, 9, len(whole)} {
			if !Torn([]byte(whole[:written]+string(make([]byte, zeros))), `{"k":`) {
				t.Errorf("%d zeros after %d bytes, as a power failure may leave them", zeros, written)
			}
		}
	}
}
