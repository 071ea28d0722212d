package llm

import (
	"strings"
	"testing"

	"synod.dev/synod"
)

const sureRows = `{"benchmark":"b","item_id":"i1","model":"m","trial":0,"response":"wait, 9? The final answer is 8.","answer":"7","confidence":0.25}
{"benchmark":"b","item_id":"i2","model":"m","trial":0,"response":"Answer: 8","answer":null,"confidence":null}`

// [CP-2] A recorded confidence comes with the reply where one is asked for, and
// with answers: source the answer is the one that the recording's source read.
func TestRecordedConfidence(t *testing.T) {
	path := writeTrace(t, sureRows)
	for _, c := range []struct {
		item, answers string
		confide       synod.Confide
		typed         bool
		sure          float64 // -1: none
	}{
		{"i1", "", synod.ConfideHidden, false, .25}, {"i1", "", synod.ConfideStated, false, .25}, {"i1", "", synod.ConfideNothing, false, -1},
		{"i1", "source", synod.ConfideHidden, true, .25}, {"i2", "source", synod.ConfideHidden, false, -1},
	} {
		tape := newTape(t, RecordedConfig{Path: path, Model: "m", Answers: c.answers})
		p := &synod.Prompt{Purpose: synod.Answering, Question: &synod.Question{ID: c.item, Form: synod.Number}, Confide: c.confide}
		r, err := tape.Complete(t.Context(), Request{Prompt: p})
		sure := -1.0
		if r.Confidence != nil {
			sure = *r.Confidence
		}
		if err != nil || r.Typed != c.typed || c.typed && r.Answer != "7" || sure != c.sure || tape.Info().Kind != Recorded {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
	}
	verdicts := writeTrace(t, strings.Replace(sureRows, `"answer":"7"`, `"answer":"7","correct":false`, 1))
	tape := newTape(t, RecordedConfig{Path: verdicts, Model: "m", Answers: "verdict"})
	for item, want := range map[string]synod.Answer{"i1": "false", "i2": synod.None} { // of i2 no verdict is on tape
		r, err := tape.Complete(t.Context(), Request{Prompt: &synod.Prompt{Purpose: synod.Answering, Question: &synod.Question{ID: item, Form: synod.Bool}}})
		if r.Answer != want || (err == nil) != (want != synod.None) {
			t.Errorf("verdict on %s: %q, %v", item, r.Answer, err)
		}
	}
	if tape := newTape(t, RecordedConfig{Path: path, Model: "m"}); !tape.CanConfide() {
		t.Error("a tape with a confidence cannot confide")
	}
	if tape := newTape(t, RecordedConfig{Path: writeTrace(t, goodRows), Model: "m"}); tape.CanConfide() {
		t.Error("a tape without one can")
	}
	_, err := newRecorded(RecordedConfig{Path: path, Model: "m", Answers: "guess"})
	if err == nil || !strings.Contains(err.Error(), "must be response, source or verdict") {
		t.Error(err)
	}
	bad := writeTrace(t, strings.Replace(sureRows, "0.25", "1.25", 1))
	if _, err := newRecorded(RecordedConfig{Path: bad, Model: "m"}); err == nil || !strings.Contains(err.Error(), "line 1: confidence is 1.25") {
		t.Error(err)
	}
}
