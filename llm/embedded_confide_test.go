package llm

import (
	"context"
	"strings"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
)

// twice writes one line for an answer and another for a confidence.
type twice struct {
	lines
	sure string
}

func (e *twice) Generate(ctx context.Context, r engine.Request) (engine.Result, error) {
	out, err := e.lines.Generate(ctx, r)
	if strings.HasSuffix(r.Prompt, sureLabel) {
		out = engine.Result{Text: e.sure, Finish: "stop", Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 2}}
	}
	return out, err
}

// [CP-1] A small model states a confidence by one more line after its answer; what
// is no number in [0,1] is none, and nothing is asked where none is wanted.
func TestEmbeddedStatesItsConfidence(t *testing.T) {
	for _, c := range []struct {
		name    string
		q       *synod.Question
		confide synod.Confide
		sure    string
		want    float64 // -1: none
		after   string
	}{
		{"free", twoTwo, synod.ConfideStated, " 0.85\n", .85, "Answer: 4" + sureLabel},
		{"options", fruit, synod.ConfideStated, " 1.0", 1, "Answer: apple" + sureLabel},
		{"garbled", twoTwo, synod.ConfideStated, " 0.", 0, ""},
		{"nothing", twoTwo, synod.ConfideStated, "", -1, ""},
		{"not asked", twoTwo, synod.ConfideNothing, " 0.85", -1, ""},
	} {
		e := &twice{lines{likely: map[string]float64{" apple": -1}, written: engine.Result{Text: " 4\n", Finish: "stop"}}, c.sure}
		cold := embeddedDefaults()
		cold.Temperature = 0
		r, err := replyOf(t, cold, e, synod.Prompt{Purpose: synod.Answering, Question: c.q, Confide: c.confide})
		sure := -1.0
		if r.Confidence != nil {
			sure = *r.Confidence
		}
		if err != nil || sure != c.want || r.Answer == "" {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
		last := ""
		if len(e.asked) > 0 {
			last = e.asked[len(e.asked)-1].Prompt
		}
		if c.after != "" && !strings.HasSuffix(last, c.after) || c.confide == synod.ConfideNothing && strings.HasSuffix(last, sureLabel) {
			t.Errorf("%s: asked %q", c.name, last)
		}
	}
}
