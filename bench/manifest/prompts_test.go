package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/bench"
)

// A folder of prompts can be set for every preset. Its cells then are other ones, and their councils ask with the words
// of the folder.
func TestPromptsOfEveryPreset(t *testing.T) {
	data := sharedData(t)
	folder := t.TempDir()
	words := func(name string) string {
		dir := filepath.Join(folder, name)
		text := `{{define "system"}}Verbatim words.{{end}}{{define "user"}}{{.Question.Text}}{{end}}`
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".tmpl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, p := range Presets().All() {
		name := "answer"
		if p.Manifest.Plays("game") {
			name = "propose"
		}
		whole := wholePreset(t, p.Name)
		cells := whole.Cells[:uncontrolled(whole)]
		if len(cells) == 0 { // all cells are computed
			continue
		}
		o := Options{Data: data, N: 1, Only: cells[len(cells)/2].Name}
		was := draft(t, p.Name, o)
		o.Set = []string{"prompts=" + words(name)}
		if err := onlyPrompt(was, draft(t, p.Name, o), name); err != nil {
			t.Errorf("%s, cell %s: %v", p.Name, o.Only, err)
		}
	}
}

// onlyPrompt returns an error unless the runs of two grids differ in one template, and in their hashes.
func onlyPrompt(was, is *bench.Grid, name string) error {
	if len(is.Runs) == 0 || len(is.Runs) != len(was.Runs) {
		return fmt.Errorf("%d runs, without own prompts %d", len(is.Runs), len(was.Runs))
	}
	for i, run := range is.Runs {
		before, err := was.Runs[i].Hash()
		after, err2 := run.Hash()
		if err != nil || err2 != nil || before == after {
			return fmt.Errorf("it is the same with other prompts: %v %v", err, err2)
		}
		changed := false
		for of, digest := range run.Prompts {
			if other := was.Runs[i].Prompts[of]; (digest != other) != strings.HasSuffix(of, "/"+name) {
				return fmt.Errorf("template %s: %s, without own prompts %s", of, digest, other)
			}
			changed = changed || strings.HasSuffix(of, "/"+name)
		}
		if !changed {
			return fmt.Errorf("there is no template %s", name)
		}
	}
	return nil
}
