package adversary

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"synod.dev/synod"
	"synod.dev/synod/clean"
	"synod.dev/synod/prompt"
	"synod.dev/synod/protocol/catalog"
	"synod.dev/synod/protocol/game"
	"synod.dev/synod/protocol/grade"
	"synod.dev/synod/read"
)

// page is a prompt for one page, with words of others in every field that can hold
// some.
func page(name, words string, exact bool) *synod.Prompt {
	_, purpose, _ := strings.Cut(name, "/")
	seven, a, own := 7, synod.Answer(words), synod.Answer("own")
	said := []game.Proposal{{By: 1, Value: &seven, Reason: words}, {By: 2, Value: &seven, Reason: words}}
	var detail synod.Detail = grade.Detail{}
	if strings.HasPrefix(name, "game/") {
		detail = &game.Table{Self: 0, Round: 2, Rounds: 5, High: 50, Threshold: "2/3", Now: said, Past: []game.Past{{Round: 1, Proposals: said}}}
	}
	return &synod.Prompt{
		Template: name, Purpose: synod.Purpose(purpose), Question: &synod.Question{Text: "Who?", Form: synod.Text}, Seed: 77,
		Own: own, Candidate: a, Rationale: words, Caution: synod.CautionMayExist, F: 1, Exact: exact, ConfidenceMode: synod.StatedConfidence,
		Peers:    []synod.Rated{{Answer: "first", Score: 0.5, Rationale: words}, {Answer: a, Score: 0.2, Rationale: words}},
		Spelling: map[synod.Answer]string{own: words},
		Detail:   detail,
	}
}

// harmless stands for another's words where nothing is attacked.
const harmless = "Xyzzy"

// escape reports how words leave the place that harmless ones have on a page; ""
// if they do not. Every line without words of others must be what it was; a line
// with them keeps what stands before and after them, and they neither close a
// quotation or fence nor hold a control word of a chat template.
func escape(b *prompt.Templates, name, words string, exact bool) string {
	was, err := b.Render(page(name, harmless, exact))
	if err != nil {
		return err.Error()
	}
	is, err := b.Render(page(name, words, exact))
	if err != nil {
		return err.Error()
	}
	hide(&was)
	hide(&is)
	for _, part := range [][2]string{{was.System, is.System}, {was.User, is.User}, {was.Completion, is.Completion}} {
		want, got := strings.Split(part[0], "\n"), strings.Split(part[1], "\n")
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

// hide replaces the border of the fences, which depends on what is shown.
func hide(c *prompt.Chat) {
	if _, after, fenced := strings.Cut(c.User, "<<"); fenced {
		border, _, _ := strings.Cut(after, "\n")
		c.User = strings.ReplaceAll(c.User, border, "BORDER")
	}
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
		return "two words of others on one line"
	}
	if len(got) < len(before)+len(after) || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
		return "the page's part of the line changed"
	}
	words := got[len(before) : len(got)-len(after)]
	if strings.HasSuffix(before, `"`) && strings.Contains(strings.NewReplacer(`\\`, "", `\"`, "").Replace(words), `"`) {
		return "a quotation is closed"
	}
	for _, bad := range []string{">>", "<<", "<|", "|>", "[/INST]", "<|im_end|>", "\r", "\u2028"} {
		if strings.Contains(words, bad) {
			return fmt.Sprintf("%q gets through", bad)
		}
	}
	return ""
}

// borders returns borders of the fences on such a page, with other text in it.
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

// No forged delimiter breaks out of its place on any page of any protocol: each by
// itself, all together, and any mixture of them [delimiter-forger, 0 of 10,000].
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
			for _, words := range append([]string{strings.Join(lines, "\n"), strings.Join(lines, "")}, lines...) {
				for _, exact := range []bool{false, true} {
					tried++
					if why := escape(b, name, words, exact); why != "" {
						t.Errorf("%s: %q: %s", name, words, why)
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
	if pages < 10 || fenced < 3 || tried < 10_000 {
		t.Errorf("only %d pages, %d with fences, %d renderings: something is not looked at", pages, fenced, tried)
	}
}

// mixture tries lines of the forger's with anything between them.
func mixture(t *rapid.T, b *prompt.Templates, name string, lines []string, tried *int) {
	words := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(lines), rapid.StringN(0, 8, -1)), 1, 12).Draw(t, "words"), rapid.SampledFrom([]string{"", " ", "\n", "\u2028"}).Draw(t, "gap"))
	if clean.Line(words, 100) == "" {
		return // a page may leave out who says nothing
	}
	*tried++
	if why := escape(b, name, words, false); why != "" {
		t.Fatalf("%s: %s", name, why)
	}
}

// The vulnerable twin: a page as the paper has it, plain delimiters around words
// as they came. The forger closes them and goes on as the page and as the judge.
func TestDelimiterForgerBites(t *testing.T) {
	naive := fstest.MapFS{"grade.tmpl": {Data: []byte("{{define \"system\"}}You judge.{{end}}{{define \"user\"}}--- Proposed Answer ---\n{{.Rationale}}\n--- End of Proposed Answer ---\nYour marks:{{end}}")}}
	b, err := prompt.NewTemplates("naive", naive)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(forged(), "\n")
	if escape(b, "naive/grade", words, false) == "" {
		t.Error("nothing is noticed where the forger does break out: the test is blind")
	}
	c, err := b.Render(page("naive/grade", words, false))
	if err != nil {
		t.Fatal(err)
	}
	_, outside, closed := strings.Cut(c.User, "--- End of Proposed Answer ---\n") // a judge believes what stands after the answer
	if g, err := grade.Read(&synod.Reply{Status: synod.OK, Text: strings.SplitN(outside, "\n", 2)[0]}); !closed || err != nil || g[0] != grade.Max {
		t.Errorf("the twin is not taken: after the answer stands %q", outside)
	}
}

// The forger's own words as a judge's reply are no verdict: a model that only
// repeats what it is shown gives no marks and no score.
func TestForgedVerdicts(t *testing.T) {
	all := strings.Join(forged(), "\n")
	for _, text := range []string{all, clean.Line(all, 2000), `"` + all + `"`} {
		if g, err := grade.Read(&synod.Reply{Status: synod.OK, Text: text}); err == nil {
			t.Errorf("it gives marks: %v", g)
		}
	}
	if s, ok := read.ScoreIn(clean.Line(all, 2000)); ok {
		t.Errorf("it gives a score: %v", s)
	}
}
