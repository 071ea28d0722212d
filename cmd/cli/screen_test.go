package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/clean"
)

// run runs a command line in a folder of its own and returns its exit code and output.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, messages bytes.Buffer
	code = Run(context.Background(), append([]string{"--home", t.TempDir()}, args...), strings.NewReader(""), &out,
		&messages)
	return code, out.String(), messages.String()
}

// hostileText is a text that a terminal would obey: a colour, a change of direction, a title, C1.
const hostileText = "a\x1b[31mred\u202eevil\x1b]0;title\x07\u009b2J\u200b\U000e0041z"

// A name from a file is escaped wherever it is printed, and stays what it is in JSON.
func TestHostileNames(t *testing.T) {
	quoted, err := json.Marshal(hostileText)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hostile.yaml")
	text := strings.ReplaceAll(`council: NAME
protocol: {name: majority}
f: 0
models: {NAME: {provider: simulated, ability: 1}, dead: {provider: openai, url: "http://127.0.0.1:9/v1", model: NAME,
	attempts: 1}}
seats: [{id: NAME, model: NAME, count: 3}, {id: second NAME, model: dead}]
`, "second NAME", `"x`+strings.Trim(string(quoted), `"`)+`"`)
	text = strings.ReplaceAll(text, "NAME", string(quoted))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "run")
	for _, args := range [][]string{
		{"ask", "-v", "-c", file, "--form", "number", "--seed", "1", "What is 2 + 2?"},
		{"ask", "--json", "-c", file, "--form", "number", "--seed", "1", "What is 2 + 2?"},
		{"ask", "--dry-run", "-c", file, "--form", "number", "What is 2 + 2?"},
		{"ask", "-c", file, "--set", "rule.name=" + hostileText, "What is 2 + 2?"},
		{"config", "show", "-c", file},
		{"bench", "run", "builtin", "-n", "2", "-c", file, "-o", folder},
		{"bench", "report", folder}, {"bench", "report", folder, "--format", "json"},
		{"bench", "report", folder, "--format", "csv"}, {"bench", "report", folder, "--format", "md"},
		{"bench", "report", folder, "--format", "json", "-o", folder + ".json"},
		{"replay", hostileText}, {"bench", hostileText}, {"explain", hostileText}, {"graph", "check", hostileText},
		{"grade", "--form", "text", hostileText, hostileText},
	} {
		_, stdout, stderr := run(t, args...)
		for _, r := range stdout + stderr {
			if clean.Hidden(r) {
				t.Errorf("synod %.40q prints %U:\n%q\n%q", args, r, stdout, stderr)
				break
			}
		}
		if args[0] == "ask" && args[1] == "--json" {
			var o struct{ Council string }
			if err := json.Unmarshal([]byte(stdout), &o); err != nil || o.Council != hostileText {
				t.Errorf("the JSON has %q: %v", o.Council, err)
			}
		}
	}
	if report, err := os.ReadFile(folder + ".json"); err != nil || bytes.ContainsFunc(report, clean.Hidden) {
		t.Errorf("the report in a file: %v, %q", err, report)
	}
}

