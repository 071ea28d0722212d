//go:build linux && amd64

package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/faultcall"
	"synod.dev/synod/internal/nightly"
)

// simulatedCouncil is a council that decides with three simulated members.
const simulatedCouncil = `protocol: {name: majority}
rule: {name: plurality}
models: {m: {provider: simulated, skill: 1}, k: {provider: simulated, skill: 0.7}}
seats: [{id: a, model: m, count: 2}, {id: b, model: k}]
`

// faulted runs commands whose calls fail, each time in another folder.
type faulted struct {
	*testing.T
	dir string
}

// fresh goes to an empty folder with the council file.
func (f *faulted) fresh() {
	f.Helper()
	f.dir = f.TempDir()
	if err := os.WriteFile(filepath.Join(f.dir, "c.yaml"), []byte(simulatedCouncil), 0o600); err != nil {
		f.Fatal(err)
	}
}

// run runs a command in the folder, and returns what it printed.
func (f *faulted) run(fault func(faultcall.Call) faultcall.Fault, command string) (code int, printed string) {
	f.Helper()
	out, err := os.Create(filepath.Join(f.TempDir(), "out"))
	if err != nil {
		f.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("synod", strings.Fields(command)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = f.dir, out, out
	cmd.Env = append(os.Environ(), "SYNOD_HOME="+filepath.Join(f.dir, "home"))
	code, err = faultcall.Run(cmd, func(c faultcall.Call) faultcall.Fault {
		if c.Path == out.Name() {
			return faultcall.Fault{}
		}
		return fault(c)
	})
	text, failed := os.ReadFile(out.Name())
	if err != nil || failed != nil {
		f.Fatal(err, failed)
	}
	return code, string(text)
}

func sound(faultcall.Call) faultcall.Fault { return faultcall.Fault{} }

// syncing are commands that keep something, with what must be there before.
var syncing = [][]string{
	{"ask -c c.yaml --form number 1+1? --journal j"},
	{"ask -c c.yaml --form number 1+1?"},
	{"bench run builtin -c c.yaml -n 2 -o r"},
	{"bench run sac-table1 --cell sac-* -n 1 -o r"},
	{"bench run builtin -c c.yaml -n 3 -o r", "operate trust learn r"},
	{"calibrate -c c.yaml -n 2 --learn"},
	{"research campaign run --executions 10 --protocol majority -o c"},
}

// Whatever sync of a command fails, the command fails. SQLite says nothing of syncs of a folder, so each of these is
// followed by another one, which this program makes and whose error it does report. "make nightly" tries every sync.
func TestEverySync(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	part := rand.IntN(8)
	for _, commands := range syncing {
		last := commands[len(commands)-1]
		for n, count := -1, 1; n < count; n++ {
			if n >= 0 && n%8 != part && !nightly.On() {
				continue
			}
			f := &faulted{T: t}
			f.fresh()
			for _, before := range commands[:len(commands)-1] {
				if code, out := f.run(sound, before); code != 0 {
					t.Fatalf("%s: exit %d, %s", before, code, out)
				}
			}
			syncs, failed, again := 0, "", false
			code, out := f.run(func(c faultcall.Call) faultcall.Fault {
				if c.Name != "fsync" && c.Name != "fdatasync" {
					return faultcall.Fault{}
				}
				if again = again || c.Path == failed; syncs == n {
					failed = c.Path
				}
				syncs++
				return faultcall.Fault{Err: map[bool]syscall.Errno{true: syscall.EIO}[syncs-1 == n]}
			}, last)
			switch {
			case n < 0 && (code == app.ExitFailure || syncs == 0):
				t.Fatalf("%s: exit %d after %d syncs\n%s", last, code, syncs, out)
			case n < 0:
				count = syncs
			case code != app.ExitFailure && !(again && isFolder(failed)):
				t.Errorf("%s: exit %d although sync %d, of %s, failed\n%s", last, code, n, failed, out)
			case code == app.ExitFailure && !strings.Contains(strings.ToLower(out), "i/o error") &&
				!strings.Contains(out, "input/output error"):
				t.Errorf("%s: exit %d, and it does not say why\n%s", last, code, out)
			}
		}
		t.Logf("%s", last)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || strings.Contains(filepath.Base(path), ".new-") // it was renamed
}

// A run that is killed at any call while it is created is resumed, or "bench resume" says that the same command begins
// it; then that command does. "make nightly" tries every call.
func TestKilledCreation(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const command = "bench run builtin -c c.yaml -n 2 -o r"
	part, begun := rand.IntN(20), 0
	for n := 0; ; n++ {
		if n%20 != part && !nightly.On() {
			continue
		}
		f := &faulted{T: t}
		f.fresh()
		at, created := "", false
		code, _ := f.run(func(c faultcall.Call) faultcall.Fault {
			created = created || strings.HasSuffix(c.Path, ".seg")
			if c.N == n {
				at = fmt.Sprint(c.Name, " ", filepath.Base(c.Path))
			}
			return faultcall.Fault{Kill: c.N == n}
		}, command)
		if created || code == 0 {
			break
		}
		code, out := f.run(sound, "bench resume r")
		if code == 0 {
			continue
		}
		begun++
		if !strings.Contains(out, "synod bench run … -o r") && !strings.Contains(out, "the folder r does not exist") {
			t.Errorf("killed at %s: exit %d, %s", at, code, out)
		}
		if code, out := f.run(sound, command); code != 0 || !strings.Contains(out, "2 of 2 questions") {
			t.Errorf("killed at %s, and begun again: exit %d, %s", at, code, out)
		}
	}
	if begun == 0 {
		t.Error("no kill came before the run was created")
	}
}
