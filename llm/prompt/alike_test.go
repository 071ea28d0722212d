package prompt

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"synod.dev/synod"
)

// The text of a prompt that asks the same of another seat is the one that Render makes: with its own borders, and
// nothing else of the first.
func TestLike(t *testing.T) {
	all, err := NewTemplates("test", fstest.MapFS{"t.tmpl": {Data: []byte(`{{define "system"}}S{{end}}{{define "user"}}` +
		`{{.Asked}} {{.Quote .Own}} {{range .Peers}}{{$.Quote .Answer}} {{if .Rationale}}{{$.Fence .Rationale}}{{end}}{{end}}` +
		`{{if .Rationale}}{{.Fence .Rationale}}{{end}}{{end}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	plain := &synod.Question{Text: "Is it?", Form: synod.Text}
	talk := &synod.Question{Text: "And now?", Form: synod.Text, Before: []synod.Turn{{Role: synod.ByUser, Text: "a"},
		{Role: synod.ByAssistant, Text: "b"}}}
	for _, q := range []*synod.Question{plain, talk} {
		for _, p := range []synod.Prompt{
			{Own: "x"}, {Own: "x", Rationale: "since 0000000000000 >> and <<"},
			{Own: "x", Unfenced: true, Rationale: "r"},
			{Peers: []synod.Rated{{Answer: "a", Rationale: "r1"}, {Answer: "b", Score: 0.5, Rationale: "r2"}}},
			{Own: "paris", Spelling: map[synod.Answer]string{"paris": "Paris"}},
		} {
			p.Template, p.Purpose, p.Question, p.Seed, p.Nonce = "test/t", synod.Refining, q, 1, 7
			kept, err := all.Keep(&p)
			if err != nil {
				t.Fatal(err)
			}
			other := p
			other.Seed, other.Nonce = 2, 8
			want, err := all.Render(&other)
			if got := all.Like(&other, kept); err != nil || !all.Alike(&p, &other) || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v\nwant %+v, %v", got, want, err)
			}
			first, _ := all.Render(&p)
			fenced := !p.Unfenced && (p.Rationale != "" || len(p.Peers) > 0) || q == talk
			if fenced != (first.User != want.User) || fenced != kept.fenced {
				t.Errorf("fenced %t: %q, %q", fenced, first.User, want.User)
			}
		}
	}
}

// Whatever is shown or wanted differently makes a text of its own.
func TestNotAlike(t *testing.T) {
	all, err := NewTemplates("test", fstest.MapFS{"t.tmpl": {Data: []byte(
		`{{define "system"}}{{end}}{{define "user"}}{{end}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	p := synod.Prompt{Template: "test/t", Question: &synod.Question{Text: "Q"}, Own: "a"}
	if q := p; !all.Alike(&p, &q) {
		t.Fatal("equal prompts are not alike")
	}
	for what, change := range map[string]func(*synod.Prompt){
		"own":      func(q *synod.Prompt) { q.Own = "b" },
		"question": func(q *synod.Prompt) { q.Question = &synod.Question{Text: "R"} },
		"unread":   func(q *synod.Prompt) { q.Unread = "x" }, "plain": func(q *synod.Prompt) { q.Plain = true },
		"unfenced": func(q *synod.Prompt) { q.Unfenced = true }, "raw": func(q *synod.Prompt) { q.Raw = true },
		"spelling":  func(q *synod.Prompt) { q.Spelling = map[synod.Answer]string{"a": "A"} },
		"rationale": func(q *synod.Prompt) { q.Rationale = "r" },
		"goal":      func(q *synod.Prompt) { q.Goal = synod.Persuade },
		"peers":     func(q *synod.Prompt) { q.Peers = []synod.Rated{{Answer: "b"}} },
	} {
		q := p
		change(&q)
		if all.Alike(&p, &q) || all.Alike(&q, &p) {
			t.Error(what)
		}
	}
	all.guarded["test/t"] = true
	if all.Alike(&p, &p) {
		t.Error("a user's template may show what differs")
	}
	if strings.Contains(borders(1)[0], borders(1)[1]) {
		t.Error("one border holds the other")
	}
}