// Characters may be split between writes.
func TestScreenSplits(t *testing.T) {
	text := "é\u202e€\U000e0041😀\xff\x1bend\xe2\x82"
	for size := 1; size < 6; size++ {
		var out bytes.Buffer
		s := app.NewScreen(&out)
		for i := 0; i < len(text); i += size {
			if n, err := s.Write([]byte(text[i:min(i+size, len(text))])); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		s.Flush()
		if out.String() != `é\u202e€\udb40\udc41😀\ufffd\u001bend\ufffd\ufffd` {
			t.Errorf("in pieces of %d: %s", size, out.String())
		}
	}
}

// full is an output that takes nothing, as /dev/full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Who does not get the answer gets exit code 1, from every command that prints something.
func TestFullOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	text := `protocol: {name: majority}
f: 0
models: {d: {provider: simulated, ability: 1}}
seats: [{id: a, model: d, count: 3}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"ask", "-q", "-c", file, "--form", "number", "What is 2 + 2?"}, {"ask", "--json", "-c", file, "--form",
			"number", "What is 2 + 2?"},
		{"game", "-n", "4", "--rounds", "2"}, {"game", "-n", "4", "--rounds", "2", "--json"}, {"list", "protocols"},
		{"list", "--json"},
		{"explain", "sac"}, {"help"}, {"help", "ask"}, {"ask", "--help"}, {"--version"}, {"config", "show"},
		{"config", "schema"},
		{"grade", "--form", "number", "1", "1"}, {"graph", "check", "--family", "ring", "-n", "5"}, {"graph", "list"},
		{"models", "list"},
		{"data", "list"}, {"exit-codes"}, {"completion", "bash"}, {"bench"}, {"bench", "run", "builtin", "-n", "1",
			"-c", file, "--dry-run"},
	} {
		var messages bytes.Buffer
		code := Run(context.Background(), append([]string{"--home", t.TempDir()}, args...), strings.NewReader(""),
			full{}, &messages)
		if code != app.ExitFailure || !strings.Contains(messages.String(), "no space left") {
			t.Errorf("synod %s > /dev/full: exit %d, %q", strings.Join(args, " "), code, messages.String())
		}
	}
}

// Every group of commands refuses a word that is none of its commands, and every command a file
// that does not exist.
func TestUnknownWords(t *testing.T) {
	var groups [][]string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.HasSubCommands() {
			groups = append(groups, append(strings.Fields(c.CommandPath())[1:], "frobnicate"))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Command())
	if len(groups) < 7 {
		t.Fatalf("only %d groups", len(groups))
	}
	groups = append(groups, []string{"help", "frobnicate"}, []string{"help", "bench", "frobnicate"},
		[]string{"exit-codes", "frobnicate"})
	for _, args := range groups {
		if code, _, stderr := run(t, args...); code != app.ExitUsage || !strings.Contains(stderr, "frobnicate") &&
			args[0] != "exit-codes" {
			t.Errorf("synod %s: exit %d, %s", strings.Join(args, " "), code, stderr)
		}
	}
	for _, args := range [][]string{
		{"models", "pull", "/nonexistent.gguf"}, {"models", "pull", "./nonexistent"}, {"models", "rm", "nonexistent"},
		{"bench", "report", "/nonexistent"}, {"bench", "resume", "/nonexistent"}, {"bench", "export", "/nonexistent",
			"--inspect"},
		{"replay", "/nonexistent"}, {"verify", "/nonexistent"}, {"graph", "check", "/nonexistent.json"}, {"graph",
			"draw", "/nonexistent.json"},
		{"probe", "show", "/nonexistent"}, {"probe", "train", "/nonexistent"}, {"data", "pull", "nonexistent"},
		{"ask", "-c", "/nonexistent", "x"}, {"ask", "--resume", "/nonexistent"}, {"game", "--resume", "/nonexistent"},
		{"game", "--members", "/nonexistent"}, {"config", "show", "-c", "/nonexistent"}, {"--prices", "/nonexistent",
			"list"},
	} {
		if code, _, stderr := run(t, args...); code == app.ExitOK || !strings.Contains(stderr, "nonexistent") {
			t.Errorf("synod %s: exit %d, %s", strings.Join(args, " "), code, stderr)
		}
	}
}

// TestPaint requires colours only on a screen that shows them, and no escapes from the text itself.
func TestPaint(t *testing.T) {
	for colours, want := range map[bool]string{
		true:  "\x1b[31magreed\\u001b[0m\x1b[0m",
		false: "agreed\\u001b[0m",
	} {
		var out bytes.Buffer
		s := app.NewScreen(&out)
		s.Colours = colours
		app.Paint(s, app.Red, "agreed\x1b[0m")
		if out.String() != want {
			t.Errorf("colours %t: %q, not %q", colours, out.String(), want)
		}
	}
}
