package structured_test

import (
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/llm/structured"
)

// A whole value that enough seats gave wins; parts that belong together, and records, are decided at once; a
// combination that F seats or fewer gave is none.
func TestWholes(t *testing.T) {
	const invoice = `{"type":"object","properties":{"vendor":{"type":"string"},"vat_id":{"type":"string"},` +
		`"total":{"type":"number"}},"required":["vendor","vat_id","total"]%s}`
	invoices := `{"vendor":"Acme","vat_id":"DE01","total":118.5} {"vendor":"Acme","vat_id":"DE01","total":118.5} ` +
		`{"vendor":"Acme","vat_id":"DE01","total":118.5} {"vendor":"Ltd","vat_id":"GB77","total":99} ` +
		`{"vendor":"Ltd","vat_id":"GB77","total":99} {"vendor":"Acme","vat_id":"GB77","total":118.5} ` +
		`{"vendor":"Acme","vat_id":"GB77","total":118.5}`
	mixed := strings.Replace(invoices, `"DE01","total":118.5}`, `"FR01","total":118.5}`, 1)
	sums := `{"type":"object","properties":{"net":{"type":"integer"},"vat":{"type":"integer"},"gross":{"type":"integer"}}%s}`
	nobody := `{"net":100,"vat":19,"gross":119} {"net":100,"vat":7,"gross":107} {"net":112,"vat":7,"gross":119}`
	records := `{"type":"array","x-key":"id","items":{"type":"object","properties":{"id":{"type":"integer"},` +
		`"v":{"type":"string"}},"required":["id"]}}`
	for _, c := range []struct {
		name, schema, values, want string
		f                          int
	}{
		{"three, two, and two liars", strings.Replace(invoice, "%s", "", 1), invoices,
			`{"total":118.5,"vat_id":"DE01","vendor":"Acme"} ±0/0 |  whole 3 0/0`, 2},
		{"the liars' combination", strings.Replace(invoice, "%s", "", 1), mixed,
			`none: its parts have enough supporters each, but 2 seats gave them together, and more than F = 2 are needed: ` +
				`honest members may have given none of these combinations | /vendor vote 5 2/1 | /vat_id vote 4 1/0 | ` +
				`/total median 7 2/1`, 2},
		{"what belongs together", strings.Replace(invoice, "%s", `,"x-together":[["vendor","vat_id"]]`, 1), mixed,
			`none: /vendor and what belongs to it: a tie: the leading values have 2 supporters each | ` +
				`/vendor together 2 open | /vat_id together 2 open | /total median 7 2/1`, 2},
		{"all belongs together", strings.Replace(sums, "%s", `,"x-together":true`, 1), nobody,
			`none: the value: a tie: the leading values have 1 supporters each |  vote 1 open`, 0},
		{"nobody's value", strings.Replace(sums, "%s", "", 1), nobody,
			`{"gross":119,"net":100,"vat":7} ±0/0 | /net vote 2 0/0 | /vat vote 2 0/0 | /gross vote 2 0/0`, 1},
		{"records", records, `[{"id":1,"v":"a"},{"id":2,"v":"b"}] [{"id":2,"v":"b"},{"id":1,"v":"c"}] [{"id":1,"v":"a"}]`,
			`[{"id":1,"v":"a"},{"id":2,"v":"b"}] ±0/0 | /0/id vote 3 2/1 | /0/v vote 2 0/0 | /1/id vote 2 0/0 | ` +
				`/1/v vote 2 0/0`, 0},
	} {
		m := schema(t, c.schema).Merge(given(t, strings.Fields(c.values)...), structured.Rule{F: c.f})
		if got := show(m); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if composed := c.name == "nobody's value"; m.Composed != composed {
			t.Errorf("%s: composed is %v", c.name, m.Composed)
		}
	}
}

// [must show 5 of JSON merges] In 10,000 random schemas, councils and adversaries (runs) no value is decided that only
// Byzantine seats gave, numbers that are combined and sets apart. The merge by parts alone is the control.
func TestNoValueOfLiars(t *testing.T) {
	var liars, numbers, open, decided [2]int // by parts alone, and as it is
	lost, gained := 0, 0
	for seed := range runs(10_000) {
		w := newWorld(t, seed)
		before := false
		for i, parts := range []bool{true, false} {
			w.rule.Parts = parts
			m := w.schema.Merge(w.seats, w.rule)
			switch has := m.Value != nil; {
			case parts:
				before = has
			case before && !has:
				lost++
			case has && !before:
				gained++
			}
			if m.Value == nil || m.Value.Kind() != structured.Object && m.Value.Kind() != structured.Array {
				continue
			}
			decided[i]++
			honest, lied := 0, 0
			for _, g := range w.seats {
				switch {
				case g.Value.String() != m.Value.String():
				case w.honest[g.Seat]:
					honest++
				default:
					lied++
				}
			}
			if honest > 0 || lied == 0 {
				continue
			}
			switch {
			case combines(m):
				numbers[i]++
			case leavesOut(m):
				open[i]++
			default:
				if liars[i]++; !parts {
					t.Errorf("seed %d: F = %d, schema %s: only liars gave %s", seed, w.rule.F, w.text, show(m))
				}
			}
		}
	}
	t.Logf("objects and arrays decided: %d by parts alone, %d as it is; that only liars gave: %d and %d; with "+
		"combined numbers or sets %d and %d; without an undecided part %d and %d", decided[0], decided[1], liars[0],
		liars[1], numbers[0], numbers[1], open[0], open[1])
	t.Logf("%d decisions of %d are lost, %d are gained", lost, runs(10_000), gained)
	if !testing.Short() && liars[0] == 0 {
		t.Error("no merge by parts alone gives a value of liars: the test shows nothing")
	}
}

// combines reports whether a value has a number that is the median or the mean of several, or a set of items that were
// decided one by one.
func combines(m structured.Merged) bool {
	return slices.ContainsFunc(m.Fields, func(f structured.Field) bool {
		return f.Decided && slices.Contains([]string{"median", "trimmed-mean", "set"}, f.How)
	})
}

// leavesOut reports whether a value is without a part that is undecided.
func leavesOut(m structured.Merged) bool {
	return slices.ContainsFunc(m.Fields, func(f structured.Field) bool { return !f.Decided && !f.Absent })
}

// Keywords that contradict the schema are errors that name the place.
func TestPartsErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"object","properties":{"a":{}},"x-together":[["a","b"]]}`: `x-together names "b", which is not among`,
		`{"type":"object","x-together":"a"}`:                               "x-together must be true, or a list of lists",
		`{"type":"object","properties":{"a":{}},"x-together":[["a"]]}`:     "two names or more",
		`{"type":"object","x-key":"id"}`:                                   "the type is not array",
		`{"type":"array","x-key":"id","x-merge":"set"}`:                    "leave one out",
		`{"type":"string","x-check":"true"}`:                               "the type is not object",
	} {
		if _, err := structured.Compile([]byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	keyed := schema(t, `{"type":"array","x-key":"id","items":{"type":"object"}}`)
	for _, text := range []string{`[{"id":1},{"id":1}]`, `[{"id":1},{}]`, `[{"id":1},2]`} {
		if keyed.Validate(value(t, text)) == nil {
			t.Errorf("%s follows", text)
		}
	}
}
