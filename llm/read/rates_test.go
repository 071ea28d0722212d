package read

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/golden"
)

// typed is what somebody typed, with the form that its answer should have, as a person labelled it before Guess was
// written. The form unclear is for questions that a word answers, and for which many expect a few sentences.
type typed struct{ ID, Half, Lang, Prompt, Form string }

const unclear = "either"

// rate counts prompts and those with a wrong form. How wrong: a text asked for as a short answer, or the other way.
type rate struct{ n, wrong int }

func (r *rate) add(wrong bool) {
	r.n++
	if wrong {
		r.wrong++
	}
}

func (r *rate) String() string {
	if r == nil || r.n == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d (%.1f %%)", r.wrong, r.n, 100*float64(r.wrong)/float64(r.n))
}

// rateTable has the rates of prompts, by what should be and by row.
type rateTable map[string]map[string]*rate

func (all rateTable) add(row, column string, wrong bool) {
	if all[row] == nil {
		all[row] = map[string]*rate{}
	}
	if all[row][column] == nil {
		all[row][column] = &rate{}
	}
	all[row][column].add(wrong)
}

// How often Guess takes what wants a text for a short question, and the other way, over 200 prompts in ten languages,
// of which one half was not looked at while Guess was written, and over real prompts. It writes the table of
// docs/use/forms.md.
func TestRates(t *testing.T) {
	own, real := prompts(t, "testdata/prompts.jsonl"), everyday(t)
	if len(own) != 200 {
		t.Fatalf("%d prompts", len(own))
	}
	all := rateTable{}
	for _, x := range append(own, real...) {
		form, _ := Guess(x.Prompt)
		if x.Form == unclear {
			continue
		}
		column := x.Form
		wrong := string(form) != x.Form
		if x.Form != string(synod.Prose) { // which short form is another question
			wrong, column = form == synod.Prose, "short"
			all.add(x.Half, x.Form, string(form) != x.Form)
		}
		all.add(x.Half, column, wrong)
		if x.Half != "everyday" {
			all.add(x.Lang, column, wrong)
			all.add("own", column, wrong)
		}
		all.add("all", column, wrong)
	}
	if len(real) == 0 {
		t.Log("SKIPPED: 399 real prompts are not beside the repository")
		return
	}
	if p := all["all"]["prose"]; float64(p.wrong) > 0.01*float64(p.n) {
		t.Errorf("asked for a short answer: %s of what wants a text", p)
	}
	if p := all["all"]["short"]; float64(p.wrong) > 0.05*float64(p.n) {
		t.Errorf("asked for a text: %s of the short questions", p)
	}
	rates, details := all.table()
	section(t, "../../docs/use/forms.md", rates)
	golden.Compare(t, "testdata/rates.txt", details)
}

// table is the rates as a table in Markdown, and those of each language and form.
func (all rateTable) table() (rates, details string) {
	var s strings.Builder
	const columns = " | texts asked for as a short answer | short questions asked for as a text |\n|---|---|---|\n"
	s.WriteString("| prompts" + columns)
	for _, row := range []struct{ name, key string }{{"own, looked at while it was written", "a"},
		{"own, held out", "b"}, {"real, looked at too", "everyday"}, {"all", "all"}} {
		fmt.Fprintf(&s, "| %s | %s | %s |\n", row.name, all[row.key]["prose"], all[row.key]["short"])
	}
	rates = s.String()
	s.Reset()
	s.WriteString("| language (own prompts)" + columns)
	for _, lang := range []string{"en", "de", "fr", "es", "it", "pt", "nl", "pl", "zh", "ja"} {
		fmt.Fprintf(&s, "| %s | %s | %s |\n", lang, all[lang]["prose"], all[lang]["short"])
	}
	s.WriteString("\n| kind | another form was guessed: own, looked at | own, held out | real |\n|---|---|---|---|\n")
	for _, form := range []synod.Form{synod.Number, synod.Bool, synod.Text, synod.Choice, synod.Math} {
		f := string(form)
		fmt.Fprintf(&s, "| `%s` | %s | %s | %s |\n", f, all["a"][f], all["b"][f], all["everyday"][f])
	}
	return rates, s.String()
}

// section compares what stands between two marks of a page with a text; with -rewrite it writes the text there.
func section(t *testing.T, path, text string) {
	const begins = "<!-- rates of the guess: go test ./llm/read -run TestRates -rewrite -->\n"
	const ends = "<!-- end of the rates -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begins)
	old, after, ended := strings.Cut(rest, ends)
	switch {
	case !found || !ended:
		t.Fatalf("%s has no section for the rates", path)
	case old == text:
	case !*golden.Rewrite:
		t.Errorf("%s has other rates than were measured:\n%s", path, text)
	default:
		if err := os.WriteFile(path, []byte(before+begins+text+ends+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// everyday are the real prompts; none if they are not beside the repository. Those without a label want a text.
func everyday(t *testing.T) []typed {
	text, err := os.ReadFile("testdata/everyday.tsv")
	if err != nil {
		t.Fatal(err)
	}
	all := prompts(t, "../../../shared/data/prompts/everyday.jsonl")
	for line := range strings.Lines(string(text)) {
		id, form, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if i := slices.IndexFunc(all, func(x typed) bool { return x.ID == id }); i >= 0 {
			all[i].Form = form
		}
	}
	for i := range all {
		all[i].Half = "everyday"
		if all[i].Form == "" {
			all[i].Form = string(synod.Prose)
		}
	}
	return all
}

func prompts(t *testing.T, path string) (all []typed) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var x typed
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}
