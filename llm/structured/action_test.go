package structured_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/llm/structured"
)

// weather and orders are the tools of these tests.
func tools(t testing.TB) structured.Tools {
	return structured.Tools{
		{Name: "weather", Parameters: schema(t, `{"type":"object","additionalProperties":false,"required":["city"],
			"properties":{"city":{"type":"string"},"unit":{"enum":["C","F"],"default":"C"},
			"days":{"type":"array","items":{"type":"integer"},"uniqueItems":true}}}`)},
		{Name: "pay", Parameters: schema(t, `{"type":"object","required":["amount"],"properties":{
			"amount":{"type":"number","x-tolerance":0.5},"to":{"type":"object","properties":{
			"x":{"type":"number","x-tolerance":0.01}}}}}`)},
	}
}

func TestCall(t *testing.T) {
	for text, want := range map[string]string{
		`{"arguments":{"unit":"F","city":"Rome"},"name":"weather"}`:      `{"arguments":{"city":"Rome","unit":"F"},"name":"weather"}`,
		`{"name":"weather","arguments":{"city":"Rome"}}`:                 `{"arguments":{"city":"Rome","unit":"C"},"name":"weather"}`,
		`{"name":"weather","arguments":{"city":"Rome","days":[3,1,2]}}`:  `{"arguments":{"city":"Rome","days":[1,2,3],"unit":"C"},"name":"weather"}`,
		`{"name":"pay","arguments":{"amount":1.50e1}}`:                   `{"arguments":{"amount":15},"name":"pay"}`,
		`{"name":"pay","arguments":"{\"amount\": 2}"}`:                   `{"arguments":{"amount":2},"name":"pay"}`,
		`{"name":"pay","arguments":"two"}`:                               "broken JSON",
		`{"name":"wether","arguments":{"city":"Rome"}}`:                  `there is no tool "wether"`,
		`{"name":"weather"}`:                                             `has no "city"`,
		`{"name":"weather","arguments":{"city":"Rome","x":1}}`:           `the member "x"`,
		`{"name":"weather","arguments":{"city":"Rome","days":[1,1.0]}}`:  "twice",
		`{"name":"weather","arguments":{"city":"Rome"},"arguments2":{}}`: "name and arguments",
		`["weather"]`:      "a call is an object",
		`{"arguments":{}}`: "names no tool",
	} {
		v, err := tools(t).Call(value(t, text))
		if got := fmt.Sprint(v, err); !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}

// Calls whose numbers are near are one call, whatever their order; a chain of near calls is one too.
func TestJoin(t *testing.T) {
	pay := func(amount, x float64) string {
		return fmt.Sprintf(`{"name":"pay","arguments":{"amount":%v,"to":{"x":%v}}}`, amount, x)
	}
	texts := []string{pay(10, 1), pay(10.4, 1), pay(10.9, 1.005), pay(10.9, 2), pay(12, 1), "",
		`{"name":"weather","arguments":{"city":"Rome"}}`, `{"name":"pay","arguments":{"amount":10}}`}
	want := []string{pay(10.4, 1), pay(10.4, 1), pay(10.4, 1), pay(10.9, 2), pay(12, 1), "",
		`{"arguments":{"city":"Rome","unit":"C"},"name":"weather"}`, `{"arguments":{"amount":10},"name":"pay"}`}
	for seed := range uint64(50) {
		order := rand.New(rand.NewPCG(seed, 3)).Perm(len(texts))
		calls := make([]*structured.Value, len(texts))
		for i, k := range order {
			if texts[k] == "" {
				continue
			}
			v, err := tools(t).Call(value(t, texts[k]))
			if err != nil {
				t.Fatal(err)
			}
			calls[i] = v
		}
		for i, got := range tools(t).Join(calls) {
			k := order[i]
			if want[k] == "" {
				if got != nil {
					t.Errorf("a call came of nothing: %s", got)
				}
			} else if got.String() != value(t, want[k]).String() {
				t.Errorf("order %v: %s stands for %s; want %s", order, got, texts[k], want[k])
			}
		}
	}
}

// What a vote withstands whose weights are claims up to 1 is what package robust computes.
func TestSameAsRobust(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		var in []structured.Given
		var voices []robust.Voice
		for i := range 1 + r.IntN(9) {
			text := string('a' + rune(r.IntN(3)))
			weight := 1 + r.IntN(4)
			in = append(in, structured.Given{Seat: i, Value: value(t, `"`+text+`"`), Weight: float64(weight) / 4})
			voices = append(voices, robust.Voice{Answer: synod.Answer(`"` + text + `"`), Weight: int64(weight)})
		}
		f := r.IntN(3)
		m := schema(t, `{"type":"string"}`).Merge(in, structured.Rule{F: f})
		if m.Value == nil {
			continue
		}
		rule := robust.VoteRule{Name: robust.Plurality, Claim: 4}
		want, wins := robust.Withstands(rule, voices, synod.Answer(m.Value.String()))
		own := 0
		for _, v := range voices {
			if v.Answer == synod.Answer(m.Value.String()) {
				own++
			}
		}
		want = want.AtMost(robust.Spare(slices.Repeat([]int{1}, own), f+1))
		if !wins || m.Withstands != structured.Withstands(want) {
			t.Fatalf("seed %d: %v, %v; robust says %v, %t", seed, voices, m.Withstands, want, wins)
		}
	}
}

func FuzzCall(f *testing.F) {
	f.Add([]byte(`{"name":"pay","arguments":{"amount":1,"to":{"x":1e-300}}}`), []byte(`{"name":"weather"}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		all := tools(t)
		var calls []*structured.Value
		for _, text := range [][]byte{a, b} {
			v, err := structured.Parse(text)
			if err != nil {
				return
			}
			c, err := all.Call(v)
			if err != nil {
				return
			}
			if again, err := all.Call(c); err != nil || again.String() != c.String() {
				t.Fatalf("%s is canonical as %s, and then as %v, %v", v, c, again, err)
			}
			calls = append(calls, c)
		}
		for _, c := range all.Join(calls) {
			if _, err := all.Call(c); err != nil {
				t.Fatalf("a joined call: %v", err)
			}
		}
	})
}
