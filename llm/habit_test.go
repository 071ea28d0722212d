package llm

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"synod.dev/synod"
	"synod.dev/synod/internal/llmtest"
	"synod.dev/synod/llm/prompt"
)

// plainTemplates have a template that can ask for an answer on the last line, and one that cannot.
func plainTemplates(t *testing.T) *prompt.Templates {
	t.Helper()
	file := func(end string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`{{define "system"}}{{end}}{{define "user"}}{{.Question.Text}} ` + end +
			`{{end}}`)}
	}
	all, err := prompt.NewTemplates("test", fstest.MapFS{
		"ask.tmpl": file(`{{if .Exact}}LINE{{else}}JSON{{end}}`), "json.tmpl": file(`JSON`)})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A server that holds replies to a schema, one that ignores it and one that refuses it: answers of one value are asked
// for as JSON or as a line, by the first replies; the decision stays, also for the next process; what has several
// fields, or a template that knows no line, stays JSON.
func TestHabit(t *testing.T) {
	const whole, broken = `{"reasoning":"","answer":"42"}`, "I think so.\nAnswer: 42"
	for name, x := range map[string]struct {
		replies []string // the last one again and again
		behave  llmtest.Behaviour
		styles  string // of six prompts
		found   string
	}{
		"enforces": {[]string{whole}, llmtest.OK(), "JSON JSON JSON JSON JSON JSON", "replies keep to the schema"},
		"ignores": {[]string{broken}, llmtest.OK(), "JSON JSON JSON LINE LINE LINE",
			"ignores the JSON schema (3 of the first 3 replies broke it)"},
		"ignores, with JSON at times": {[]string{broken, whole, `{"answer":"42"}`, whole}, llmtest.OK(),
			"JSON JSON JSON LINE LINE LINE", "(2 of the first 3 replies broke it)"},
		"breaks it once": {[]string{"busy, try again", whole}, llmtest.OK(), "JSON JSON JSON JSON JSON JSON",
			"replies keep to the schema"},
		"refuses": {[]string{broken}, llmtest.RefuseFormat("json_schema", "json_object"),
			"JSON LINE LINE LINE LINE LINE", "refuses a JSON schema"},
		"takes JSON mode": {[]string{whole}, llmtest.RefuseFormat("json_schema"), "JSON JSON JSON JSON JSON JSON",
			"replies keep to the schema"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var styles []string
			s := llmtest.Start(t, func(c llmtest.Call) string {
				mu.Lock()
				defer mu.Unlock()
				if c.User == "" { // of a check before the run
					return ""
				}
				styles = append(styles, c.User[len(c.User)-4:])
				return x.replies[min(len(styles), len(x.replies))-1]
			}, llmtest.With(x.behave))
			file := filepath.Join(t.TempDir(), "servers.json")
			open := func() Model {
				m, err := new(Pool).Open("openai", yamlSettings("url: "+s.URL+"\nmodel: stub\n"),
					Options{Env: Env{Habits: file, Getenv: func(string) string { return "" }}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { closeModel(t, m) })
				return m
			}
			m, templates := open(), plainTemplates(t)
			complete := func(change func(*synod.Prompt)) (synod.Reply, string) {
				r := ask(t, "?")
				r.Templates, r.Prompt.Template = templates, "test/ask"
				if change != nil {
					change(r.Prompt)
				}
				reply, err := m.Complete(t.Context(), r)
				if err != nil || r.Prompt.Plain {
					t.Fatal(reply, err, r.Prompt.Plain)
				}
				mu.Lock()
				defer mu.Unlock()
				return reply, styles[len(styles)-1]
			}
			var got []string
			for range 6 {
				reply, style := complete(nil)
				if got = append(got, style); reply.Plain != (style == "LINE") {
					t.Errorf("Plain is %v of a reply to %s", reply.Plain, style)
				}
			}
			if strings.Join(got, " ") != x.styles {
				t.Errorf("asked for %v, want %s", got, x.styles)
			}
			for what, change := range map[string]func(*synod.Prompt){
				"several fields":   func(p *synod.Prompt) { p.ConfidenceMode = synod.StatedConfidence },
				"JSON as the form": func(p *synod.Prompt) { p.Question.Form = synod.JSON },
				"template of JSON": func(p *synod.Prompt) { p.Template = "test/json" },
				"another purpose":  func(p *synod.Prompt) { p.Purpose = synod.Scoring },
			} {
				if _, style := complete(change); style != "JSON" {
					t.Errorf("%s: asked for %s", what, style)
				}
			}
			found, err := m.(Preflighter).Preflight(t.Context())
			adapted := strings.Join(m.(Adapter).Adapted(), "; ")
			if err != nil || !strings.Contains(found, x.found) ||
				strings.Contains(adapted, "a last line") != strings.Contains(x.styles, "LINE") {
				t.Errorf("it is described as %q (%v) and adapted as %q, want %q", found, err, adapted, x.found)
			}
			m = open() // the next process
			if _, style := complete(nil); style != got[5] {
				t.Errorf("the next process asks for %s, want %s", style, got[5])
			}
		})
	}
}

// A file of habits that cannot be read is begun again, and one that cannot be written does no harm.
func TestHabitFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "servers.json")
	if err := os.WriteFile(file, []byte(`{"a": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	h := openHabits(file)
	for range 9 {
		h.learn("host m", func(h *Habit) { h.Replies++; h.Broken++ })
	}
	want := Habit{Replies: firstReplies, Broken: firstReplies}
	if got := openHabits(file).of("host m"); got != want || !got.Plain() {
		t.Errorf("the file has %+v, want %+v", got, want)
	}
	other := openHabits(file) // another process, which knows what the file has
	other.learn("host n", func(h *Habit) { h.Refused = true })
	if got := openHabits(file); !got.of("host n").Plain() || got.of("host m") != want {
		t.Errorf("the file has %+v", got.all)
	}
	lost := openHabits(filepath.Join(file, "no folder"))
	lost.learn("host m", func(h *Habit) { h.Refused = true })
	if !lost.of("host m").Plain() {
		t.Error("a habit that cannot be written is forgotten")
	}
}
