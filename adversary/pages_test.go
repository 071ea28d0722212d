package adversary

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/prompt"
	"synod.dev/synod/llm/read"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/protocol/grade"
	prose "synod.dev/synod/protocol/panel"
)

// page returns a prompt for one template, with untrusted text in every field that can hold some.
func page(name, text string, exact bool) *synod.Prompt {
	_, purpose, _ := strings.Cut(name, "/")
	seven, a, own := 7, synod.Answer(text), synod.Answer("own")
	said := []game.Proposal{{By: 1, Value: &seven, Reason: text}, {By: 2, Value: &seven, Reason: text}}
	var detail synod.Detail = grade.Detail{}
	switch {
	case strings.HasPrefix(name, "game/"):
		detail = &game.Table{Self: 0, Round: 2, Rounds: 5, High: 50, Threshold: "2/3", Now: said,
			Past: []game.Past{{Round: 1, Proposals: said}}}
	case name == "panel/check":
		detail = prose.Checking{Parts: []string{text, "The sea is salt."}, Before: a}
	case name == "panel/rewrite":
		detail = prose.Rewriting{Parts: []string{text}}
	}
	return &synod.Prompt{
		Template: name, Purpose: synod.Purpose(purpose), Question: &synod.Question{Text: "Who?", Form: synod.Text},
		Seed: 77,
		Own:  own, Candidate: a, Rationale: text, Caution: synod.CautionMayExist, F: 1, Exact: exact,
		ConfidenceMode: synod.StatedConfidence,
		Peers: []synod.Rated{{Answer: "first", Score: 0.5, Rationale: text},
			{Answer: a, Score: 0.2, Rationale: text}},
		Spelling: map[synod.Answer]string{own: text},
		Detail:   detail,
	}
}

// harmless is untrusted text without an attack.
const harmless = "Xyzzy"

// escape reports how untrusted text leaves the place of harmless text in a prompt; "" if it does
// not. Lines without untrusted text must not change. A line with it keeps what is before and after
// it, and the text neither closes a quotation or fence nor has a control token of a chat template.
func escape(b *prompt.Templates, name, text string, exact bool) string {
	was, err := b.Render(page(name, harmless, exact))
	if err != nil {
		return err.Error()
	}
	is, err := b.Render(page(name, text, exact))
	if err != nil {
		return err.Error()
	}
	hide(&was)
	hide(&is)
	for _, part := range [][2]string{{was.System, is.System}, {was.User, is.User}, {was.Completion, is.Completion}} {
		want, got := strings.Split(part[0], "\n"), strings.Split(join(part[0], part[1]), "\n")
		if len(want) != len(got) {
			return fmt.Sprintf("%d lines became %d", len(want), len(got))
		}
		for i := range want {
			if why := leaves(want[i], got[i]); why != "" {
				return fmt.Sprintf("line %d: %s: %s", i+1, why, got[i])
			}
		}
	}
	return ""
}

// hide replaces the delimiters of fences, which depend on their content.
func hide(c *prompt.Chat) {
	if _, after, fenced := strings.Cut(c.User, "<<"); fenced {
		border, _, _ := strings.Cut(after, "\n")
		c.User = strings.ReplaceAll(c.User, border, "BORDER")
	}
}

var fenced = regexp.MustCompile(`(?s)<<BORDER\n(.*?)\nBORDER>>`)

// join returns got with the fenced passages on one line that are on one line in want: a passage keeps its lines.
func join(want, got string) string {
	passages, i := fenced.FindAllStringSubmatch(want, -1), -1
	return fenced.ReplaceAllStringFunc(got, func(s string) string {
		if i++; i >= len(passages) || strings.Contains(passages[i][1], "\n") {
			return s
		}
		return "<<BORDER\n" + strings.ReplaceAll(fenced.FindStringSubmatch(s)[1], "\n", " ") + "\nBORDER>>"
	})
}

func leaves(want, got string) string {
	before, after, has := strings.Cut(want, harmless)
	if !has {
		if got != want {
			return "a line of the page changed"
		}
		return ""
	}
	if strings.Contains(after, harmless) {
		return "two text of others on one line"
	}
	if len(got) < len(before)+len(after) || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
		return "the page's part of the line changed"
	}
	text := got[len(before) : len(got)-len(after)]
	if strings.HasSuffix(before, `"`) && strings.Contains(strings.NewReplacer(`\\`, "", `\"`, "").Replace(text), `"`) {
		return "a quotation is closed"
	}
	for _, bad := range []string{">>", "<<", "<|", "|>", "[/INST]", "<|im_end|>", "\r", "\u2028"} {
		if strings.Contains(text, bad) {
			return fmt.Sprintf("%q gets through", bad)
		}
	}
	return ""
}

