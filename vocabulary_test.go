package synod_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"synod.dev/synod"
)

// What is written is read back, and nothing else is read: every body that is let
// in is the one encoding of what it says.
func FuzzResponse(f *testing.F) {
	for _, r := range []synod.Response{{}, {Answer: "42"}, {Answer: "Paris", Rationale: "it is", Confidence: 1}} {
		b, err := r.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte{1, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0})                           // confidence NaN
	f.Add(append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0}, 0xff, 0xff, 0xff, 0xff)) // a length that promises 4 GiB
	f.Fuzz(func(t *testing.T, body []byte) {
		var r synod.Response
		if r.UnmarshalBinary(body) != nil {
			return
		}
		if !(r.Confidence >= 0 && r.Confidence <= 1) {
			t.Fatalf("confidence %v is let in", r.Confidence)
		}
		again, err := r.AppendBinary(nil)
		if err != nil || !bytes.Equal(again, body) && !negativeZero(body) {
			t.Fatalf("%x is read as %+v, which is written %x", body, r, again)
		}
	})
}

// negativeZero: -0 is a confidence in [0,1] and is written as it was read.
func negativeZero(body []byte) bool { return body[1] == 0x80 }

func TestResponseRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := synod.Response{
			Answer: synod.Answer(rapid.String().Draw(t, "answer")), Rationale: rapid.String().Draw(t, "rationale"),
			Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
		}
		body, err := want.AppendBinary([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		var got synod.Response
		if err := got.UnmarshalBinary(body[len("before"):]); err != nil || got != want {
			t.Fatalf("%+v came back as %+v, %v", want, got, err)
		}
	})
}

func TestResponseBounds(t *testing.T) {
	for _, c := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		b, _ := synod.Response{Answer: "a", Confidence: c}.AppendBinary(nil)
		if new(synod.Response).UnmarshalBinary(b) == nil {
			t.Errorf("confidence %v is let in (I-CP-2)", c)
		}
	}
	long, _ := synod.Response{Answer: synod.Answer(strings.Repeat("x", synod.MaxLong+1))}.AppendBinary(nil)
	if new(synod.Response).UnmarshalBinary(long) == nil {
		t.Error("an answer of more than MaxLong bytes is let in")
	}
}

func TestScoreJSON(t *testing.T) {
	for s, want := range map[synod.Score]string{synod.Untrusted: "null", 0: "0", 0.25: "0.25", 1: "1"} {
		b, err := json.Marshal(s)
		if err != nil || string(b) != want {
			t.Errorf("%v is written %s, %v", s, b, err)
		}
		var back synod.Score
		if err := json.Unmarshal(b, &back); err != nil || back != s {
			t.Errorf("%s is read as %v, %v", b, back, err)
		}
	}
	if !(synod.Untrusted < 0) {
		t.Error("Untrusted must be lower than every real score")
	}
}

func TestHint(t *testing.T) {
	known := []string{"protocol", "prompts", "graph", "seats", "sac"}
	for got, want := range map[string]string{
		"protocl": ` (did you mean "protocol"?)`, "grpah": ` (did you mean "graph"?)`,
		"seat": ` (did you mean "seats"?)`, "zebra crossing": "", "nosuch": "",
	} {
		if h := synod.Hint(got, known); h != want {
			t.Errorf("Hint(%q) = %q, want %q", got, h, want)
		}
	}
	aggregates := []string{"bulyan", "coordinate-median", "geometric-median", "median-total"}
	for got, want := range map[string]string{"median": "median-total", "coordinate": "coordinate-median",
		"geometric-mean": "geometric-median", "bulian": "bulyan"} {
		if h := synod.Hint(got, aggregates); h != fmt.Sprintf(" (did you mean %q?)", want) {
			t.Errorf("Hint(%q) = %q, want %q", got, h, want)
		}
	}
}

func TestCatalogue(t *testing.T) {
	c := synod.NewCatalogue("thing", synod.Entry{Name: "b", Summary: "second"},
		synod.Entry{Name: "a", Summary: "first"})
	if names := strings.Join(c.Names(), " "); names != "a b" {
		t.Errorf("names: %s", names)
	}
	if e, err := c.Find("b"); err != nil || e.Summary != "second" {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := c.Find("bb"); err == nil || !strings.Contains(err.Error(), `did you mean "b"`) {
		t.Errorf("%v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("two entries of one name must be found at once")
		}
	}()
	synod.NewCatalogue("thing", synod.Entry{Name: "a"}, synod.Entry{Name: "a"})
}

// Spelling changes nothing about what is asked.
func TestSame(t *testing.T) {
	p := synod.Prompt{Template: "x/score", Purpose: synod.Scoring, Candidate: "paris", Seed: 1}
	q := p
	q.Seed, q.Spelling = 2, map[synod.Answer]string{"paris": "Paris"}
	if !p.Same(&q) || q.Spelled("paris") != "Paris" || p.Spelled("paris") != "paris" {
		t.Error("seed and spelling must not make another prompt")
	}
	for _, change := range []func(*synod.Prompt){
		func(p *synod.Prompt) { p.Candidate = "rome" }, func(p *synod.Prompt) { p.Own = "rome" },
		func(p *synod.Prompt) { p.Purpose = synod.Weighing }, func(p *synod.Prompt) { p.Template = "y" },
		func(p *synod.Prompt) { p.Rationale = "r" }, func(p *synod.Prompt) { p.Caution = synod.CautionBound },
		func(p *synod.Prompt) { p.F = 3 }, func(p *synod.Prompt) { p.Exact = true },
		func(p *synod.Prompt) { p.Peers = []synod.Rated{{Answer: "a"}} },
	} {
		r := p
		change(&r)
		if p.Same(&r) {
			t.Errorf("%+v and %+v are taken for the same", p, r)
		}
	}
}

func TestCatalogueAdd(t *testing.T) {
	c := synod.NewCatalogue("thing", synod.Entry{Name: "b"})
	c.Add(synod.Entry{Name: "a", Summary: "added"})
	if e, err := c.Find("a"); err != nil || e.Summary != "added" || c.Names()[0] != "a" {
		t.Errorf("found %v, %v among %v", e, err, c.Names())
	}
	for _, bad := range []string{"b", ""} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("an entry named %q is added", bad)
				}
			}()
			c.Add(synod.Entry{Name: bad})
		}()
	}
}
