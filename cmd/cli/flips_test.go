package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/llmtest"
)

// flipped is how many single-bit flips TestFlips tries in each kind of file; flipSeed is their seed.
var (
	flipped  = flag.Int("flips", 60, "number of bit flips in each kind of file")
	flipSeed = flag.Uint64("flip-seed", 1, "seed of bit flips")
)

// shown is what commands print about a file: their exit codes and standard outputs.
type shown struct {
	text   string
	failed bool // one of them failed with an error about the file
}

// measured matches what differs between two runs of one command.
var measured = regexp.MustCompile(`"(seconds|journal|median|p95)": [^\n]*`)

// show runs commands. A failure is an exit code that the genuine file does not lead to.
func show(home string, commands [][]string) (s shown) {
	for _, args := range commands {
		var out, errs bytes.Buffer
		code := Run(context.Background(), append([]string{"--home", home}, args...), nil, &out, &errs)
		s.failed = s.failed || code == app.ExitFailure || code == app.ExitUsage || code == app.ExitVerify
		s.text += fmt.Sprintf("exit %d\n%s", code, measured.ReplaceAllString(out.String(), ""))
		if strings.Contains(errs.String(), "panic") {
			s.text += errs.String()
		}
	}
	return s
}

// flipTarget is a kind of file: its parts, and the commands that read them.
type flipTarget struct {
	name     string
	files    []string
	commands func() [][]string
}

// TestFlips flips single bits of a finished journal, of two that were cut off and of a run folder. Each is noticed, or
// nothing that is shown changes: outputs, exit codes and JSON of replay, verify, report and resume.
func TestFlips(t *testing.T) {
	stub := llmtest.Start(t, stubborn)
	dir := t.TempDir()
	home, at := filepath.Join(dir, "home"), func(name string) string { return filepath.Join(dir, name) }
	questions := `{"id":"one","question":"What is 17 + 25?","answer":"42"}` + "\n" +
		`{"id":"two","question":"What is 1 + 1?","answer":"41"}` + "\n"
	for name, text := range map[string]string{
		"seven.yaml": strings.ReplaceAll(seven, "$STUB", stub.URL), "q.jsonl": questions,
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	show(home, [][]string{{"ask", "-c", at("seven.yaml"), "--seed", "1", "--journal", at("whole"), "What is 17 + 25?"},
		{"ask", "-c", at("seven.yaml"), "--seed", "1", "--set", "limits.calls=3", "--journal", at("cut"),
			"What is 17 + 25?"},
		{"bench", "run", at("q.jsonl"), "-c", at("seven.yaml"), "-o", at("run")}})
	whole, err := os.ReadFile(at("whole"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("killed"), whole[:len(whole)*3/5], 0o600); err != nil {
		t.Fatal(err)
	}
	targets := []flipTarget{
		{"a finished journal", []string{"whole"}, func() [][]string {
			return [][]string{{"replay", at("whole")}, {"verify", "--json", at("whole")}}
		}},
		{"a cut journal", []string{"cut"}, func() [][]string {
			return [][]string{{"replay", at("cut")}, {"verify", "--json", at("cut")},
				{"ask", "--resume", at("cut"), "--set", "limits.calls=100", "--json", "--no-journal"}}
		}},
		{"a journal whose writer was killed", []string{"killed"}, func() [][]string {
			return [][]string{{"replay", at("killed")}, {"ask", "--resume", at("killed"), "--json", "--no-journal"}}
		}},
		{"a run folder", []string{"run/results.db", "run/journals-1.seg"},
			func() [][]string {
				return [][]string{{"bench", "report", at("run"), "--format", "json"}, {"bench", "resume", at("run")}}
			}},
	}
	for _, target := range targets {
		want := show(home, target.commands())
		if want.failed {
			t.Fatalf("%s: the genuine file fails: %s", target.name, want.text)
		}
		t.Logf("%s: %d flips with seed %d", target.name, *flipped, *flipSeed)
		flip(t, target, dir, func() shown { return show(home, target.commands()) }, want)
	}
}

// flip tries the flips of one kind of file.
func flip(t *testing.T, target flipTarget, dir string, look func() shown, want shown) {
	random := rand.New(rand.NewPCG(*flipSeed, 0))
	whole := map[string][]byte{}
	sizes := 0
	for _, name := range target.files {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		whole[name], sizes = b, sizes+len(b)
	}
	found := 0
	for range *flipped {
		name := target.files[random.IntN(len(target.files))] // small files as often as large ones
		changed := bytes.Clone(whole[name])
		bit := random.IntN(8 * len(changed))
		changed[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(filepath.Join(dir, name), changed, 0o600); err != nil {
			t.Fatal(err)
		}
		got := look()
		if got.failed {
			found++
		} else if got.text != want.text {
			from := max(bit/8-30, 0)
			t.Errorf("%s: bit %d of byte %d of %s (%q) changes what is shown:\n%s\nwant\n%s", target.name, bit%8, bit/8,
				name, whole[name][from:min(bit/8+30, len(changed))], got.text, want.text)
		}
		for name, b := range whole { // a resume may have written
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	summary, _ := json.Marshal(map[string]int{"bytes": sizes, "flips": *flipped, "errors": found})
	t.Logf("%s: %s; the others change nothing that is shown", target.name, summary)
}
