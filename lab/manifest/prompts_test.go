package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		was := draft(t, p.Name, Options{Data: data, N: 1})
		if len(was.Runs) == 0 { // all cells are computed
			continue
		}
		is := draft(t, p.Name, Options{Data: data, N: 1, Set: []string{"prompts=" + words(name)}})
		if len(is.Runs) != len(was.Runs) {
			t.Fatalf("%s: %d cells, without own prompts %d", p.Name, len(is.Runs), len(was.Runs))
		}
		for i, run := range is.Runs {
			before, err := was.Runs[i].Hash()
			after, err2 := run.Hash()
			if err != nil || err2 != nil || before == after {
				t.Errorf("%s: cell %s is the same with other prompts: %v %v", p.Name, is.Cells[i].Name, err, err2)
			}
			changed := false
			for of, digest := range run.Prompts {
				if other := was.Runs[i].Prompts[of]; (digest != other) != strings.HasSuffix(of, "/"+name) {
					t.Errorf("%s: cell %s, template %s: %s, without own prompts %s", p.Name, is.Cells[i].Name, of,
						digest, other)
				}
				changed = changed || strings.HasSuffix(of, "/"+name)
			}
			if !changed {
				t.Errorf("%s: cell %s has no template %s", p.Name, is.Cells[i].Name, name)
			}
		}
	}
}
