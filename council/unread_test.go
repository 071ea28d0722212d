package council_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/internal/llmtest"
)

// An outcome says what a member wrote that could not be read, and what helps: a higher limit, another form, or a server
// that enforces a schema. The journal says the same.
func TestUnreadableRepliesAreExplained(t *testing.T) {
	for name, c := range map[string]struct {
		reply, finish, set string
		help               string
	}{
		"cut": {`{"answer": [1, 2]}`, "length", "models.m0.max_tokens=50",
			"raise it for the model m0 (now 50)"},
		"form": {"Answer: forty-two apples and a pear", "stop", "form=number", "check the form"},
		"chats": {strings.Repeat("well ", 100) + "\x1b[31m40 or 42 <|im_end|>", "stop",
			"form=number", "enforces a schema"},
		"fine": {"Answer: 42", "stop", "form=number", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Start(t, stubborn, llmtest.With(func(x *llmtest.Exchange) { x.Text(c.reply, c.finish) }))
			k := convene(t, panelOf(s.URL, "{name: majority}", "s42", "s42"), "f=0", c.set)
			path := filepath.Join(t.TempDir(), "j")
			o := decide(t, k, council.Ask{Journal: path})
			u := o.Members[0].Unreadable
			if c.help == "" {
				if u != nil {
					t.Fatalf("%+v", u)
				}
				return
			}
			if u == nil || u.Replies != 1 || !strings.Contains(u.Help, c.help) || len([]rune(u.End)) > 200 ||
				strings.ContainsAny(u.End, "\x1b\n") || strings.Contains(u.End, "<|im_end|>") {
				t.Fatalf("%+v; want help with %q", u, c.help)
			}
			run, err := journal.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			again := outcome.Judge(k.Plan(), plan.Instance{Question: run.Head.Question, Seed: run.Head.Seed},
				outcome.RecordsOf(k.Plan(), run))
			if got := again.Members[0].Unreadable; got == nil || got.Help != u.Help || got.End != u.End ||
				got.Replies != u.Replies {
				t.Errorf("the journal says %+v; want %+v", got, u)
			}
		})
	}
}

// A score that cannot be read is one reply, in however many rounds the protocol uses it again: the answer of the member
// stays a reply that was read.
func TestUnreadableScoreCountsOnce(t *testing.T) {
	s := llmtest.Start(t, stubborn, llmtest.For("mute42", func(x *llmtest.Exchange) {
		if x.Call.Scoring() {
			x.Text("I cannot say.", "stop")
			return
		}
		x.OK()
	}))
	k := convene(t, panelOf(s.URL, "{name: sac, rounds: 4}", "s42", "s42", "s41", "mute42"), "f=1", "reread=never")
	o := decide(t, k, council.Ask{Seed: 7})
	m := o.Members[3]
	read, unread := m.Calls.Of(synod.OK), m.Calls.Of(synod.Unreadable)
	if m.Unreadable == nil || unread == 0 || unread != m.Unreadable.Replies || read == 0 {
		t.Errorf("%d replies were read and %d not; %+v", read, unread, m.Unreadable)
	}
}

// What a node reports of its unreadable replies is text of another machine: it is cleaned and bounded.
func TestReportedUnreadIsCleaned(t *testing.T) {
	var r outcome.Record
	a := outcome.Account{Unread: &outcome.Unread{Replies: 2, End: strings.Repeat("x", 5000) + "\x1b[2J\n",
		Help: "run this"}}
	if err := r.SetAccount(&a); err != nil {
		t.Fatal(err)
	}
	if u := r.Unread; len(u.End) > 200 || strings.ContainsAny(u.End, "\x1b\n") || u.Help != "" || u.Replies != 2 {
		t.Errorf("%+v", u)
	}
	back := r.Account()
	if !reflect.DeepEqual(*back.Unread, r.Unread) {
		t.Errorf("%+v", back.Unread)
	}
	a.Unread.Cut = -1
	if r.SetAccount(&a) == nil {
		t.Error("a negative count is accepted")
	}
}
