package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"synod.dev/synod/network/node"
)

const examples = "../../examples/network"

// joined forms a council of seven, whose second owner joins in another way than the others.
func joined(t *testing.T, second func(o *owners, link string)) *owners {
	t.Helper()
	o := newOwners(t)
	o.council()
	_, stdout := o.begin(1, "roster", "start", "-c", "council.yaml", "--address", o.address(1), "--run")
	link := o.link(stdout)
	second(o, link)
	for i := 3; i <= 7; i++ {
		o.begin(i, "node", "join", link, "--address", o.address(i), "--yes", "--run", "--seat", fmt.Sprint("a", i))
	}
	return o
}

// mine writes the example of own settings into a folder, with a model that needs no server.
func mine(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(examples, "mine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	own := "{provider: openai, model: gpt-4o-mini, key_env: OPENAI_API_KEY, timeout: 45s}"
	if strings.Count(string(b), own) != 1 {
		t.Fatalf("mine.yaml does not have the model %s", own)
	}
	if _, err := ownModel(filepath.Join(examples, "mine.yaml"), "a2"); err != nil {
		t.Errorf("the example of own settings: %v", err)
	}
	path := filepath.Join(dir, "mine.yaml")
	text := strings.Replace(string(b), own, "{provider: simulated, ability: 0.9}", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// plays reports whether the node of a folder plays the seat a2 with streams to all others.
func plays(dir string) bool {
	var s node.Status
	up := 0
	if request(dir, http.MethodGet, "/status", &s) != nil {
		return false
	}
	for _, p := range s.Peers {
		if p.Connected {
			up++
		}
	}
	return s.Seat == "a2" && up == 6
}

// The command of the unit runs the node of an owner who has joined. systemd finds nothing wrong with the unit, where
// there is one.
func TestUnit(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts seven processes")
	}
	b, err := os.ReadFile(filepath.Join(examples, "synod-node.service"))
	if err != nil {
		t.Fatal(err)
	}
	unit := string(b)
	_, start, _ := strings.Cut(unit, "ExecStart=")
	start, _, _ = strings.Cut(start, "\n")
	const program = "/usr/local/bin/synod-node"
	if path, err := exec.LookPath("systemd-analyze"); err == nil {
		there := filepath.Join(t.TempDir(), "synod-node.service") // with a program that is on this machine
		if err := os.WriteFile(there, []byte(strings.ReplaceAll(unit, program, "/bin/true")), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "verify", there).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("systemd-analyze verify: %v\n%s", err, out)
		}
	}
	var dir string
	o := joined(t, func(o *owners, link string) {
		dir = o.folder(2)
		mine(t, dir)
		o.begin(2, "node", "join", link, "--address", o.address(2), "--yes", "--seat", "a2")
	})
	o.waitFor("a roster", func() bool {
		s, err := readRoster(filepath.Join(dir, "council.roster"))
		return err == nil && s.Verify() == nil
	})
	for old, new := range map[string]string{"${CREDENTIALS_DIRECTORY}": dir,
		"/var/lib/synod-node": filepath.Join(dir, "d"),
		"0.0.0.0:7400":        o.address(2), "$SYNOD_NODE_FLAGS": "--daily-calls 5000"} {
		if !strings.Contains(start, old) {
			t.Errorf("the command does not have %s: %s", old, start)
		}
		start = strings.ReplaceAll(start, old, new)
	}
	words := strings.Fields(start)
	if words[0] != program {
		t.Errorf("the program is %s", words[0])
	}
	o.begin(2, words[1:]...)
	o.waitFor("the node of the unit", func() bool { return plays(filepath.Join(dir, "d")) })
}

// The command of the service in the compose file joins with a link and runs the node; given again it runs it without
// joining again.
func TestCompose(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts seven processes")
	}
	b, err := os.ReadFile(filepath.Join(examples, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Build   struct{ Context, Dockerfile string }
			Command []string
			Volumes []string
		}
	}
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	service := file.Services["node"]
	if _, err := os.Stat(filepath.Join(examples, service.Build.Context, service.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	docker, err := os.ReadFile(filepath.Join(examples, "Dockerfile"))
	if err != nil || !strings.Contains(string(docker), "\nWORKDIR /state\n") {
		t.Errorf("the image does not begin in the volume: %v", err)
	}
	var args []string
	o := joined(t, func(o *owners, link string) {
		own := mine(t, o.folder(2))
		for _, word := range service.Command {
			for old, new := range map[string]string{"${SYNOD_LINK:?}": link, "${SYNOD_ADDRESS:?}": o.address(2),
				"0.0.0.0:7400": o.address(2), "/mine.yaml": own} {
				word = strings.ReplaceAll(word, old, new)
			}
			args = append(args, word)
		}
		c, _ := o.begin(2, args...)
		o.waitFor("two seats that are taken", func() bool { return o.status() != nil && o.status()[1].Key != "" })
		c.Process.Kill()
		c.Wait()
		o.begin(2, args...)
	})
	dir := filepath.Join(o.folder(2), "node")
	o.waitFor("the node of the service", func() bool { return plays(dir) })
	drain := o.prepare(2, "node", "drain", "--dir", "node")
	if out, err := drain.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o.waitFor("its end", func() bool { return !plays(dir) })
	o.begin(2, args...)
	o.waitFor("the node of the service, started again", func() bool { return plays(dir) })
}
