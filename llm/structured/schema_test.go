package structured_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	reference "github.com/santhosh-tekuri/jsonschema/v6"

	"synod.dev/synod/llm/structured"
)

func schema(t testing.TB, text string) *structured.Schema {
	t.Helper()
	s, err := structured.Compile([]byte(text), nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func TestSchemaErrors(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 40) + `{}` + strings.Repeat(`}`, 40)
	for text, want := range map[string]string{
		`7`:                                     "a schema is an object",
		`{"type":"strin"}`:                      "type is",
		`{"type":[]}`:                           "empty list",
		`{"nullable":true}`:                     `"type": ["string", "null"]`,
		`{"if":{}}`:                             "write anyOf",
		`{"$id":"x"}`:                           "$defs",
		`{"requird":[]}`:                        `"requird" is not supported`,
		`{"$ref":"https://example.org/s.json"}`: "only references within the schema",
		`{"$ref":"other.json"}`:                 "only references within the schema",
		`{"$ref":"#/$defs/x"}`:                  "nothing there",
		`{"$ref":"#"}`:                          "refers to itself",
		`{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"allOf":[{"$ref":"#"}]}}}`: "refers to itself",
		`{"pattern":"(?=a)"}`:                                       "pattern cannot be read",
		`{"pattern":"(a{999}){999}"}`:                               "pattern cannot be read",
		`{"enum":[]}`:                                               "not empty",
		`{"minLength":-1}`:                                          "whole number",
		`{"minimum":"1"}`:                                           "must be a number",
		`{"multipleOf":0}`:                                          "above 0",
		`{"x-merge":"mean"}`:                                        "vote, median, trimmed-mean, position, set or prose",
		`{"type":"number","x-merge":"prose"}`:                       "the type is not string",
		`{"type":"string","enum":["a"],"x-merge":"prose"}`:          "the strings are an enum",
		`{"type":"string","x-merge":"median"}`:                      "the type is not number",
		`{"type":"number","x-merge":"set"}`:                         "the type is not array",
		`{"type":"number","multipleOf":1,"x-merge":"trimmed-mean"}`: "multipleOf does not allow",
		`{"items":[{}]}`:                                            "prefixItems",
		`{"properties":{"a":{"type":"x"}}}`:                         "#/properties/a",
		deep:                                                        "nested deeper",
	} {
		if _, err := structured.Compile([]byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v; want %q", text, err, want)
		}
	}
}

func TestValidate(t *testing.T) {
	const order = `{"type":"object","required":["id","items"],"additionalProperties":false,"properties":{
		"id":{"type":"integer","minimum":1},"note":{"type":["string","null"],"maxLength":5},
		"items":{"type":"array","minItems":1,"uniqueItems":true,"items":{"enum":["a","b"]}}}}`
	for text, want := range map[string]string{
		`{"id":1,"items":["a"]}`:                 "",
		`{"id":1.0,"items":["a","b"]}`:           "",
		`{"id":1,"items":["a"],"note":null}`:     "",
		`{"id":1.5,"items":["a"]}`:               "the value at /id is not an integer",
		`{"id":0,"items":["a"]}`:                 "below the minimum 1",
		`{"items":["a"]}`:                        `has no "id"`,
		`{"id":1,"items":[]}`:                    "has 0 items",
		`{"id":1,"items":["a","a"]}`:             "twice",
		`{"id":1,"items":["a","c"]}`:             "the value at /items/1",
		`{"id":1,"items":["a"],"x":0}`:           `the member "x"`,
		`{"id":1,"items":["a"],"note":"123456"}`: "has 6 characters",
		`[]`:                                     "the value is of type array, and must be object",
	} {
		err := schema(t, order).Validate(value(t, text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}

// oracle compiles a schema with the reference implementation.
func oracle(t testing.TB, text string) *reference.Schema {
	t.Helper()
	doc, err := reference.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := reference.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// follows reports whether a value follows a schema by the reference implementation.
func follows(t testing.TB, s *reference.Schema, text string) bool {
	t.Helper()
	v, err := reference.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v) == nil
}

// Every verdict about 20,000 random pairs of schema and value is that of the reference implementation.
func TestReference(t *testing.T) {
	seeds, valid := 2000, 0
	if testing.Short() {
		seeds = 300
	}
	for seed := range uint64(seeds) {
		g := generator{rand.New(rand.NewPCG(seed, 7))}
		text := g.schema(3)
		s, ref := schema(t, text), oracle(t, text)
		for range 10 {
			raw := g.value(3)
			if v, ok := s.Sample(g.Rand); ok && g.IntN(2) == 0 {
				raw = v.String()
			}
			err, want := s.Validate(value(t, raw)), follows(t, ref, raw)
			if (err == nil) != want {
				t.Fatalf("seed %d, schema %s, value %s: %v; the reference says %t", seed, text, raw, err, want)
			}
			if want {
				valid++
			}
		}
	}
	if valid < 5000 && !testing.Short() {
		t.Errorf("only %d of 20,000 values are valid", valid)
	}
}

// A schema that refers to itself twice takes the reference implementation time that doubles with each level
// of the value. Here it takes time in proportion to the value.
func TestValidateIsLinear(t *testing.T) {
	s := schema(t, `{"$ref":"#/$defs/n","$defs":{"n":{"type":"array","allOf":[
		{"items":{"$ref":"#/$defs/n"}},{"items":{"$ref":"#/$defs/n"}}]}}}`)
	v := value(t, strings.Repeat("[", 32)+strings.Repeat("]", 32))
	start := time.Now()
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("validation took %v", took)
	}
}

// generator makes random schemas and values.
type generator struct{ *rand.Rand }

func pick[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

func (g generator) schema(depth int) string {
	most := 9
	if depth == 0 {
		most = 6
	}
	switch g.IntN(most) {
	case 0:
		return pick(g, `{"type":"boolean"}`, `{"type":"null"}`, `{"enum":["red","green","blue"]}`,
			`{"enum":[1,2.5,"x",null]}`)
	case 1:
		return pick(g, `{"type":"integer"}`, `{"type":"integer","minimum":0,"maximum":10}`,
			`{"type":"integer","multipleOf":3,"minimum":3}`, `{"type":"integer","x-merge":"trimmed-mean"}`)
	case 2:
		return pick(g, `{"type":"number"}`, `{"type":"number","minimum":-1,"maximum":1}`,
			`{"type":"number","exclusiveMinimum":0}`, `{"type":"number","x-merge":"trimmed-mean","maximum":50}`,
			`{"type":"number","x-merge":"vote"}`)
	case 3:
		return pick(g, `{"type":"string"}`, `{"type":"string","minLength":2,"maxLength":7}`,
			`{"type":["string","null"]}`, `{"type":"string","pattern":"^v"}`)
	case 4:
		return pick(g, `{"type":["integer","string"]}`, `{"const":"fixed"}`, `{"type":"number","not":{"type":"integer"}}`)
	case 5:
		return pick(g, `true`, `{}`, `{"type":"array"}`, `{"type":"object"}`)
	case 6:
		return fmt.Sprintf(`{"type":"array","items":%s%s}`, g.schema(depth-1),
			pick(g, ``, `,"uniqueItems":true`, `,"maxItems":2`, `,"minItems":1`, `,"x-merge":"set"`))
	case 7:
		return fmt.Sprintf(`{"%s":[%s,%s]}`, pick(g, "anyOf", "oneOf", "allOf"), g.schema(depth-1), g.schema(depth-1))
	}
	return g.object(depth)
}

func (g generator) object(depth int) string {
	var properties, required []string
	for _, name := range []string{"a", "b", "c/d"}[:1+g.IntN(3)] {
		properties = append(properties, fmt.Sprintf("%q:%s", name, g.schema(depth-1)))
		if g.IntN(2) == 0 {
			required = append(required, fmt.Sprintf("%q", name))
		}
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s]%s%s}`, strings.Join(properties, ","),
		strings.Join(required, ","), pick(g, ``, `,"additionalProperties":false`,
			`,"additionalProperties":{"type":"integer"}`, `,"maxProperties":2`,
			`,"propertyNames":{"maxLength":1}`), g.together(len(properties)))
}

// together says of some objects which of their parts belong together.
func (g generator) together(members int) string {
	switch n := g.IntN(8); {
	case n == 0:
		return `,"x-together":true`
	case n == 1 && members > 1:
		return `,"x-together":[["a","b"]]`
	}
	return ""
}

func (g generator) value(depth int) string {
	switch n := g.IntN(8); {
	case n < 6 || depth == 0:
		return pick(g, `null`, `true`, `0`, `1`, `2.5`, `-7`, `9`, `1e2`, `0.25`, `"red"`, `"x"`, `"value 3"`, `"fixed"`,
			`""`)
	case n == 6:
		return `[` + g.value(depth-1) + `,` + g.value(depth-1) + `]`
	}
	v, _ := json.Marshal(map[string]json.RawMessage{pick(g, "a", "b"): json.RawMessage(g.value(depth - 1)),
		pick(g, "c/d", "e"): json.RawMessage(g.value(depth - 1))})
	return string(v)
}

func FuzzCompile(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"anyOf":[{},{"type":"null"}]}}}`),
		[]byte(`{"a":null}`))
	f.Add([]byte(`{"items":{"$ref":"#"},"uniqueItems":true}`), []byte(`[[],[[]]]`))
	f.Fuzz(func(t *testing.T, text, raw []byte) {
		s, err := structured.Compile(text, nil)
		if err != nil {
			return
		}
		v, err := structured.Parse(raw)
		if err != nil || s.Validate(v) != nil {
			return
		}
		same := []structured.Given{{Seat: 0, Value: v, Weight: 1}, {Seat: 1, Value: v, Weight: 1},
			{Seat: 2, Value: v, Weight: 1}}
		if m := s.Merge(same, structured.Rule{F: 1}); m.Value != nil && s.Validate(m.Value) != nil {
			t.Fatalf("%s: three times %s merge to %s", text, v, m.Value)
		}
		s.Canonical(v, true)
	})
}
