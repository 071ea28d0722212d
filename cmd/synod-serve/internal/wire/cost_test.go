package wire

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lax returns the largest number that a careless program may take a JSON value for: Python's int() and float() of a
// text with spaces and underscores, JavaScript's Number() of a text with a base or nothing, true as 1, a list of one.
func lax(v any) float64 {
	most := math.Inf(-1)
	add := func(x float64, ok bool) {
		if ok && !math.IsNaN(x) {
			most = max(most, x)
		}
	}
	switch v := v.(type) {
	case json.Number:
		x, _ := new(big.Float).SetString(v.String())
		if x != nil {
			f, _ := x.Float64()
			add(f, true)
		}
	case string:
		text := strings.TrimSpace(v)
		f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		add(f, err == nil || math.IsInf(f, 0))
		i, err := strconv.ParseInt(text, 0, 64)
		add(float64(i), err == nil)
		add(0, text == "")
	case bool:
		add(1, v)
	case []any:
		if len(v) == 1 {
			add(lax(v[0]), true)
		}
	}
	return most
}

// laxCost returns how many tokens of replies a careless server may make of a body: keys in any case, the last or the
// largest of repeated ones, numbers as lax reads them; without a bound, it makes so many.
func laxCost(body []byte, silent float64) float64 {
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	tokens, replies := 0.0, 1.0
	if t, _ := d.Token(); t != json.Delim('{') {
		return 0
	}
	for d.More() {
		key, err := d.Token()
		var v any
		if err != nil || d.Decode(&v) != nil {
			return 0
		}
		name, _ := key.(string)
		switch x := lax(v); effects[fold(strings.TrimSpace(name))] {
		case longest:
			tokens = max(tokens, x)
		case many:
			replies = max(replies, x)
		}
	}
	if tokens < 1 {
		tokens = silent
	}
	return tokens * replies
}

// spellings are keys by which a request could cost more than was counted.
var spellings = []string{`"max_completion_tokens": 1e6`, `"max_completion_tokens": 1000000.0`,
	`"max_completion_tokens": "1000000"`, `"n": 1e2`, `"n": 100.0, "max_tokens": 10`, `"best_of": 100`,
	`"max_tokens": 5, "max_tokens": 1000000`, `"Max_Tokens": 1000000`, `"max_to\u212Aens": 1000000`,
	`"max_tokens": 5, "ſtop": "a", "n": "100"`, `"max_tokens": 0`, `"max_tokens": -1`, `"max_tokens": null`,
	`"max_tokens": [1000000]`, `"max_tokens": true`, `"max_tokens": 1e400`, `"max_tokens": 9223372036854775808`,
	`"max_tokens": "0x100000"`, `"max_tokens": "1_000_000"`, `"num_predict": 1e6`, `"options": {"num_predict": 1000000}`,
	`"extra_body": {"n": 100}`, `"max_tokens": 1.5`, `"n": 2, "best_of": 128`, `"web_search_options": {}`}

// bodyWith is a chat completion with more keys.
func bodyWith(more string) string {
	return `{"model": "a", "messages": [{"role": "user", "content": "hi"}], ` + more + `}`
}

// Each spelling is refused, or counted and written in the only spelling that all programs read alike.
func TestCostOfSpellings(t *testing.T) {
	var passed int
	for _, more := range spellings {
		h, e := ReadHead([]byte(bodyWith(more)))
		if e != nil {
			continue
		}
		out, e := h.Forward(Forwarding{Model: "m", Longest: 100, Limited: true})
		if e != nil {
			if e.HTTP != 400 || e.Param == "" {
				t.Errorf("%s: %+v", more, e)
			}
			continue
		}
		passed++
		if got := laxCost(out.Body, 100); got > float64(out.Completion) {
			t.Errorf("%s: %s may cost %v tokens, and %d are counted", more, out.Body, got, out.Completion)
		}
	}
	if passed < 6 {
		t.Errorf("%d of %d were passed on; want those that are whole numbers", passed, len(spellings))
	}
	for more, want := range map[string][2]int{`"max_tokens": 1e3, "n": 2.0`: {1000, 2}, `"max_completion_tokens": 7`: {7, 1},
		`"best_of": 3, "n": 2, "max_tokens": 10`: {10, 3}} {
		h, _ := ReadHead([]byte(bodyWith(more)))
		out, e := h.Forward(Forwarding{Model: "m", Longest: 100})
		if e != nil || out.Completion != want[0]*want[1] {
			t.Errorf("%s: %+v, %v; want %v", more, out, e, want)
		}
	}
}

