package synod_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
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

// The JSON of today's questions is what it was before conversations existed: journals, instance ids and
// certificates depend on it.
func TestPlainQuestionJSON(t *testing.T) {
	for want, q := range map[string]synod.Question{
		`{"text":"1+1?","form":"number"}`: {Text: "1+1?", Form: synod.Number},
		`{"id":"a","text":"Fish?","form":"choice","options":[{"label":"A","text":"cod"}]}`: {ID: "a", Text: "Fish?",
			Form: synod.Choice, Options: []synod.Option{{Label: "A", Text: "cod"}}},
	} {
		if b, err := json.Marshal(q); err != nil || string(b) != want || !q.Plain() {
			t.Errorf("%s, %v; want %s", b, err, want)
		}
	}
}

func talk() *synod.Question {
	return &synod.Question{Text: "And in Bonn?", Form: synod.Text,
		Parts: []synod.Part{{Kind: synod.Image, Name: "map.png", Media: "image/png", Data: []byte{1, 2}}},
		Before: []synod.Turn{{Role: synod.BySystem, Text: "Be brief."}, {Role: synod.ByUser, Text: "Weather in Köln?"},
			{Role: synod.ByAssistant, Calls: []synod.Call{{ID: "c1", Name: "weather",
				Arguments: json.RawMessage(`{"city":"Köln"}`)}}},
			{Role: synod.ByTool, Call: "c1", Text: "rain"}, {Role: synod.ByAssistant, Text: "Rain."}},
		After: []synod.Turn{{Role: synod.ByAssistant, Calls: []synod.Call{{ID: "c2", Name: "weather"}}},
			{Role: synod.ByTool, Call: "c2", Text: "sun"}}}
}

func TestConversation(t *testing.T) {
	q := talk()
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	turns := q.Turns()
	if len(turns) != 8 || turns[5].Text != q.Text || len(turns[5].Parts) != 1 || len(q.Attached()) != 1 || q.Plain() {
		t.Errorf("%+v", turns)
	}
	b, _ := json.Marshal(q)
	again := &synod.Question{}
	if err := json.Unmarshal(b, again); err != nil {
		t.Fatal(err)
	}
	if c, _ := json.Marshal(again); string(c) != string(b) {
		t.Errorf("%s\n%s", b, c)
	}
}

func TestQuestionCheck(t *testing.T) {
	for why, change := range map[string]func(q *synod.Question){
		"it must be one of [system": func(q *synod.Question) {
			q.Before[0].Role = "boss"
		},
		"the user follows the last one": func(q *synod.Question) {
			q.After[0].Role = synod.ByUser
		},
		"only the user's may": func(q *synod.Question) {
			q.Before[0].Parts = q.Parts
		},
		"only the assistant's may": func(q *synod.Question) {
			q.Before[1].Calls = q.Before[2].Calls
		},
		"which no message before it makes": func(q *synod.Question) { q.Before[3].Call = "c2" },
		"used before": func(q *synod.Question) {
			q.After[0].Calls[0].ID = "c1"
		},
		"not a JSON object": func(q *synod.Question) {
			q.Before[2].Calls[0].Arguments = []byte("1")
		},
		"message 7 of the conversation: it calls": func(q *synod.Question) {
			q.After[0].Calls[0].Name = "rm -rf"
		},
		"it is empty": func(q *synod.Question) { q.Before[4].Text = "" },
		"kind is \"video\"": func(q *synod.Question) {
			q.Parts[0].Kind = "video"
		},
		"it must be a media type": func(q *synod.Question) {
			q.Parts[0].Media = "image/png; x"
		},
		"15 MB together": func(q *synod.Question) {
			q.Parts[0].Data = make([]byte, synod.MaxParts+1)
		},
		"is empty": func(q *synod.Question) { q.Parts[0].Data = nil },
		"leave out its first messages": func(q *synod.Question) {
			q.Before[0].Text = strings.Repeat("x", synod.MaxConversation)
		},
		"belongs to the form json":     func(q *synod.Question) { q.Schema = []byte("{}") },
		"the form json needs a schema": func(q *synod.Question) { q.Form = synod.JSON },
		"schema: broken JSON": func(q *synod.Question) {
			q.Form, q.Schema = synod.JSON, []byte("{")
		},
		"tools belong to the form action": func(q *synod.Question) {
			q.Tools = []synod.Tool{{Name: "a"}}
		},
		"the form action needs tools": func(q *synod.Question) { q.Form = synod.Action },
		"two tools are called a": func(q *synod.Question) {
			q.Form = synod.Action
			q.Tools = []synod.Tool{{Name: "a"}, {Name: "a"}}
		},
		"parameters must be a JSON schema: an obje": func(q *synod.Question) {
			q.Form = synod.Action
			q.Tools = []synod.Tool{{Name: "a", Parameters: []byte("[]")}}
		},
	} {
		q := talk()
		change(q)
		if err := q.Check(); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("want an error with %q, got %v", why, err)
		}
	}
}

func TestWhere(t *testing.T) {
	w := synod.With(synod.Reasons, synod.Rounds).Or(synod.Bargains)
	if got := w.String(); got != "reasons and rounds, or bargains" {
		t.Errorf("%q", got)
	}
	for _, x := range []struct {
		where  synod.Where
		traits []synod.Trait
		lacks  []synod.Trait
	}{
		{w, []synod.Trait{synod.Bargains}, nil},
		{w, []synod.Trait{synod.Rounds, synod.Reasons, synod.Votes}, nil},
		{w, []synod.Trait{synod.Rounds}, []synod.Trait{synod.Reasons}},
		{w, []synod.Trait{}, []synod.Trait{synod.Bargains}},
		{w, nil, nil}, // the protocol does not say
		{nil, []synod.Trait{}, nil},
		{synod.Anywhere, []synod.Trait{}, nil},
	} {
		if got := x.where.Lacks(x.traits); !slices.Equal(got, x.lacks) || x.where.Admits(x.traits) != (got == nil) {
			t.Errorf("%v lacks %v in %v, want %v", x.where, got, x.traits, x.lacks)
		}
	}
}

// A protocol that gets the traits that are lacking is admitted, and no trait of these is superfluous.
func TestLacksIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfDistinct(rapid.SampledFrom(synod.Traits()), rapid.ID[synod.Trait])
		w := synod.Where(rapid.SliceOfN(some, 1, 4).Draw(t, "where"))
		has := append([]synod.Trait{}, some.Draw(t, "has")...)
		lacks := w.Lacks(has)
		if !w.Admits(append(slices.Clone(has), lacks...)) {
			t.Fatalf("%v does not admit %v with %v", w, has, lacks)
		}
		for i := range lacks {
			if w.Admits(append(slices.Clone(has), slices.Delete(slices.Clone(lacks), i, i+1)...)) {
				t.Fatalf("%v admits %v without %v", w, has, lacks[i])
			}
		}
	})
}
