package council_test

import (
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/internal/llmtest"
)

// A value that no member gave says so, and is no decision with compose: never, nor if the schema has a check that it
// does not meet.
func TestComposed(t *testing.T) {
	sums := []string{`{"net":100,"vat":19,"gross":119}`, `{"net":100,"vat":7,"gross":107}`,
		`{"net":112,"vat":7,"gross":119}`}
	const schema = `{"type":"object","properties":{"net":{"type":"integer"},"vat":{"type":"integer"},` +
		`"gross":{"type":"integer"}},"required":["net","vat","gross"]%s}`
	s := llmtest.Start(t, verbatim)
	for _, c := range []struct{ more, check, status, reason string }{
		{"", "", outcome.Agreed, "no member gave this whole value"},
		{"compose: never\n", "", outcome.Undecided, "compose is never"},
		{"", `,"x-check":"net + vat == gross"`, outcome.Undecided, "does not meet x-check"},
		{"", `,"x-together":[["net","vat","gross"]]`, outcome.Undecided, "/net and what belongs to it"},
	} {
		q := synod.Question{ID: "q", Text: "Read the invoice.", Form: synod.JSON,
			Schema: []byte(strings.Replace(schema, "%s", c.check, 1))}
		plan := convene(t, c.more+saying(s.URL, "majority", 1, "plurality", sums...))
		o := decide(t, plan, council.Ask{Question: q})
		if o.Status != c.status || !strings.Contains(o.Reason, c.reason) {
			t.Errorf("%q, %q: %s: %s", c.more, c.check, o.Status, o.Reason)
		}
		if composed := o.Composed != nil && *o.Composed; composed != (c.status == outcome.Agreed) {
			t.Errorf("%q, %q: composed is %v", c.more, c.check, o.Composed)
		}
	}
}