// The three APIs read whole numbers alike, and refuse a key twice and a key that is almost one of theirs.
func TestWholeNumbersOfAllAPIs(t *testing.T) {
	readers := map[string]func([]byte, Rules) (*Request, *Error){"max_completion_tokens": ReadChat,
		"max_output_tokens": ReadResponses, "max_tokens": ReadMessages}
	for key, read := range readers {
		body := `{"model": "a", "messages": [{"role": "user", "content": "hi"}], `
		if key == "max_output_tokens" {
			body = `{"model": "a", "input": "hi", `
		}
		for value, want := range map[string]int{"1e2": 100, "100.0": 100, "100": 100, `"100"`: 0, "1.5": 0, "-1": 0, "0": 0,
			"1e30": 0, "true": 0, "[1]": 0} {
			r, e := read([]byte(body+`"`+key+`": `+value+"}"), Rules{})
			if want > 0 && (e != nil || r.MaxTokens != want) || want == 0 && (e == nil || e.Param != key) {
				t.Errorf("%s %s: %+v, %+v", key, value, r, e)
			}
		}
		for _, bad := range []string{`"` + key + `": 1, "` + key + `": 2}`, `"M` + key[1:] + `": 1}`, `"user": "a", "user": "b"}`} {
			if _, e := read([]byte(body+bad), Rules{Drop: true}); e == nil {
				t.Errorf("%s: read", body+bad)
			}
		}
	}
}

// What a key with a limit in USD cannot send, because nobody knows what it costs; without such a limit it is passed on.
func TestUnknownCost(t *testing.T) {
	for _, more := range []string{`"frobnicate": 1`, `"modalities": ["text", "audio"]`, `"service_tier": "priority"`,
		`"tools": [{"type": "web_search"}]`, `"prediction": {"type": "content", "content": "x"}`, `"thinking": {}`} {
		for limited, want := range map[bool]bool{true: false, false: true} {
			h, e := ReadHead([]byte(bodyWith(more)))
			if e != nil {
				t.Fatal(e)
			}
			if _, e := h.Forward(Forwarding{Model: "m", Longest: 9, Limited: limited}); (e == nil) != want {
				t.Errorf("%s, limited %v: %v", more, limited, e)
			}
		}
	}
	for content, images := range map[string]int{`[{"type": "text", "text": "x"}]`: 0, `"x"`: 0, `null`: 0,
		`[{"type": "image_url", "image_url": {"url": "data:,"}}]`: 1, `[{"type": "file", "file": {}}]`: -1,
		`[{"type": "text", "text": "x", "image_url": {"url": "data:,"}}]`: -1, `{"type": "image_url"}`: -1, `["x"]`: -1,
		`[{"type": "input_audio", "input_audio": {}}]`: -1, `[{"Type": "file", "File": {}}]`: -1} {
		h, _ := ReadHead([]byte(`{"model": "a", "messages": [{"role": "user", "content": ` + content + `}]}`))
		out, e := h.Forward(Forwarding{Model: "m", Longest: 9, Limited: true})
		switch {
		case (e == nil) != (images >= 0):
			t.Errorf("%s: %v", content, e)
		case e == nil && out.Prompt != len(out.Body)+template+images*imageTokens:
			t.Errorf("%s: %d tokens of %s", content, out.Prompt, out.Body)
		}
	}
}

// What is written anew means the same and has one spelling.
func TestRewrite(t *testing.T) {
	for in, want := range map[string]string{`{"b":1.0,"a":[1e2,-0,0.5,true,null,"\u0041\ud83d\ude00"]}`: `{"b":1,"a":[100,0,0.5,true,null,"A😀"]}`,
		` [ ] `: `[]`, `{}`: `{}`, `"\ud800"`: `"�"`, `12345678901234567890123`: `1.2345678901234568e+22`, ` 7 `: `7`} {
		got, err := Rewrite([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{`{"a":{"b":1,"b":2}}`, `{"a":1,"\u0061":2}`, `[1e999]`} {
		if got, err := Rewrite([]byte(in)); err == nil {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// FuzzForward: however careless the server is, nothing that is passed on for a key with a limit makes more tokens than
// were counted, and it is JSON in which no key stands twice.
func FuzzForward(f *testing.F) {
	for _, more := range spellings {
		f.Add([]byte(bodyWith(more)), true)
		f.Add([]byte(bodyWith(more)), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, limited bool) {
		h, e := ReadHead(body)
		if e != nil {
			return
		}
		out, e := h.Forward(Forwarding{Model: "m", Longest: 100, Limited: limited})
		if e != nil {
			return
		}
		if _, twice := split(out.Body); twice != "" || !json.Valid(out.Body) {
			t.Fatalf("%q: %s", body, out.Body)
		}
		again, err := Rewrite(out.Body)
		if err != nil || !slices.Equal(again, out.Body) {
			t.Errorf("%s is written as %s, %v", out.Body, again, err)
		}
		if got := laxCost(out.Body, 100); got > float64(out.Completion) || out.Prompt < len(out.Body) {
			t.Errorf("%q: %s may cost %v tokens, and %d are counted", body, out.Body, got, out.Completion)
		}
	})
}
