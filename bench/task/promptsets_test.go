package task

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/internal/fetch"
)

// Prompts are fetched once, made into templates, and refused if the file is another one.
func TestPullPrompts(t *testing.T) {
	sets := map[*PromptSet]string{&sacPrompts: "sac.py", &cpwbftPrompts: "cp-wbft.py", &gamePrompts: "game.py"}
	for set, file := range sets {
		text, err := os.ReadFile(filepath.Join("testdata/prompts", file))
		if err != nil {
			t.Fatal(err)
		}
		asked, s, own := 0, toyStore(t), *set
		serve := content(text)
		own.From.URL = hub(t, func(w http.ResponseWriter, r *http.Request) { asked++; serve(w, r) }) + "/agents.py"
		var told []string
		o := PullOptions{Notice: func(line string) { told = append(told, line) }}
		if state := s.PromptsState(own); state != Absent {
			t.Errorf("%s is %s before", own.Name, state)
		}
		for range 2 {
			if err := s.PullPrompts(context.Background(), own, o); err != nil {
				t.Fatal(own.Name, err)
			}
		}
		folder := s.Prompts(own)
		if asked != 1 || s.PromptsState(own) != Here || !strings.Contains(strings.Join(told, "\n"), "prompts="+folder) {
			t.Errorf("%s: asked %d times, %s, %q", own.Name, asked, s.PromptsState(own), told)
		}
		if left, _ := filepath.Glob(filepath.Join(folder, "*.part")); len(left) > 0 {
			t.Error("parts are left:", left)
		}
		name := slices.Sorted(maps.Keys(own.templates))[0]
		write(t, filepath.Join(folder, name), "changed")
		if s.PromptsState(own) != Damaged {
			t.Errorf("%s with a changed template is %s", own.Name, s.PromptsState(own))
		}
		own.From.URL = hub(t, content([]byte("class Other:\n    x = 'text'\n"))) + "/agents.py"
		err = s.PullPrompts(context.Background(), own, o)
		if !errors.Is(err, fetch.ErrDigest) || !strings.Contains(err.Error(), "another version") {
			t.Errorf("%s: another file: %v", own.Name, err)
		}
	}
	var private *UnpublishedError
	err := toyStore(t).PullPrompts(context.Background(), decentPrompts, PullOptions{})
	if !errors.As(err, &private) || !strings.Contains(err.Error(), "Fig. 5") {
		t.Error(err)
	}
}

// The texts of a file are found by where they stand, with their escapes and expressions.
func TestPromptTemplates(t *testing.T) {
	made := func(set PromptSet, in ...string) map[string][]byte {
		t.Helper()
		files, _, err := set.Make(in)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	sac := made(sacPrompts, "testdata/prompts/sac.py")
	for name, want := range map[string]string{
		"sac/answer.tmpl": "Math: {{template \"question\" .}} \nWrite \"Answer: N\", then Confidence.{{else}}Mixed: ",
		"sac/score.tmpl":  "Judge {{template \"question\" .}}\nProposed: {{.Spelled .Candidate}}\nScore:",
		"sac/refine.tmpl": "\n{{end}}  * {{$.Spelled $p.Answer}} ({{$p.Score}}){{end}}\nAnswer: [X]",
		"cp-wbft/refine.tmpl": "Rethink {{template \"question\" .}}\n\nYou: {{.Spelled .Own}}\nOthers: " + others +
			"\n\nFinal answer: {{\"{\"}}}",
	} {
		if !strings.Contains(string(sac[name]), want) {
			t.Errorf("%s is\n%s\nwithout\n%s", name, sac[name], want)
		}
	}
	for _, other := range []string{"Boxed", "Anchor", "label", "Safe:"} {
		for name, text := range sac {
			if strings.Contains(string(text), other) {
				t.Errorf("%s has the text %s of another prompt", name, other)
			}
		}
	}
	game := made(gamePrompts, "testdata/prompts/game.py")
	want := "{{if .Detail.Value}}Now: {{.Detail.Value}}{{else}}No value{{end}}\nHISTORY\n{{if .Detail.Past}}"
	if text := string(game["game/propose.tmpl"]); !strings.Contains(text, want) ||
		!strings.Contains(text, `{{template "the text of Figure 12 is missing: synod data convert prompts/game"}}`) {
		t.Errorf("propose is\n%s", text)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "12"), "Trust {agent_id} until {max_rounds}.\n")
	write(t, filepath.Join(dir, "14"), "Reply {\"decision\": \"stop\"}\n")
	game = made(gamePrompts, "testdata/prompts/game.py", filepath.Join(dir, "12"), filepath.Join(dir, "14"))
	if text := string(game["game/propose.tmpl"]); !strings.Contains(text,
		"Trust player {{.Detail.Self}} until {{.Detail.Rounds}}.{{else") {
		t.Errorf("propose is\n%s", text)
	}
	if text := string(game["game/vote.tmpl"]); !strings.Contains(text, `Reply {{"{"}}"decision": "stop"}{{else}}`) {
		t.Errorf("vote is\n%s", text)
	}
	if _, _, err := gamePrompts.Make([]string{"testdata/prompts/game.py", dir}); err == nil {
		t.Error("one of two figures is taken")
	}
}

// A Python file that cannot be read, or whose expressions are unknown, is refused with the place.
func TestPythonTexts(t *testing.T) {
	for text, want := range map[string]string{
		"x = 'no end\n":         "has no end",
		`x = """no end`:         "has no end",
		`x = "\x4"`:             "escape",
		`x = "\ug000"`:          "not a number",
		"x = '\xff'":            "UTF-8",
		"def f():\n  y = 'a'\n": "no text",
	} {
		path := filepath.Join(t.TempDir(), "x.py")
		write(t, path, text)
		if _, _, err := cpwbftPrompts.Make([]string{path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "x.py")
	write(t, path, "class A:\n    async def f(self):\n        y: str = f'{a}' \"\\u00e9\\n\" + 'c'  # 'd'\n"+
		"        return (r'\\d'\n            '''e\n''')\n    z = ['1', \"2\"]\n")
	texts, err := readPython(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for key, of := range texts {
		for _, p := range of.pieces {
			got[key] += p.text
		}
	}
	want := map[string]string{"A.f/y#0.0": "{a}é\n", "A.f/y#0.1": "c", "A.f/return#0.0": `\d` + "e\n", "A/z#0.0": "1",
		"A/z#0.1": "2"}
	if !maps.Equal(got, want) {
		t.Errorf("texts are %q, want %q", got, want)
	}
	set := cpwbftPrompts
	set.templates = map[string]string{"a.tmpl": "«A.f/y#0.0»"}
	if _, _, err := set.Make([]string{path}); err == nil || !strings.Contains(err.Error(), "unknown expression {a}") {
		t.Error(err)
	}
}