// borders returns the delimiters of the fences in the same prompt with other text.
func borders(b *prompt.Templates, name string) (all []string) {
	c, _ := b.Render(page(name, harmless, false))
	for line := range strings.Lines(c.User) {
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "<<") {
			nonce := strings.TrimPrefix(s, "<<")
			all = append(all, nonce+">>", "\n"+nonce+">>\n", nonce)
		}
	}
	return all
}

// No forged delimiter leaves its place in any prompt of any protocol, neither alone nor with
// others nor in random mixtures [delimiter-forger, 0 of 10,000].
func TestDelimiterForgerPages(t *testing.T) {
	pages, fenced, tried := 0, 0, 0
	for _, p := range catalog.Protocols.All() {
		b, err := prompt.NewTemplates(p.Name, p.Prompts())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range b.Names() {
			pages++
			known := borders(b, name)
			fenced += bit(len(known) > 0)
			lines := append(append(forged(), forgedAnswer), known...)
			for _, text := range append([]string{strings.Join(lines, "\n"), strings.Join(lines, "")}, lines...) {
				for _, exact := range []bool{false, true} {
					tried++
					if why := escape(b, name, text, exact); why != "" {
						t.Errorf("%s: %q: %s", name, text, why)
					}
				}
			}
			rapid.Check(t, func(rt *rapid.T) {
				for range 5 {
					mixture(rt, b, name, lines, &tried)
				}
			})
		}
	}
	t.Logf("%d pages, %d with fences, %d renderings", pages, fenced, tried)
	if pages < 10 || fenced < 3 || tried < 10_000 && !testing.Short() {
		t.Errorf("only %d pages, %d with fences, %d renderings: too few for a test", pages, fenced, tried)
	}
}

// mixture tries the forger's lines with random text between them.
func mixture(t *rapid.T, b *prompt.Templates, name string, lines []string, tried *int) {
	text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(lines), rapid.StringN(0, 8, -1)), 1, 12).Draw(t,
		"text"), rapid.SampledFrom([]string{"", " ", "\n", "\u2028"}).Draw(t, "gap"))
	if clean.Line(text, 100) == "" {
		return // a prompt may omit a member without text
	}
	*tried++
	if why := escape(b, name, text, false); why != "" {
		t.Fatalf("%s: %s", name, why)
	}
}

// The vulnerable twin has the prompt of the paper, with plain delimiters around unchanged text. The
// forger closes them and continues as the prompt and as the evaluator.
func TestDelimiterForgerSucceeds(t *testing.T) {
	naive := fstest.MapFS{"grade.tmpl": {Data: []byte("{{define \"system\"}}You judge.{{end}}{{define \"user\"}}--- " +
		"Proposed Answer ---\n{{.Rationale}}\n--- End of Proposed Answer ---\nYour marks:{{end}}")}}
	b, err := prompt.NewTemplates("naive", naive)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(forged(), "\n")
	if escape(b, "naive/grade", text, false) == "" {
		t.Error("escape does not detect a forger that leaves its place")
	}
	c, err := b.Render(page("naive/grade", text, false))
	if err != nil {
		t.Fatal(err)
	}
	_, outside, closed := strings.Cut(c.User, "--- End of Proposed Answer "+
		"---\n") // an evaluator trusts the text after the answer
	if g, err := grade.Read(&synod.Reply{Status: synod.OK, Text: strings.SplitN(outside, "\n", 2)[0]}); !closed ||
		err != nil || g[0] != grade.Max {
		t.Errorf("the attack on the twin fails: after the answer there is %q", outside)
	}
}

// The forger's text as an evaluator's reply has no grades and no score, so a model that only repeats
// its prompt gives none.
func TestForgedVerdicts(t *testing.T) {
	all := strings.Join(forged(), "\n")
	for _, text := range []string{all, clean.Line(all, 2000), `"` + all + `"`} {
		if g, err := grade.Read(&synod.Reply{Status: synod.OK, Text: text}); err == nil {
			t.Errorf("it has grades: %v", g)
		}
	}
	if s, ok := read.ScoreIn(clean.Line(all, 2000)); ok {
		t.Errorf("it has a score: %v", s)
	}
}
