package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"synod.dev/synod"
	"synod.dev/synod/core/script"
	"synod.dev/synod/llm/prompt"
)

const fencing = `{{define "system"}}judge{{end}}{{define "user"}}{{.Question.Text}} {{.Quote .Candidate}}{{if .Rationale}}
{{.Fence .Rationale}}{{end}}{{range .Peers}}
{{$.Fence .Rationale}}{{end}}{{end}}`

func templates(t testing.TB) *prompt.Templates {
	t.Helper()
	all, err := prompt.NewTemplates("test", fstest.MapFS{"judge.tmpl": {Data: []byte(fencing)}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// border returns the border of the only kind of fence in a rendered prompt.
func border(t testing.TB, all *prompt.Templates, p synod.Prompt) string {
	t.Helper()
	p.Template = "test/judge"
	if p.Question == nil {
		p.Question = &synod.Question{Text: "Who?", Form: synod.Text}
	}
	c, err := all.Render(&p)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(c.User, "<<")
	border, _, _ := strings.Cut(after, "\n")
	if len(border) != 13 || strings.Count(c.User, border) != 2*strings.Count(c.User, "<<") {
		t.Fatalf("no fence: %s", c.User)
	}
	if again, _ := all.Render(&p); again.User != c.User {
		t.Fatal("one prompt has two texts")
	}
	return border
}

// Borders differ with the nonce, the seed, the question and everything that is shown.
func TestFencesDiffer(t *testing.T) {
	all := templates(t)
	seen := map[string]string{}
	add := func(what string, p synod.Prompt) {
		b := border(t, all, p)
		if was, twice := seen[b]; twice {
			t.Errorf("%s and %s have the same border", what, was)
		}
		seen[b] = what
	}
	base := func() synod.Prompt { return synod.Prompt{Candidate: "x", Rationale: "because"} }
	add("the base", base())
	for i := range 100 {
		p := base()
		p.Nonce = uint64(i + 1)
		add(fmt.Sprint("nonce ", i+1), p)
		p.Nonce, p.Seed = 0, uint64(i+1)
		add(fmt.Sprint("seed ", i+1), p)
	}
	p := base()
	p.Question = &synod.Question{Text: "When?", Form: synod.Text}
	add("another question", p)
	p = base()
	p.Candidate = "y"
	add("another candidate", p)
	p = base()
	p.Rationale = "because."
	add("another rationale", p)
	p = base()
	p.Peers = []synod.Rated{{Answer: "z", Rationale: "no"}}
	add("a peer", p)
}

// All calls of all seats have different borders, also where the member chooses the seed (exact: paper), and
// the same run has the same borders again.
func TestFencesOfCalls(t *testing.T) {
	all := templates(t)
	calls := func(seat uint64, opt script.Options) (borders []string) {
		m := script.New(synod.Seat{Seed: seat, Question: &synod.Question{Text: "Who?", Form: synod.Text}}, opt,
			func(me *script.Agent) synod.Answer {
				for range 3 {
					p := synod.Prompt{Purpose: synod.Scoring, Question: me.Seat().Question, Candidate: "x",
						Rationale: "because"}
					me.Ask(p, p)
				}
				return synod.None
			})
		effects := m.Step(0, synod.Begin{})
		for now := synod.Tick(1); len(effects) > 0; now++ {
			var asked []synod.Consult
			for _, e := range effects {
				if c, ok := e.(synod.Consult); ok {
					asked = append(asked, c)
				}
			}
			effects = nil
			for _, c := range asked {
				borders = append(borders, border(t, all, *c.Prompt))
				effects = append(effects, m.Step(now,
					synod.Answered{ID: c.ID, Reply: &synod.Reply{Status: synod.OK, Text: "1"}})...)
			}
		}
		return borders
	}
	for _, opt := range []script.Options{{}, {OneSeed: true}} {
		seen := map[string]bool{}
		for seat := range uint64(5) {
			borders := calls(seat, opt)
			if len(borders) != 6 {
				t.Fatalf("%d calls", len(borders))
			}
			for i, b := range borders {
				if seen[b] {
					t.Errorf("%+v: seat %d, call %d: the border was used before", opt, seat, i)
				}
				seen[b] = true
			}
			if again := calls(seat, opt); fmt.Sprint(again) != fmt.Sprint(borders) {
				t.Errorf("%+v: seat %d: the same run has other borders", opt, seat)
			}
		}
	}
}

// Text cannot contain the border of its own fence: shown a border, the prompt has another one.
func TestFencesCannotBeQuoted(t *testing.T) {
	all, text := templates(t), "because"
	for range 50 {
		b := border(t, all, synod.Prompt{Candidate: "x", Rationale: text})
		if strings.Contains(text, b) {
			t.Fatalf("%q contains the border %s", text, b)
		}
		text += " " + b + ">>"
	}
}

func TestNewTemplates(t *testing.T) {
	file := func(name, text string) fstest.MapFS { return fstest.MapFS{name: {Data: []byte(text)}} }
	base := file("judge.tmpl", fencing)
	other := file("judge.tmpl", `{{define "system"}}{{end}}{{define "user"}}{{.Question.Text}}{{end}}{{define "completion"}}{{.Completion}}{{end}}`)
	first, _ := prompt.NewTemplates("test", base)
	second, err := prompt.NewTemplates("test", base, other)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := first.Digests()["test/judge"], second.Digests()["test/judge"]; a == b || len(a) != 16 || len(b) != 16 {
		t.Errorf("digests %q and %q", a, b)
	}
	c, err := second.Render(&synod.Prompt{Template: "test/judge",
		Question: &synod.Question{Text: "Who?", Form: synod.Text}, Candidate: "x"})
	if err != nil || c.User != "Who?" || !strings.HasSuffix(c.Completion, "Question: Who?\nAnswer:") {
		t.Errorf("%+v, %v", c, err)
	}
	for why, layers := range map[string][]fstest.MapFS{
		"replaces nothing":      {base, file("juge.tmpl", fencing)},
		`has no {{define "user`: {file("a.tmpl", `{{define "system"}}{{end}}`)},
		"unclosed action":       {file("a.tmpl", `{{define "system"}}{{`)},
	} {
		var err error
		if len(layers) == 2 {
			_, err = prompt.NewTemplates("test", layers[0], layers[1])
		} else {
			_, err = prompt.NewTemplates("test", layers[0])
		}
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("want an error with %q, got %v", why, err)
		}
	}
	if _, err := first.Render(&synod.Prompt{Template: "test/juge"}); err == nil ||
		!strings.Contains(err.Error(), "judge") {
		t.Errorf("a misspelt template: %v", err)
	}
}

func BenchmarkRenderFence(b *testing.B) {
	all := templates(b)
	p := &synod.Prompt{Template: "test/judge", Question: &synod.Question{Text: "Who?", Form: synod.Text},
		Candidate: "x", Rationale: strings.Repeat("because ", 40)}
	for b.Loop() {
		if _, err := all.Render(p); err != nil {
			b.Fatal(err)
		}
	}
}
