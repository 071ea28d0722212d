package council

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

func parsed(t *testing.T, text string) plan.Spec {
	t.Helper()
	spec, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// planOf returns the plan of a council of simulated members, with more text of the file.
func planOf(t *testing.T, seats int, more string) *plan.Plan {
	t.Helper()
	p, err := plan.New(parsed(t, fmt.Sprintf(
		"models: {d: {provider: simulated}}\nseats: [{id: a, model: d, count: %d}]\n%s", seats, more)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// heard makes the notes of one tick from the answers of the seats in order, such as "1 2 -", in which - is no
// answer and a dot a seat that notes nothing.
func heard(round int, answers string) (notes []sim.Noted) {
	for i, a := range strings.Fields(answers) {
		switch a {
		case ".":
			continue
		case "-":
			a = ""
		}
		notes = append(notes, sim.Noted{Node: synod.NodeID(i), Opinion: &synod.Opinion{Round: round,
			Answer: synod.Answer(a)}})
	}
	return notes
}

// voiced is the plan of a council with one seat for each letter: equal letters are one model at one server.
func voiced(t *testing.T, models, more string) *plan.Plan {
	t.Helper()
	var b strings.Builder
	b.WriteString(more + "models:\n")
	for i, m := range models {
		if strings.IndexRune(models, m) == i {
			fmt.Fprintf(&b, "  %c: {provider: openai, url: 'http://127.0.0.1:1/v1', model: %c}\n", m, m)
		}
	}
	b.WriteString("seats:\n")
	for i, m := range models {
		fmt.Fprintf(&b, "  - {id: s%d, model: %c}\n", i, m)
	}
	p, err := plan.New(parsed(t, b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Seven seats of one model are one voice: in support, in what a decision withstands, and in the bound.
func TestSevenSeatsOfOneModel(t *testing.T) {
	for _, c := range []struct {
		models, more  string
		voices, bound int
		ignored       int
	}{
		{"aaaaaaa", "", 1, 0, 0}, {"aaaaaaa", "voices: seats\n", 7, 3, 6}, {"abcdefg", "", 7, 3, 6},
		{"aaabbcd", "", 4, 1, 3},
	} {
		p := voiced(t, c.models, c.more+"f: 3\nprotocol: {name: majority}\nrule: {name: plurality}\n")
		records := make([]outcome.Record, 7)
		for i := range records {
			records[i] = outcome.Record{Seat: synod.NodeID(i),
				Opinions: []outcome.Noted{{Opinion: &synod.Opinion{Answer: "42"}}},
				Stopped:  "rounds"}
		}
		o := outcome.Judge(p, plan.Instance{Question: synod.Question{Text: "?", Form: synod.Number}}, records)
		if o.Voices != c.voices || o.Votes[0].Independent != c.voices || o.Bound.Voices != c.bound ||
			o.Withstands == nil || o.Withstands.Ignored != c.ignored || len(o.Votes[0].Seats) != 7 {
			t.Errorf("%s %s: %d voices, %+v, bound %d, %+v", c.models, c.more, o.Voices, o.Votes[0], o.Bound.Voices,
				o.Withstands)
		}
	}
	p := voiced(t, "aaaaaaa", "f: 3\nrule: {name: majority, support: 2}\n")
	if _, err := Open(p, Options{}); err == nil || !strings.Contains(err.Error(), "1 voice") {
		t.Errorf("support of two voices is accepted where there is one: %v", err)
	}
	if b := voiced(t, "aaaaaaa", "f: 3\n").Bound(); !strings.Contains(b.Note, "1 voice") ||
		!strings.Contains(b.Note, "at most 0 hostile voices") {
		t.Errorf("%s", b.Note)
	}
}

// seven is a council of seven simulated members.
func seven(more string) string {
	return more + "\nf: 2\nmodels: {m: {provider: simulated, ability: 0.7}}\nseats: [{id: a, model: m, count: 7}]\n"
}

// A record of a run that was made before there were commitments has none, so its journal replays; one that is made now
// has the switch.
func TestRecordsBeforeCommitments(t *testing.T) {
	for _, form := range []string{"", "\ndefences: {commit: off}"} {
		c, err := Convene(parsed(t, seven("protocol: {name: sac, rounds: 2}"+form)), llm.Env{})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "run.jsonl")
		o, err := c.Decide(t.Context(), Ask{Question: synod.Question{Text: "What is 17 + 25?", Form: synod.Number},
			Seed: 5, Journal: path})
		if err != nil {
			t.Fatal(err)
		}
		run, err := journal.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{`  commit: \"on\"\n`, `  commit: \"off\"\n`, `  commit: on\n`,
			`  commit: off\n`} {
			run.Head.Spec = []byte(strings.Replace(string(run.Head.Spec), line, "", 1))
		}
		if strings.Contains(string(run.Head.Spec), "commit:") {
			t.Fatalf("the record still has the switch: %s", run.Head.Spec)
		}
		digest, err := Replay(run)
		if replays := err == nil && digest == o.Digest; replays != (form != "") {
			t.Errorf("%q: without the switch the record replays to %q: %v", form, digest, err)
		}
		c.Close()
	}
}
