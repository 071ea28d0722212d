package cascade

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/structured"
)

const invoice = `{"type":"object","required":["total"],"additionalProperties":false,"properties":{
	"total":{"type":"number"},"year":{"type":"integer","x-merge":"vote"},"vendor":{"type":"string"},
	"tags":{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true},
	"lines":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}},"paid":{"type":"boolean"}}}`

// bill draws a value of invoice, which is often the same.
func bill(t *testing.T, chance *rand.Rand) *structured.Value {
	t.Helper()
	v := map[string]any{"total": 10 + chance.IntN(2)*chance.IntN(5)}
	if chance.IntN(4) > 0 {
		v["vendor"] = "AB"[chance.IntN(2)*chance.IntN(2):][:1]
	}
	if chance.IntN(3) > 0 {
		v["tags"] = [][]string{{"a"}, {"a", "b"}, {}}[chance.IntN(3)]
	}
	if chance.IntN(3) == 0 {
		v["lines"] = []map[string]any{{"n": chance.IntN(2)}, {"n": 1}}[:chance.IntN(3)]
	}
	if chance.IntN(3) == 0 {
		v["paid"], v["year"] = chance.IntN(2) == 0, 2025+chance.IntN(2)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	value, err := structured.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// ballotOf draws the answers of n members; several give the same one.
func ballotOf(t *testing.T, chance *rand.Rand, n int) []*structured.Value {
	truth, values := bill(t, chance), make([]*structured.Value, n)
	for i := range values {
		switch chance.IntN(8) {
		case 0: // silent
		case 1, 2, 3:
			values[i] = bill(t, chance)
		default:
			values[i] = truth
		}
	}
	return values
}

// mergeOf merges the values of some members.
func mergeOf(s *structured.Schema, values []*structured.Value, of []synod.NodeID, f int) string {
	var in []structured.Given
	for _, id := range of {
		if values[id] != nil {
			in = append(in, structured.Given{Seat: int(id), Value: values[id], Weight: 1})
		}
	}
	m := s.Merge(in, structured.Rule{F: f, Seats: len(values), Need: func(int) int { return 1 }})
	if m.Value == nil {
		return ""
	}
	return m.Value.String()
}

// With stop: certain, the value merged from those asked is the one merged from all, field by field, whatever they say
// and whoever falls silent; it stops before all are asked. With stop: probable, an early stop has a value that more
// than half of those who answered gave whole.
func TestFieldsAreCertain(t *testing.T) {
	s, err := structured.Compile([]byte(invoice), nil)
	if err != nil {
		t.Fatal(err)
	}
	early, likely := 0, 0
	for seed := range uint64(6000) {
		chance := rand.New(rand.NewPCG(seed, 5))
		n := 1 + chance.IntN(9)
		f := chance.IntN((n + 1) / 2)
		values := ballotOf(t, chance, n)
		noted := make([][]*synod.Opinion, n)
		for i, v := range values {
			if v != nil {
				noted[i] = []*synod.Opinion{{Answer: synod.Answer(v.String())}}
			}
		}
		q := &synod.Question{ID: fmt.Sprint(seed), Form: synod.JSON, Schema: json.RawMessage(invoice)}
		p := New()
		p.Weights = map[string][]float64{"json": make([]float64, n)}
		for i := range n {
			p.Weights["json"][i] = 3 * chance.Float64()
		}
		p.Stop = Certain
		d := p.Decide(q, noted, f)
		all := mergeOf(s, values, d.Order, f)
		if got := mergeOf(s, values, d.Order[:d.Asked], f); got != all {
			t.Fatalf("seed %d, F=%d: %d of %d asked give %s, all give %s", seed, f, d.Asked, n, got, all)
		}
		if d.Asked < n {
			early++
		}
		p.Stop = Probable
		if d = p.Decide(q, noted, f); d.Asked < n {
			likely++
			votes, got := 0, mergeOf(s, values, d.Order[:d.Asked], f)
			for _, id := range d.Order[:d.Asked] {
				if values[id] != nil && values[id].String() == got {
					votes++
				}
			}
			if votes <= f || 2*votes <= d.Asked-silentOf(values, d.Order[:d.Asked])+f {
				t.Fatalf("seed %d, F=%d: %d of %d gave %s whole", seed, f, votes, d.Asked, got)
			}
		}
	}
	if early < 500 || likely < early {
		t.Errorf("%d certain and %d probable stops before all were asked", early, likely)
	}
}

func silentOf(values []*structured.Value, of []synod.NodeID) (n int) {
	for _, id := range of {
		if values[id] == nil {
			n++
		}
	}
	return n
}

// A field that is a mean depends on every answer, so certain asks all for it. Too few answers are a lack and no result.
func TestMeansAskAll(t *testing.T) {
	schema := `{"type":"object","properties":{"n":{"type":"number","x-merge":"trimmed-mean"}}}`
	noted := make([][]*synod.Opinion, 5)
	for i := range noted {
		noted[i] = []*synod.Opinion{{Answer: `{"n":1}`}}
	}
	q := &synod.Question{ID: "q", Form: synod.JSON, Schema: json.RawMessage(schema)}
	p := New()
	p.Stop = Certain
	if d := p.Decide(q, noted, 1); d.Asked != 5 || d.Lacking {
		t.Errorf("with a mean: %+v", d)
	}
	q.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}}}`)
	if d := p.Decide(q, noted, 1); d.Asked != 4 {
		t.Errorf("without a mean: %+v", d)
	}
	if d := p.Decide(q, make([][]*synod.Opinion, 5), 1); !d.Lacking {
		t.Errorf("without answers: %+v", d)
	}
}

// Calls of tools are votes on the canonical call: certain decides the one that asking all would.
func TestCallsAreCertain(t *testing.T) {
	calls := []synod.Answer{`{"arguments":{"amount":1},"name":"pay"}`, `{"arguments":{},"name":"wait"}`, synod.None}
	early := 0
	for seed := range uint64(3000) {
		chance := rand.New(rand.NewPCG(seed, 6))
		n := 1 + chance.IntN(9)
		f := chance.IntN((n + 1) / 2)
		votes := make([]synod.Answer, n)
		for i := range votes {
			votes[i] = calls[chance.IntN(3)*chance.IntN(2)]
		}
		p := New()
		p.Stop = Certain
		c := p.convene(&synod.Question{ID: fmt.Sprint(seed), Form: synod.Action}, n, f)
		checkCertain(t, c, votes, &early)
	}
	if early < 300 {
		t.Errorf("%d stops before all were asked", early)
	}
}
