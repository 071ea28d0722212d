package structured_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/llm/structured"
)

// given returns values of seats 0, 1 and so on; "-" is a seat without one.
func given(t testing.TB, texts ...string) (all []structured.Given) {
	t.Helper()
	for i, text := range texts {
		if text != "-" {
			all = append(all, structured.Given{Seat: i, Value: value(t, text), Weight: 1})
		}
	}
	return all
}

// show writes a merge in one line: the value or the reason, then path, how, support and what is withstood.
func show(m structured.Merged) string {
	var b strings.Builder
	if m.Value == nil {
		b.WriteString("none: " + m.Reason)
	} else {
		fmt.Fprintf(&b, "%s ±%d/%d", m.Value, m.Withstands.Ignored, m.Withstands.Changed)
	}
	for _, f := range m.Fields {
		fmt.Fprintf(&b, " | %s %s %d", f.Path, f.How, f.Support)
		switch {
		case f.Absent:
			b.WriteString(" absent")
		case !f.Decided:
			b.WriteString(" open")
		}
		if f.Withstands != nil {
			fmt.Fprintf(&b, " %d/%d", f.Withstands.Ignored, f.Withstands.Changed)
		}
	}
	return b.String()
}

func majority(seats int) int { return seats/2 + 1 }

func TestMerge(t *testing.T) {
	plurality := func(f int) structured.Rule { return structured.Rule{F: f} }
	for _, c := range []struct {
		name, schema string
		rule         structured.Rule
		values, want string
	}{
		{"a vote", `{"type":"string"}`, plurality(1), `"a" "a" "a" "b" "c"`, `"a" ±1/0 |  vote 3 1/0`},
		{"a tie", `{"type":"string"}`, plurality(1), `"a" "a" "b" "b"`,
			`none: the value: a tie: the leading values have 2 supporters each |  vote 2 open`},
		{"no more than F", `{"type":"string"}`, plurality(2), `"a" "a" "b" "c"`,
			`none: the value: the leading value has 2 supporters, and 3 are needed |  vote 2 open`},
		{"a majority of all seats", `{"type":"string"}`, structured.Rule{F: 1, Seats: 7, Need: majority}, `"a" "a" "a" "b" - - -`,
			`none: the value: the leading value has 3 supporters, and 4 are needed |  vote 3 open`},
		{"an enum", `{"enum":["x","y"]}`, plurality(2), `"x" "x" "x" "x" "x" "y" "y"`, `"x" ±2/1 |  vote 5 2/1`},
		{"unanimous by majority", `{"type":"boolean"}`, structured.Rule{F: 1, Seats: 7, Need: majority},
			`true true true true true true true`, `true ±5/3 |  vote 7 5/3`},
		{"unanimous", `{"type":"boolean"}`, plurality(3), `true true true true true true true`,
			`true ±3/3 |  vote 7 3/3`},

		{"the median of an odd number", `{"type":"number"}`, plurality(2), `1 2 3 100 -100`, `2 ±0/0 |  median 5 0/0`},
		{"the lower median", `{"type":"number"}`, plurality(1), `1 2 3 4`, `2 ±0/0 |  median 4 0/0`},
		{"an integer", `{"type":"integer"}`, plurality(1), `1 1 1 7 9`, `1 ±1/0 |  vote 3 1/0`},
		{"integers that differ", `{"type":"integer"}`, plurality(1), `1 2 3 4`,
			`none: the value: a tie: the leading values have 1 supporters each |  vote 1 open`},
		{"the median of integers", `{"type":"integer","x-merge":"median"}`, plurality(1), `1 2 3 4`,
			`2 ±0/0 |  median 4 0/0`},
		{"a median of equal numbers", `{"type":"number"}`, plurality(2), `5 5 5 5.0 5e0 9 0`, `5 ±2/2 |  median 7 2/2`},
		{"too few numbers", `{"type":"number"}`, plurality(2), `5 5 5 5`,
			`none: the value: 4 seats gave a number, and 5 are needed |  median 4 open`},
		{"the trimmed mean", `{"type":"number","x-merge":"trimmed-mean"}`, plurality(1), `1 2 2 4 1000`,
			`2.666667 ±0/0 |  trimmed-mean 5 0/0`},
		{"of integers", `{"type":"integer","x-merge":"trimmed-mean"}`, plurality(1), `1 2 2 4 1000`,
			`3 ±0/0 |  trimmed-mean 5 0/0`},
		{"of numbers that are equal", `{"type":"number","x-merge":"trimmed-mean"}`, plurality(2),
			`7 7 7 7 7 7 -3`, `7 ±2/1 |  trimmed-mean 7 2/1`},
		{"a number by vote", `{"type":"integer","x-merge":"vote"}`, plurality(1), `1999 1999 2001`, `1999 ±0/0 |  vote 2 0/0`},
		{"any number", `{}`, plurality(1), `1 2 2`, `2 ±0/0 |  vote 2 0/0`},

		{"members", `{"type":"object","properties":{"b":{"type":"number"},"a":{"type":"string"}},"required":["b"]}`,
			plurality(1), `{"b":1,"a":"x"} {"b":1,"a":"x"} {"b":2} {"b":1,"a":"x"} {"b":1,"a":"y"}`,
			`{"a":"x","b":1} ±1/0 | /b median 5 2/1 | /a vote 3 1/0`},
		{"an absent member", `{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, plurality(1),
			`{"a":"x"} {"a":"x"} {"a":"x","b":"y"}`, `{"a":"x"} ±0/0 | /a vote 3 1/1 | /b presence 2 absent 0/0`},
		{"an open optional member", `{"properties":{"a":{"type":"string"}}}`, plurality(1), `{"a":"x"} {"a":"y"} {"a":"z"}`,
			`{} ±0/0 | /a vote 1 open |  presence 3 1/1`},
		{"an open required member", `{"properties":{"a":{"type":"string"}},"required":["a"]}`, plurality(1),
			`{"a":"x"} {"a":"y"} {"a":"z"}`,
			`none: /a: a tie: the leading values have 1 supporters each | /a vote 1 open`},
		{"other members", `{"type":"object","additionalProperties":{"type":"integer"}}`, plurality(1),
			`{"p":1,"q":9} {"p":1} {"p":2}`, `{"p":1} ±0/0 | /p vote 2 0/0`},

		{"a set", `{"type":"array","items":{"type":"string"},"uniqueItems":true}`, plurality(1),
			`["a","b"] ["b","a"] ["a","c"]`, `["a","b"] ±0/0 |  set 2 0/0`},
		{"items by position", `{"type":"array","items":{"type":"integer"}}`, plurality(1), `[1,2] [1,3,9] [1,2]`,
			`[1,2] ±0/0 | /0 vote 3 1/1 | /1 vote 2 0/0`},
		{"an empty array", `{"type":"array","items":{}}`, plurality(1), `[] [] [1]`, `[] ±0/0 |  length 3 0/0`},

		{"null or a string", `{"type":["string","null"]}`, plurality(1), `"a" "a" "b" null null`,
			`"a" ±0/0 |  vote 2 0/0`},
		{"an alternative", `{"anyOf":[{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]},
			{"type":"string"}]}`, plurality(1), `{"n":1} {"n":3} {"n":2} "x" "x"`, `{"n":2} ±0/0 | /n median 3 0/0`},
		{"by vote as a whole", `{"type":"object","x-merge":"vote"}`, plurality(1), `{"a":1} {"a":1} {"a":2}`,
			`{"a":1} ±0/0 |  vote 2 0/0`},
		{"references", `{"$ref":"#/$defs/p","$defs":{"p":{"type":"object","properties":{"next":{"$ref":"#/$defs/p"},
			"n":{"type":"integer"}}}}}`, plurality(0), `{"n":1,"next":{"n":2}} {"n":1,"next":{"n":2}}`,
			`{"n":1,"next":{"n":2}} ±1/0 | /next/n vote 2 1/0 | /n vote 2 1/0`},
		{"invalid together", `{"type":"array","items":{"type":"integer"},"minItems":1,"uniqueItems":true,"x-merge":"set"}`,
			plurality(1), `[1] [2] [3]`, `none: the merged value does not follow the schema: the value has 0 items, ` +
				`and at least 1 are needed |  set 3 0/0`},
	} {
		c.rule.Parts = true
		m := schema(t, c.schema).Merge(given(t, strings.Fields(c.values)...), c.rule)
		if got := show(m); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A text that is merged as prose is one seat's own: that of the first of the best graded seats that gave one.
func TestMergeProse(t *testing.T) {
	const s = `{"type":"object","properties":{"n":{"type":"integer"},"text":{"type":"string","x-merge":"prose"}},
		"required":["n"]}`
	in := `{"n":1,"text":"a"} {"n":1} {"n":1,"text":"b"} {"n":1,"text":"c"} {"n":2,"text":"c"}`
	for _, c := range []struct {
		best []int
		want string
	}{
		{[]int{1, 2, 0}, `{"n":1,"text":"b"} ±0/0 | /n vote 4 2/1 | /text prose 4`},
		{[]int{3}, `{"n":1,"text":"c"} ±0/0 | /n vote 4 2/1 | /text prose 4`},
		{nil, `{"n":1} ±0/0 | /n vote 4 2/1 | /text prose 4 open`},
		{[]int{1}, `{"n":1} ±0/0 | /n vote 4 2/1 | /text prose 4 open`},
	} {
		m := schema(t, s).Merge(given(t, strings.Fields(in)...), structured.Rule{F: 1, Best: c.best})
		if got := show(m); got != c.want {
			t.Errorf("%v: %s, want %s", c.best, got, c.want)
		}
		if m.Graded != strings.Contains(c.want, `"text"`) {
			t.Errorf("%v: graded is %v", c.best, m.Graded)
		}
	}
	alone := given(t, `{"n":1,"text":"a"}`, `{"n":1}`, `{"n":1}`)
	if m := schema(t, s).Merge(alone, structured.Rule{F: 1, Best: []int{0}}); m.Value.String() != `{"n":1}` {
		t.Errorf("%s has the text of one seat, and F is 1", m.Value)
	}
}

// Heavier votes win, and whoever is heavier changes what a vote withstands.
func TestWeights(t *testing.T) {
	in := given(t, `"a"`, `"a"`, `"b"`)
	in[0].Weight, in[1].Weight = .3, .3
	s := schema(t, `{"type":"string"}`)
	if got := show(s.Merge(in, structured.Rule{})); got != `"b" ±0/0 |  vote 1 0/0` {
		t.Error(got)
	}
	if m := s.Merge(in, structured.Rule{F: 1}); m.Value != nil {
		t.Errorf("%s has one supporter, and F is 1", m.Value)
	}
	numbers := given(t, `1`, `5`, `6`, `9`, `100`)
	for i := range numbers {
		numbers[i].Weight = .2
	}
	numbers[3].Weight = 1
	if got := show(schema(t, `{"type":"number"}`).Merge(numbers, structured.Rule{F: 1})); got != `9 ±0/0 |  median 5 0/0` {
		t.Error(got)
	}
}

// What a vote with weights withstands is what every change of seats, to any value and to the weights 0 and 1, gives.
func TestWeightsWithstandExhaustively(t *testing.T) {
	s := schema(t, `{"type":"string"}`)
	kinds := []structured.Given{}
	for _, text := range []string{`"a"`, `"b"`, `"c"`} {
		for _, weight := range []float64{0, .25, 1} {
			kinds = append(kinds, structured.Given{Value: value(t, text), Weight: weight})
		}
	}
	kinds = append(kinds, structured.Given{}) // gives no value
	decided := 0
	for n := 1; n <= 4; n++ {
		rule := structured.Rule{Seats: n}
		seats := make([]structured.Given, n)
		each(kinds, seats, 0, func() bool {
			m := s.Merge(present(seats), rule)
			if m.Value == nil {
				return true
			}
			decided++
			for k := 1; k <= min(n, 3); k++ {
				if stays := keeps(s, kinds, seats, rule, m, k, 0); stays != (k <= m.Withstands.Changed) {
					t.Fatalf("%v: %s, and with %d changed the value stays: %v", seats, show(m), k, stays)
				}
			}
			return true
		})
	}
	if decided < 1000 {
		t.Errorf("only %d decided", decided)
	}
}

// each calls f with every way to fill the seats from i on, until it returns false.
func each(kinds, seats []structured.Given, i int, f func() bool) bool {
	if i == len(seats) {
		return f()
	}
	for _, k := range kinds {
		seats[i] = k
		if seats[i].Seat = i; !each(kinds, seats, i+1, f) {
			return false
		}
	}
	return true
}

// present leaves out the seats that give no value.
func present(seats []structured.Given) (in []structured.Given) {
	for _, g := range seats {
		if g.Value != nil {
			in = append(in, g)
		}
	}
	return in
}

// keeps reports whether the value stays the same whatever any k seats from i on say.
func keeps(s *structured.Schema, kinds, seats []structured.Given, rule structured.Rule, m structured.Merged,
	k, i int) bool {
	if k == 0 {
		got := s.Merge(present(seats), rule)
		return got.Value != nil && got.Value.String() == m.Value.String()
	}
	for ; i <= len(seats)-k; i++ {
		was := seats[i]
		for _, other := range kinds {
			seats[i] = other
			if seats[i].Seat = i; !keeps(s, kinds, seats, rule, m, k-1, i+1) {
				seats[i] = was
				return false
			}
		}
		seats[i] = was
	}
	return true
}

// world is one random council: a schema, the values of its seats, and who is Byzantine.
type world struct {
	generator
	schema *structured.Schema
	text   string
	rule   structured.Rule
	seats  []structured.Given // valid values only
	honest map[int]bool
}

// newWorld draws a schema, a value that honest members mostly agree on, and F adversaries that give any
// valid values: the same one, a copy of an honest member's, a variation, or another.
func newWorld(t testing.TB, seed uint64) *world {
	for ; ; seed += 1 << 32 { // of some schemas no value is found
		if w := drawWorld(t, seed); w != nil {
			return w
		}
	}
}

func drawWorld(t testing.TB, seed uint64) *world {
	w := &world{generator: generator{rand.New(rand.NewPCG(seed, 11))}, honest: map[int]bool{}}
	w.text = w.generator.object(3)
	if w.IntN(4) == 0 {
		w.text = w.generator.schema(3)
	}
	if w.IntN(12) == 0 {
		w.text = `{"type":"array","x-key":"id","items":{"type":"object","properties":{"id":{"enum":[1,2,"x"]},"v":` +
			w.generator.schema(1) + `},"required":["id"]}}`
	}
	w.schema = schema(t, w.text)
	n := 1 + w.IntN(9)
	w.rule.F = w.IntN((n-1)/2 + 1)
	if w.IntN(2) == 0 {
		w.rule.Seats, w.rule.Need = n, majority
	}
	truth, ok := w.schema.Sample(w.Rand)
	lie, fine := w.schema.Sample(w.Rand)
	if !ok || !fine {
		return nil
	}
	for i := range n {
		v := truth
		switch w.honest[i] = i >= w.rule.F; {
		case w.honest[i] && w.IntN(3) > 0:
		case w.honest[i]:
			v, _ = w.schema.Vary(truth, w.Rand)
		default:
			v = w.adversary(truth, lie)
		}
		if v != nil && w.IntN(12) > 0 {
			w.seats = append(w.seats, structured.Given{Seat: i, Value: w.schema.Canonical(v, false), Weight: 1})
		}
	}
	return w
}

func (w *world) adversary(truth, lie *structured.Value) (v *structured.Value) {
	switch w.IntN(4) {
	case 0:
		v, _ = w.schema.Vary(truth, w.Rand)
	case 1:
		v, _ = w.schema.Sample(w.Rand)
	case 2:
		v = truth
	default:
		v = lie
	}
	return v
}

// at returns the values that honest members gave at a pointer.
func (w *world) at(pointer string) (all []*structured.Value) {
	for _, g := range w.seats {
		if v := lookup(g.Value, pointer); v != nil && w.honest[g.Seat] {
			all = append(all, v)
		}
	}
	return all
}

// inRecords returns what honest members gave at a pointer into a record, in records with the same id.
func (w *world) inRecords(merged *structured.Value, pointer string) (all []*structured.Value) {
	at, rest, _ := strings.Cut(pointer[1:], "/")
	id := lookup(merged, "/"+at+"/id").String()
	for _, g := range w.seats {
		for i := range g.Value.Items() {
			record := fmt.Sprintf("/%d/", i)
			v := lookup(g.Value, record+rest)
			if v != nil && w.honest[g.Seat] && lookup(g.Value, record+"id").String() == id {
				all = append(all, v)
			}
		}
	}
	return all
}

func lookup(v *structured.Value, pointer string) *structured.Value {
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v.Kind() {
		case structured.Object:
			v = v.Member(token)
		case structured.Array:
			items := v.Items()
			v = nil
			for i := range items {
				if fmt.Sprint(i) == token {
					v = items[i]
				}
			}
		default:
			v = nil
		}
		if v == nil {
			return nil
		}
	}
	return v
}

// runs is how many of n random councils a test plays: all in "make nightly", else a quarter, or fewer.
func runs(n int) uint64 {
	if testing.Short() {
		return uint64(min(n, 300))
	}
	return uint64(nightly.Size(n/4, n))
}

// [must show 4] In 10,000 random schemas, councils and adversaries (runs), of which at most F are Byzantine: the
// merged value follows the schema (by the reference implementation), every number lies between two honest
// ones, every other value was given by an honest member, and the order of the values changes nothing.
func TestMergeUnderAttack(t *testing.T) {
	decided, fields := 0, map[string]int{}
	for seed := range runs(10_000) {
		w := newWorld(t, seed)
		m := w.schema.Merge(w.seats, w.rule)
		w.Shuffle(len(w.seats), func(i, j int) { w.seats[i], w.seats[j] = w.seats[j], w.seats[i] })
		if again := w.schema.Merge(w.seats, w.rule); show(again) != show(m) {
			t.Fatalf("seed %d: %s, and in another order %s", seed, show(m), show(again))
		}
		if m.Value == nil {
			if m.Reason == "" {
				t.Fatalf("seed %d: no decision and no reason", seed)
			}
			continue
		}
		decided++
		if !follows(t, oracle(t, w.text), m.Value.String()) {
			t.Fatalf("seed %d: %s does not follow %s", seed, m.Value, w.text)
		}
		for _, f := range m.Fields {
			if why := w.unfair(m, f); why != "" {
				t.Fatalf("seed %d: schema %s, F = %d, %s: %s", seed, w.text, w.rule.F, show(m), why)
			}
			fields[f.How]++
		}
	}
	if t.Logf("%d of %d decided, fields %v", decided, runs(10_000), fields); testing.Short() {
		return
	}
	if decided < 1000 || fields["vote"] < 500 || fields["median"] < 250 || fields["trimmed-mean"] < 75 ||
		fields["set"] < 25 || fields["together"] < 125 || fields["whole"] < 25 {
		t.Errorf("too few decisions to show anything: %d, fields %v", decided, fields)
	}
}

// unfair says what is wrong with a field; "" if nothing is.
func (w *world) unfair(m structured.Merged, f structured.Field) string {
	if !f.Decided || f.Absent {
		return ""
	}
	if got := lookup(m.Value, f.Path); got == nil || got.String() != f.Value.String() {
		return fmt.Sprintf("field %q is %s, and the value has %v", f.Path, f.Value, got)
	}
	honest := w.at(f.Path)
	if strings.Contains(w.text, "x-key") && len(f.Path) > 0 {
		honest = w.inRecords(m.Value, f.Path)
	}
	switch f.How {
	case "median", "trimmed-mean":
		above, below := false, false
		for _, v := range honest {
			if v.Kind() == structured.Number {
				c := number(v).Cmp(number(f.Value))
				above, below = above || c >= 0, below || c <= 0
			}
		}
		if !above || !below {
			return fmt.Sprintf("%s is %s, honest members gave %v", f.Path, f.Value, honest)
		}
	case "vote":
		if !slices.ContainsFunc(honest, func(v *structured.Value) bool { return v.String() == f.Value.String() }) {
			return fmt.Sprintf("%s is %s, honest members gave %v", f.Path, f.Value, honest)
		}
	case "set":
		for _, item := range f.Value.Items() {
			same := func(x *structured.Value) bool { return x.String() == item.String() }
			has := func(v *structured.Value) bool { return slices.ContainsFunc(v.Items(), same) }
			if !slices.ContainsFunc(honest, has) {
				return fmt.Sprintf("%s has %s, honest members gave %v", f.Path, item, honest)
			}
		}
	}
	return ""
}

func number(v *structured.Value) *big.Rat {
	r, _ := new(big.Rat).SetString(v.String())
	return r
}

// What a merge withstands is true: with so many seats left out, or giving any other valid value, the value
// stays the same.
func TestMergeWithstands(t *testing.T) {
	ignored, changed := 0, 0
	for seed := range runs(6000) {
		w := newWorld(t, seed)
		m := w.schema.Merge(w.seats, w.rule)
		if m.Value == nil {
			continue
		}
		for range 4 {

			w.Shuffle(len(w.seats), func(i, j int) { w.seats[i], w.seats[j] = w.seats[j], w.seats[i] })
			if k := m.Withstands.Ignored; k > 0 {
				ignored++
				less := *w
				less.rule.Seats -= k
				less.same(t, seed, m, w.seats[min(k, len(w.seats)):], fmt.Sprintf("%d seats left out", k))
			}
			if k := m.Withstands.Changed; k > 0 {
				changed++
				other := slices.Clone(w.seats)
				lie, _ := w.schema.Vary(m.Value, w.Rand)
				for i := range min(k, len(other)) {
					if w.IntN(3) == 0 {
						lie, _ = w.schema.Sample(w.Rand)
					}
					if lie != nil {
						other[i].Value = lie
					}
				}
				w.same(t, seed, m, other, fmt.Sprintf("%d seats changed", k))
			}
		}
	}
	if !testing.Short() && (ignored < 750 || changed < 500) {
		t.Errorf("too few attacks: %d and %d", ignored, changed)
	}
}

func (w *world) same(t *testing.T, seed uint64, m structured.Merged, seats []structured.Given, what string) {
	t.Helper()
	got := w.schema.Merge(seats, w.rule)
	if got.Value == nil || got.Value.String() != m.Value.String() {
		t.Fatalf("seed %d: schema %s\n%s\nwith %s: %s", seed, w.text, show(m), what, show(got))
	}
}
