package llm

import (
	"context"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
)

// sureLine is the line after an answer on which a small model says how sure it is:
// a number from 0 to 1 in steps of a hundredth.
const (
	sureLine  = `root ::= " " ("0." [0-9] [0-9]? | "1.0") "\n"`
	sureLabel = "\nConfidence, from 0 to 1:"
)

// stated has the model state its confidence in the answer that it has just given,
// where that is wanted (CP-1): it goes on from its own line by one more. Nothing
// says that a model this small means anything by it; a report's calibration does.
func (m *embedded) stated(ctx context.Context, x *exchange, lead string, reply synod.Reply) (synod.Reply, error) {
	p := x.prompt
	if p.Confide != synod.ConfideStated || reply.Answer == synod.None {
		return reply, nil
	}
	words := inWords(p, reply.Answer)
	if reply.Text != "" && answers(p.Question) == nil {
		words = reply.Text
	}
	out, err := x.Generate(ctx, engine.Request{
		Prompt: lead + " " + words + sureLabel, Grammar: sureLine, Stop: []string{"\n"}, Seed: p.Seed,
		Temperature: m.cfg.Temperature, TopP: m.cfg.TopP, MaxTokens: lineTokens,
	})
	if err != nil {
		return reply, err
	}
	reply.Usage.Prompt += out.Usage.PromptTokens
	reply.Usage.Completion += out.Usage.CompletionTokens
	if sure, err := strconv.ParseFloat(strings.TrimSpace(out.Text), 64); err == nil && sure >= 0 && sure <= 1 {
		reply.Confidence = &sure
	}
	return reply, nil
}
