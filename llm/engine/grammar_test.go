package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/llm/structured"
)

func TestGrammarText(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"type":"boolean"}`, "root ::= (\"true\" | \"false\")\n"},
		{`{"enum":["a\"b",1,true]}`, `root ::= ("\"a\\\"b\"" | "1" | "true")` + "\n"},
		{`{"type":"object","properties":{}}`, "r0 ::= \"{}\"\nroot ::= r0\n"},
		{`{"type":"null"}`, "root ::= \"null\"\n"},
		{`{"type":["boolean","null"]}`, "root ::= ((\"true\" | \"false\") | \"null\")\n"},
		{`{"anyOf":[{"enum":["a",null]},{"type":"boolean"}]}`, `root ::= (("\"a\"" | "null") | ("true" | "false"))` + "\n"},
		{`{"type":"string","pattern":"^[A-C]{2}-\\d+$"}`,
			`r0 ::= "\"" ((([A-C])){2,2} (([\x2d-\x2d])) (([0-9])){1,64}) "\""` + "\nroot ::= r0\n"},
		{`{"type":"array","maxItems":2,"items":{"$ref":"#/$defs/n"},"$defs":{"n":{"anyOf":[{"type":"null"},` +
			`{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}]}}}`,
			"r0 ::= \"{\\\"next\\\":\" ref0 \"}\"\nref0 ::= (\"null\" | r0)\nr1 ::= ref0\n" +
				"r2 ::= \"[\" (r1 (\",\" r1){0,1})? \"]\"\n" +
				"root ::= r2\n"},
		{`{"type":"integer","minimum":1,"maximum":3}`, "r0 ::= \"1\" | \"2\" | \"3\"\nroot ::= r0\n"},
		{`{"type":"number","minimum":0,"maximum":1}`, `r0 ::= "0" ("." [0-9]{1,4})? | "1"` + "\nroot ::= r0\n"},
		{
			`{"type":"object","properties":{"b":{"type":"boolean"},"a":{"const":"x"}},` +
				`"required":["a"],"additionalProperties":false}`,
			`r0 ::= "{\"b\":" ("true" | "false") ",\"a\":" ("\"x\"") "}"` + "\nroot ::= r0\n",
		},
	} {
		if got, err := Grammar([]byte(c.schema)); err != nil || got != c.want {
			t.Errorf("%s:\n%s%v; want\n%s", c.schema, got, err, c.want)
		}
	}
}

func TestUnsupportedSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		``:                                    "broken JSON",
		`[]`:                                  "not a JSON object",
		`{"type":"string"`:                    "schema at root",
		`{} {}`:                               "broken JSON",
		`{}`:                                  "no type",
		`{"type":"set"}`:                      `type "set" is not supported`,
		`{"type":["string",1]}`:               "must be a string",
		`{"type":"string","pattern":"a\\b"}`:  "only characters, classes, groups",
		`{"type":"string","pattern":"("}`:     "missing closing",
		`{"type":"string","pattern":"^\\n$"}`: "control characters",
		`{"type":"string","pattern":"((a+)+b)+"}`: "repeats a part more than 1000 times",
		`{"anyOf":[]}`:                   "anyOf must be a list that is not empty",
		`{"type":"string","anyOf":[{}]}`: "schema at root.anyOf[0]: no type",
		`{"type":"string","$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}`: "must stand alone",
		`{"$ref":"other.json"}`: "must be # or begin with #/",
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`: "contains itself without an end",
		`{"$ref":"#/$defs/n","$defs":{"n":{"$ref":"#/$defs/n"}}}`:                                         "contains itself without an end",
		`{"type":"object","allOf":[{}]}`:                                                                  `"allOf" is not supported`,
		`{"type":"string","maxLength":5000}`:                                                              "length from 0 to 5000",
		`{"type":"string","maxLength":-1}`:                                                                "maxLength",
		`{"type":"string","minLength":9,"maxLength":3}`:                                                   "length from 9 to 3",
		`{"type":"string","maxLength":"9"}`:                                                               "must be a whole number",
		`{"type":"array"}`:                                                                                "needs items",
		`{"type":"number","minimum":1}`:                                                                   "both bounds",
		`{"type":"number","minimum":-1,"maximum":1}`:                                                      "cannot be negative",
		`{"type":"integer","minimum":0,"maximum":100000}`:                                                 "wide",
		`{"type":"integer","minimum":0.5,"maximum":2}`:                                                    "whole number",
		`{"enum":[]}`:                  "not empty",
		`{"enum":[[]]}`:                "not a string, number, boolean or null",
		`{"type":"string","enum":[1]}`: "not of type string",
		`{"$ref":"#/x"}`:               "nothing is there",
		`{"type":"object","properties":{"a":{"type":"boolean"},"a":{"type":"boolean"}}}`: `"a" is repeated`,
		`{"type":"object","properties":{"a":{"oneOf":[]}}}`:                              "root.a",
	} {
		if g, err := Grammar([]byte(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q", schema, g, err, want)
		}
	}
	deep := strings.Repeat(`{"type":"array","items":`, 20) + `{"type":"boolean"}` + strings.Repeat("}", 20)
	if _, err := Grammar([]byte(deep)); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Error(err)
	}
}

// For each schema there is either a grammar or an error, and the grammar has no control
// characters of the schema.
func FuzzGrammar(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string","maxLength":9},` +
		`"b":{"type":"array","items":{"type":"number"}}}}`)
	f.Add(`{"enum":["\n\"\\",1e9,false]}`)
	f.Add(`{"type":"object","properties":{"\"\n\\":{"const":"\u0000"}}}`)
	f.Fuzz(func(t *testing.T, s string) {
		g, err := Grammar([]byte(s))
		if (err == nil) != (g != "") {
			t.Fatal(g, err)
		}
		for _, r := range g {
			if unicode.IsControl(r) && r != '\n' {
				t.Fatalf("control character %q in %q", r, g)
			}
		}
	})
}

// The real engine reads grammars of alternatives, references, null and patterns, and its replies follow the schema.
func TestRepliesFollowAlternatives(t *testing.T) {
	c := sharedReal(t)
	const text = `{"type":"object","properties":{
		"code":{"type":"string","pattern":"^[A-Z]{2}-[0-9]{1,3}(\"|\\\\|é|[^a-z])?$"},
		"free":{"type":"string","pattern":"b(c|d)+"},
		"when":{"type":["string","null"],"maxLength":9},
		"price":{"anyOf":[{"type":"integer","minimum":0,"maximum":9},{"type":"null"},{"enum":["free",null]}]},
		"tree":{"$ref":"#/$defs/tree"}},
		"required":["code","free","when","price","tree"],
		"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string","maxLength":4},
		"under":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/tree"}]}},"required":["name","under"]}}}`
	g, err := Grammar([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := structured.Compile([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for i := range 2 {
		req := ask("Describe a tree with a code and a price.", uint64(i))
		req.Grammar, req.Temperature, req.MaxTokens = g, 0.7+0.3*float64(i), 200
		r, err := c.Generate(timeout(t, 10*time.Minute), req)
		if err != nil {
			t.Fatal(err)
		}
		if r.Finish != "stop" {
			continue // the tree may go on for ever
		}
		ended++
		v, err := structured.Parse([]byte(r.Text))
		if err == nil {
			err = s.Validate(v)
		}
		if err != nil {
			t.Errorf("%s: %v", r.Text, err)
		}
	}
	if ended == 0 {
		t.Error("no reply ended")
	}
}

// On the real engine, also at a high temperature, all replies can be parsed, have the fields
// in order and are within the bounds. "make nightly" asks for all six, and otherwise chance chooses two.
func TestRepliesMatchGrammar(t *testing.T) {
	c := sharedReal(t)
	schema := `{"type":"object","properties":{
		"reasoning":{"type":"string","maxLength":60},
		"answer":{"type":"string","minLength":1,"maxLength":12},
		"confidence":{"type":"number","minimum":0,"maximum":1},
		"score":{"type":"integer","minimum":0,"maximum":10},
		"sure":{"type":"boolean"},
		"choice":{"enum":["A","B","C"]},
		"tags":{"type":"array","items":{"type":"string","maxLength":6},"maxItems":3}}}`
	g, err := Grammar([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	questions := []string{capital, "Write a poem\nin two \"lines\".", "Ünïcödé \\ 漢字 and 🙂?", "What is 17 + 25?"}
	var wg sync.WaitGroup
	for _, i := range rand.Perm(6)[:nightly.Size(2, 6)] {
		wg.Go(func() {
			req := ask(questions[i%len(questions)], uint64(i))
			req.Grammar, req.Temperature, req.MaxTokens = g, 0.6+0.2*float64(i), 300
			r, err := c.Generate(timeout(t, 10*time.Minute), req)
			if err != nil {
				t.Error(err)
				return
			}
			if r.Finish != "stop" {
				t.Errorf("reply %d was not ended by the grammar: %q", i, r.Text)
				return
			}
			checkReply(t, r.Text)
		})
	}
	wg.Wait()
}

func checkReply(t *testing.T, text string) {
	t.Helper()
	var v struct {
		Reasoning, Answer, Choice string
		Confidence                float64
		Score                     int
		Sure                      bool
		Tags                      []string
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil || d.More() {
		t.Errorf("%q: %v", text, err)
		return
	}
	long := len([]rune(v.Reasoning)) > 60 || len([]rune(v.Answer)) > 12 || v.Answer == "" || len(v.Tags) > 3
	if long || v.Confidence < 0 || v.Confidence > 1 || v.Score < 0 || v.Score > 10 ||
		!strings.Contains("ABC", v.Choice) {
		t.Errorf("%q has the form of the schema but violates its bounds: %+v", text, v)
	}
	last := -1
	for _, key := range []string{"reasoning", "answer", "confidence", "score", "sure", "choice", "tags"} {
		at := strings.Index(text, fmt.Sprintf("%q:", key))
		if at <= last {
			t.Errorf("%q: %s is out of order", text, key)
		}
		last = at
	}
	for _, r := range v.Reasoning + v.Answer + strings.Join(v.Tags, "") {
		if unicode.IsControl(r) {
			t.Errorf("control character %q in %q", r, text)
		}
	}
}
