package durable

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// What may never end or never begin is refused before it is opened; what the process has open already is read.
func TestSpecialFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the paths are those of Linux")
	}
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link.jsonl")
	if err := errors.Join(exec.Command("mkfifo", pipe).Run(), os.Symlink("/dev/zero", link)); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, path := range []string{pipe, link, "/dev/zero", filepath.Join(dir, "socket")} {
		if _, err := ReadFile(path, 1<<20); !errors.Is(err, ErrSpecial) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if b, err := ReadFile("/dev/null", 1); err != nil || len(b) > 0 {
		t.Errorf("/dev/null: %q, %v", b, err)
	}
	if b, err := ReadFile(piped(t, "given"), 5); err != nil || string(b) != "given" {
		t.Errorf("an open pipe: %q, %v", b, err)
	}
	if _, err := ReadFile(piped(t, "given"), 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too much from a pipe, which has no size: %v", err)
	}
}

// piped returns the path of an open pipe that holds a text.
func piped(t *testing.T, text string) string {
	t.Helper()
	out, in, err := os.Pipe()
	if err == nil {
		_, err = in.WriteString(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	t.Cleanup(func() { out.Close() })
	return fmt.Sprintf("/dev/fd/%d", out.Fd())
}
