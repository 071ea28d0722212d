package read

import (
	"fmt"
	"testing"

	"synod.dev/synod"
)

// [CP-1] Texts that models write when they are asked for a confidence, and the confidence that is read.
func TestConfidenceIn(t *testing.T) {
	const none = -1
	for text, want := range map[string]float64{
		"Answer: 42, Confidence: 0.9":                          .9,
		"Answer: 42\nConfidence: 0.9":                          .9,
		"**Answer:** 42\n**Confidence:** 0.90":                 .9,
		"**Confidence: 0.85**":                                 .85,
		"Answer: [42], Confidence: [0.75]":                     .75,
		"confidence = .5":                                      .5,
		"Confidence: 90%":                                      .9,
		"Confidence: 90 percent.":                              .9,
		"Confidence: 0,9":                                      .9,
		"Confidence: 1,0":                                      1,
		"Confidence: 1":                                        1,
		"Confidence: 0":                                        0,
		"Confidence: 100%":                                     1,
		"My confidence is 0.8.":                                .8,
		"Confidence score: 0.7 (I checked the sum)":            .7,
		"Confidence: 0.3, Answer: 42":                          .3,
		"Confidence:\n0.6":                                     .6,
		"Confidence: 0.2\nOn reflection.\nConfidence: 0.6":     .6,
		"<think>Confidence: 0.1</think>\nConfidence: 0.6":      .6,
		`{"reasoning":"…","answer":"42","confidence":0.75}`:    .75,
		`{"answer":"42","confidence":"80%"}`:                   .8,
		"```json\n{\"answer\":\"42\",\"confidence\":0.5}\n```": .5,
		"*Confidence*: `0.9`":                                  .9,
		"Confidence: $0.9$":                                    .9,
		`Confidence: 90\%`:                                     .9,
		"Confidence: 1.5":                                      none,
		"Confidence: -0.5":                                     none,
		"Confidence: 90":                                       none,
		"Confidence: 150%":                                     none,
		"Confidence: 0.9%":                                     none,
		"Confidence: high":                                     none,
		"Confidence: 0.8 or 0.9":                               none,
		"Confidence: 0.8-0.9":                                  none,
		"Confidence: 0.8 – 0.9":                                none,
		"Confidence: 9/10":                                     none,
		"Confidence: 0.9, Confidence: 0.3":                     none,
		"Confidence: 1,000":                                    none,
		"Confidence: 1,5":                                      none,
		"Confidence: NaN":                                      none,
		"Confidence: Inf":                                      none,
		"Confidence: 1e-1":                                     none,
		"Confidence: 0.9 would be too much":                    none,
		"Confidence: between 0.5 and 1":                        none,
		"Answer: 42":                                           none,
		"0.9":                                                  none,
		"I am 90% sure":                                        none,
		"overconfidence: 0.9":                                  none,
		"":                                                     none,
		`{"answer":"42","confidence":9.5e-1}`:                  .95,
		`{"answer":"42","confidence":true}`:                    none,
		`{"answer":"42","confidence":[0.5]}`:                   none,
		`{"answer":"42","confidence":"0.9 or so"}`:             none,
		`{"answer":"42","confidence":1.5}`:                     none,
		`{"answer":"42","confidence":-0.1}`:                    none,
		`{"answer":"42","confidence":null}`:                    none,
		`{"answer":"42","confidence":0.2,"confidence":1}`:      none,
		`{"answer":"42","Confidence":0.2}`:                     none,
		`{"answer":"42","confidence":0.9`:                      none,
		`{"answer":"Confidence: 0.9"}`:                         none,
		"Confidence: 0.99999999999999999999999999999999999999": none,
		"Confidence: 0.5\u0000":                                none,
		"Answer: 42. Confidence: 0.4.":                         .4,
		"- Confidence level: **0.4**":                          .4,
		"Answer: Paris | Confidence: 0.4":                      .4,
		"The answer is 42, and my confidence is 0.4":           .4,
	} {
		got, ok := ConfidenceIn(text)
		if !ok {
			got = none
		}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// [CP-1] An answer beside a confidence is read as if it stood alone, thousands separators included; an answer
// without a readable confidence is an answer.
func TestConfidentAnswer(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		form   synod.Form
		exact  bool
		text   string
		answer synod.Answer
		want   float64
	}{
		{synod.Number, false, "Answer: 1,234, Confidence: 0.9", "1234", .9},
		{synod.Number, false, "Answer: 18,000 Confidence: 90%", "18000", .9},
		{synod.Number, false, "**Answer: 42**, **Confidence: 0.8**", "42", .8},
		{synod.Number, false, "Confidence: 0.3, Answer: 42", "42", .3},
		{synod.Number, false, "Answer: 42\nConfidence: 1.5", "42", none},
		{synod.Number, false, "Answer: 42\nConfidence: high", "42", none},
		{synod.Number, false, "Answer: 42", "42", none},
		{synod.Number, false, "Confidence: 0.9", "", .9},
		{synod.Number, false, `{"reasoning":"17+25","answer":"42","confidence":0.7}`, "42", .7},
		{synod.Text, false, "Answer: Lake Titicaca, Confidence: 0.4", "lake titicaca", .4},
		{synod.Choice, false, "Answer: B\nConfidence: 40%", "B", .4},
		{synod.Number, true, "So it is 42. Answer: 1,234, Confidence: 0.90", "1234", .9},
		// The paper asks for [0.00-1.00] (CP-WBFT, Eq. 1) and does not say how it reads other numbers.
		{synod.Number, true, "Answer: 42, Confidence: 95", "42", .95},
		{synod.Number, true, "Answer: 42, Confidence: 9/10", "42", .9},
		{synod.Number, true, "Answer: 42, Confidence: 1/0", "42", none},
		{synod.Number, true, "Answer: 42, Confidence: 100", "42", 1},
		{synod.Number, true, "Answer: 42, Confidence: 101", "42", none},
		{synod.Number, true, "Answer: 42, Confidence: 1", "42", 1},
		{synod.Number, true, "Answer: 42, Confidence: 1.5", "42", none},
		{synod.Number, true, "Answer: 42, Confidence: 1.7 I guess", "42", none},
		{synod.Number, true, "Answer: 42, Confidence: quite high", "42", none},
		{synod.Number, true, "Answer: 42, Confidence: -0.5", "42", none},
		{synod.Number, true, "I think 42 with a confidence of 85%", "42", .85},
	} {
		q := &synod.Question{Form: c.form, Options: []synod.Option{{Label: "A", Text: "x"}, {Label: "B", Text: "y"}}}
		if c.form != synod.Choice {
			q.Options = nil
		}
		got, ok := ConfidentAnswer(q, &synod.Reply{Status: synod.OK, Text: c.text}, synod.StatedConfidence, c.exact)
		sure := float64(none)
		if got.Confidence != nil {
			sure = *got.Confidence
		}
		if got.Answer != c.answer || ok != (c.answer != "") || sure != c.want {
			t.Errorf("%q: %q at %v, want %q at %v", c.text, got.Answer, sure, c.answer, c.want)
		}
	}
}

// [CP-2] A probe's confidence comes with the reply; one that is out of range is ignored, and a failed call has
// neither an answer nor a confidence.
func TestConfidentAnswerTyped(t *testing.T) {
	q := &synod.Question{Form: synod.Number}
	nan := 0.0
	nan /= nan
	for _, c := range []struct {
		sure float64
		want bool
	}{{.5, true}, {0, true}, {1, true}, {1.1, false}, {-.1, false}, {nan, false}} {
		got, ok := ConfidentAnswer(q, &synod.Reply{Status: synod.OK, Text: "Answer: 42", Confidence: &c.sure},
			synod.HiddenConfidence, false)
		if !ok || got.Answer != "42" || (got.Confidence != nil) != c.want {
			t.Errorf("%v: %+v", c.sure, got)
		}
	}
	if _, ok := ConfidentAnswer(q, &synod.Reply{Status: synod.Timeout, Text: "Answer: 42"}, synod.HiddenConfidence,
		false); ok {
		t.Error("a failed call has an answer")
	}
}

// No text makes the readers panic; what they read is in [0,1]; a plain statement is read back, whatever text
// precedes it.
func FuzzConfidenceIn(f *testing.F) {
	for _, s := range []string{"Answer: 1,234, Confidence: 0.9", "Confidence:\n**90%**", `{"confidence":"0,5"}`,
		"confidence confidence: .", "Confidence: 0.8 or 0.9"} {
		f.Add(s, uint16(500))
	}
	f.Fuzz(func(t *testing.T, s string, n uint16) {
		paper := func(text string) (float64, bool) {
			_, c, ok := cutConfidencePaper(text)
			return c, ok
		}
		for _, read := range []func(string) (float64, bool){ConfidenceIn, paper} {
			if c, ok := read(s); ok && !(c >= 0 && c <= 1) {
				t.Fatalf("%q: %v", s, c)
			}
		}
		q := &synod.Question{Form: synod.Number}
		for _, exact := range []bool{false, true} {
			ConfidentAnswer(q, &synod.Reply{Status: synod.OK, Text: s}, synod.StatedConfidence, exact)
		}
		want := float64(n%1001) / 1000
		line := fmt.Sprintf("Confidence: %v", want)
		if got, ok := ConfidenceIn(line); !ok || got != want {
			t.Fatalf("%q: %v, %v", line, got, ok)
		}
	})
}
