package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"synod.dev/synod/bench/manifest"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/internal/llmtest"
)

// presetRun gives "bench run all" for some presets. stop ends it as ^C does when standard error has this text; "":
// never.
func presetRun(t *testing.T, stop string, names []string, args ...string) (out, progress string, err error) {
	t.Helper()
	a, err := app.New(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	var f benchFlags
	var full bool
	var presets []manifest.Preset
	for _, name := range names {
		p, err := manifest.Presets().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		presets = append(presets, p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := &cobra.Command{}
	f.addRun(cmd, &full)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd.SetContext(ctx)
	cmd.SetOut(&stdout)
	cmd.SetErr(writer(func(b []byte) (int, error) {
		stderr.Write(b)
		if stop != "" && strings.Contains(stderr.String(), stop) {
			cancel()
		}
		return len(b), nil
	}))
	o, err := f.manifestOptions(cmd, a)
	if err != nil {
		t.Fatal(err)
	}
	err = runPresets(a, cmd, presets, f, o)
	return stdout.String(), stderr.String(), err
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// An interruption while the second of two presets begins keeps the first and names the command that goes on with both.
// That command asks only what is left, says how far it is, and prints one table with the claims of both.
func TestPresetsGoOn(t *testing.T) {
	names := []string{"decentllms-fig6", "decentllms-fig7"}
	dir := filepath.Join(t.TempDir(), "all")
	args := []string{"-n", "2", "--repeat", "1", "-o", dir}
	out, progress, err := presetRun(t, "15 cells", names, args...)
	var how *app.Error
	if !errors.As(err, &how) || how.Code != app.ExitInterrupted || out != "" ||
		!strings.HasSuffix(how.Hint, "synod bench run all --out "+dir+" --number 2 --repeat 1") {
		t.Fatalf("interrupted: %v %+v\n%s%s", err, how, progress, out)
	}
	for _, want := range []string{"preset 1 of 2: decentllms-fig6\n", "8 of 8 questions finished · ",
		"preset 2 of 2: decentllms-fig7\n"} {
		if !strings.Contains(progress, want) {
			t.Errorf("interrupted: no %q in\n%s", want, progress)
		}
	}
	out, progress, err = presetRun(t, "", names, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"6 cells, of which 4 are there and 0 new", "8 of 8 questions finished · 0 calls now",
		"15 cells, of which 15 are there and 0 new", "30 of 30 questions finished"} {
		if !strings.Contains(progress, want) {
			t.Errorf("resumed: no %q in\n%s", want, progress)
		}
	}
	for _, name := range names {
		if strings.Count(out, name) == 0 {
			t.Errorf("no claims of %s in\n%s", name, out)
		}
	}
	if again, _, err := presetRun(t, "", names, args...); err != nil || again != out {
		t.Errorf("once more: %v\n%s\nwas\n%s", err, again, out)
	}
}

// Where questions of a preset fail the others are run too, and the table is printed; the exit code says that some
// failed, and the same command tries them again.
func TestPresetsWithFailures(t *testing.T) {
	server := llmtest.Start(t, llmtest.Fixed("1", 0.5), llmtest.With(llmtest.Status(404)))
	dir := t.TempDir()
	models, text := filepath.Join(dir, "models.yaml"), "models:\n"
	for _, name := range []string{"member", "worker", "evaluator"} {
		text += fmt.Sprintf("  %s: {provider: openai, model: m, url: %q, attempts: 1, concurrency: 64}\n", name,
			server.URL)
	}
	if err := os.WriteFile(models, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"decentllms-fig6", "decentllms-fig7"}
	out, progress, err := presetRun(t, "", names, "-n", "1", "--repeat", "1", "--members", models, "--substitute",
		"--no-preflight", "-o", filepath.Join(dir, "all"))
	var how *app.Error
	if !errors.As(err, &how) || how.Code != app.ExitFailure ||
		!strings.Contains(how.Error(), "questions of decentllms-fig6, decentllms-fig7 failed") ||
		!strings.Contains(how.Hint, "synod bench run all --out ") {
		t.Errorf("%v %+v\n%s", err, how, progress)
	}
	if !strings.Contains(progress, "preset 2 of 2: decentllms-fig7") || !strings.Contains(out, names[1]) {
		t.Errorf("the second preset was not run, or has no claims:\n%s%s", progress, out)
	}
}
