package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// linked makes a folder with this test as the program synod, and returns its path.
func linked(t *testing.T) (path string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "synod")
	if err := os.Link(self, path); err != nil {
		t.Skip(err) // another file system
	}
	return path
}

// TestReplaced: synod serve becomes the program synod-serve, so that a signal that cannot be handled leaves nothing
// behind, and passes streams and exit code on.
func TestReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be replaced")
	}
	synod := linked(t)
	script := "#!/bin/sh\necho \"$$ $*\"\nexit 7\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(synod), "synod-serve"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(synod, "serve", "--listen", "x")
	cmd.Env = append(os.Environ(), childEnv+"="+filepath.Join(t.TempDir(), "status"))
	cmd.Stdin = strings.NewReader("") // a pipe
	out, err := cmd.Output()
	want := strconv.Itoa(cmd.Process.Pid) + " serve --listen x\n"
	if string(out) != want || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("%q, %v; want %q and exit 7", out, err, want)
	}
}

// TestCouncilFromPipe: a council file that can be read only once, as a shell's <(…), is read once.
func TestCouncilFromPipe(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if _, err := write.WriteString("council: piped\nprotocol: {name: majority}\nf: 0\n" +
		"models: {dice: {provider: simulated, ability: 1}}\nseats: [{id: a, model: dice, count: 3}]\n"); err != nil {
		t.Fatal(err)
	}
	write.Close()
	cmd := exec.Command(linked(t), "--home", t.TempDir(), "ask", "-c", "/dev/fd/3", "--form", "number",
		"What is 2 + 2?")
	cmd.Env = append(os.Environ(), childEnv+"="+filepath.Join(t.TempDir(), "status"))
	cmd.ExtraFiles = []*os.File{read}
	if out, err := cmd.Output(); err != nil || string(out) != "4\n" {
		t.Errorf("%q, %v", out, err)
	}
}
