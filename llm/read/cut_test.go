package read_test

import (
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/internal/nightly"
	"synod.dev/synod/llm/read"
)

// TestCut reads replies that the limit of tokens has ended: only what they finished is read.
func TestCut(t *testing.T) {
	number := &synod.Question{Form: synod.Number}
	for text, want := range map[string]synod.Answer{
		`{"answer": "12`:                             "",
		`{"answer": "12"`:                            "", // the mark may stand in a longer value
		`{"answer": "12",`:                           "",
		`{"answer": 12`:                              "",
		`{"answer": 12,`:                             "", // of 12,345
		`{"answer": "12", "reasoning": "We have`:     "12",
		`{"answer": "12"}`:                           "12",
		`{"reasoning": "\(x\)", "answer": "12"}`:     "12",
		"```json\n{\"answer\": \"\\frac{24}{2}\"}\n": "12",
		`{"answer": "12"} and {"answer": "13`:        "12",
		"Answer: 12":                                 "",
		"Answer: 12\nWait, the":                      "", // it goes on
		"12":                                         "",
		`The answer is \boxed{12}`:                   "",
		"":                                           "",
	} {
		reply := synod.Reply{Status: synod.OK, Text: text, Reader: read.Version, Cut: true}
		if a, _, ok := read.Answer(number, &reply, false); a != want || ok != (want != "") {
			t.Errorf("%q is read as %s, want %s", text, a, want)
		}
	}
	for text, want := range map[string]bool{"Score: 0.9": false, `{"score": 0.9`: false, `{"score": 0.9}`: true} {
		reply := synod.Reply{Status: synod.OK, Text: text, Reader: read.Version, Cut: true}
		if _, ok := read.Score(&reply, false); ok != want {
			t.Errorf("%q has a score: %v", text, ok)
		}
	}
}

// Recorded replies, in JSON and in prose, are cut off at places that are dense near their end. What is read of a part
// is what the whole reply says. The control reads the parts as if they were whole. Each 42nd reply is cut, in "make
// nightly" each 14th.
func TestRecordedCut(t *testing.T) {
	replies := map[string][]string{}
	forms := map[string]synod.Form{"realcritic-math": synod.Math, "gsm8k-openai": synod.Number}
	for _, set := range recordedSets {
		forms[set.name] = set.form
		for _, v := range readLines[vote](t, "votes/"+set.name+"-replies.jsonl.gz") {
			replies[set.name] = append(replies[set.name], v.Reply)
		}
	}
	for _, name := range []string{"realcritic-math", "gsm8k-openai"} {
		for _, v := range readLines[struct{ Response string }](t, "traces/"+name+".jsonl") {
			replies[name] = append(replies[name], v.Response)
		}
	}
	parts, controls, step := 0, 0, nightly.Size(42, 14)
	for name, all := range replies {
		parsed, other, control := 0, 0, 0
		for i := 0; i < len(all); i += step {
			n, bad, c := cutEverywhere(&synod.Question{Form: forms[name]}, all[i])
			parsed, other, control = parsed+n, other+bad, control+c
		}
		t.Logf("%s: %d parts are read, %d of them otherwise than the whole; as if they were whole %d", name, parsed,
			other, control)
		if other > 0 {
			t.Errorf("%s: %d parts are read otherwise than the whole", name, other)
		}
		parts, controls = parts+parsed, controls+control
	}
	if parts < 14000/step || controls < 1400/step {
		t.Errorf("%d parts are read, and %d wrongly as if they were whole: this test shows nothing", parts, controls)
	}
}

// cutEverywhere cuts a reply that can be read, and returns how many parts are read, how many of them otherwise than
// the whole, and how many parts would be read otherwise if they counted as whole.
func cutEverywhere(q *synod.Question, text string) (parsed, other, control int) {
	whole := synod.Reply{Status: synod.OK, Text: text, Reader: read.Version}
	want, _, ok := read.Answer(q, &whole, false)
	if !ok {
		return 0, 0, 0
	}
	for n := 1; n < len(text); n += 1 + (len(text)-n)/40 {
		part := whole
		part.Text, part.Cut = text[:n], true
		if a, _, ok := read.Answer(q, &part, false); ok {
			if parsed++; a != want {
				other++
			}
		}
		part.Cut = false
		if a, _, ok := read.Answer(q, &part, false); ok && a != want {
			control++
		}
	}
	return parsed, other, control
}
