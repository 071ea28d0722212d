package outcome

import (
	"slices"
	"testing"

	"synod.dev/synod"
)

// A member without an answer says why.
func TestWhyMembersLackAnAnswer(t *testing.T) {
	four := synod.Answer("4")
	count := func(all ...synod.Status) (c StatusCount) {
		for _, s := range all {
			c = c.with(s)
		}
		return c
	}
	for want, m := range map[string]Member{
		"it was not asked":    {},
		"the key was refused": {Trouble: "the key was refused", First: &four},
		"it gave an answer first, but has none at the end":   {First: &four, Calls: count(synod.OK)},
		"it answered, and none of its answers could be read": {Calls: count(synod.Unreadable)},
		"none of its calls was answered":                     {Calls: count(synod.Dropped, synod.Timeout)},
	} {
		if got := m.Lacking(); got != want {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
	if m := (&Member{Calls: count(synod.OK, synod.Timeout)}); m.Lacking() != "it answered, and none of its answers "+
		"could be read" {
		t.Error(m.Lacking())
	}
}

// Advice about failures comes once a model, for members none of whose calls succeeded.
func TestRemedies(t *testing.T) {
	refused := StatusCount{}.with(synod.Auth)
	o := Outcome{Members: []Member{
		{ID: "a", Model: "m", Calls: refused, Trouble: "401"}, {ID: "b", Model: "m", Calls: refused, Trouble: "401"},
		{ID: "c", Model: "n", Calls: refused.with(synod.OK), Trouble: "401"}, {ID: "d", Model: "o"},
		{ID: "e", Model: "p", Calls: refused.with(synod.Timeout), Trouble: "401"},
	}}
	r := o.Remedies()
	if len(r) != 2 || !slices.Equal(r[0].For, []string{"m"}) || !slices.Equal(r[1].For, []string{"p"}) {
		t.Errorf("advice: %+v", r)
	}
	if none := (&Outcome{}).Remedies(); none != nil {
		t.Errorf("advice about nobody: %+v", none)
	}
}
