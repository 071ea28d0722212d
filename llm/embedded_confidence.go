package llm

import (
	"context"
	"math"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
	"synod.dev/synod/llm/read"
)

// withConfidence adds the confidence in its answer that a prompt asks for. lead is the text that the answer continues;
// "" if there is none.
func (m *embedded) withConfidence(ctx context.Context, x *exchange, lead string, reply synod.Reply,
) (synod.Reply, error) {
	switch x.prompt.ConfidenceMode {
	case synod.StatedConfidence:
		if reply.Typed { // a written reply states it in its JSON
			return m.statedConfidence(ctx, x, lead, reply)
		}
	case synod.LikelihoodConfidence:
		return likelihoodConfidence(ctx, x, lead, reply)
	}
	return reply, nil
}

// likelihoodConfidence adds the probability that the model gives to its answer after lead. Of a question with options,
// this is the share of the option: exp of the mean log-probability of its text, over the sum for all options. Of any
// other, it is exp of the mean log-probability of the answer's tokens. A reply without a readable answer has none.
func likelihoodConfidence(ctx context.Context, x *exchange, lead string, reply synod.Reply) (synod.Reply, error) {
	p, given := x.prompt, reply
	given.Status = synod.OK
	read.SetVersion(&given)
	answer, _, ok := read.Answer(p.Question, &given, p.Exact)
	if !ok || lead == "" {
		return reply, nil
	}
	list := possibleAnswers(p.Question)
	options := list != nil
	if !options {
		list = []synod.Answer{answer}
	}
	w, err := likelihoods(ctx, x, lead, list)
	if err != nil {
		return reply, err
	}
	its, all := 0.0, 0.0
	for i, a := range list {
		each := math.Exp(w.logprobs[i])
		if all += each; a == answer {
			its = each
		}
	}
	if options && all > 0 {
		its /= all
	}
	its = min(its, 1)
	reply.Confidence = &its
	return reply, nil
}

// A stated confidence is one line after the answer: a number from 0 to 1 in steps
// of a hundredth.
const (
	confidenceLine  = `root ::= " " ("0." [0-9] [0-9]? | "1.0") "\n"`
	confidenceLabel = "\nConfidence, from 0 to 1:"
)

// statedConfidence adds the confidence that the model states in its answer, if the
// prompt asks for it (CP-1): the model continues its own line by one more. Whether
// the number of so small a model means anything is for the calibration in a
// report to show.
func (m *embedded) statedConfidence(
	ctx context.Context, x *exchange, lead string, reply synod.Reply,
) (synod.Reply, error) {
	p := x.prompt
	if p.ConfidenceMode != synod.StatedConfidence || reply.Answer == synod.None {
		return reply, nil
	}
	text := asText(p, reply.Answer)
	if reply.Text != "" && possibleAnswers(p.Question) == nil {
		text = reply.Text
	}
	out, err := x.Generate(ctx, engine.Request{
		Prompt: lead + " " + text + confidenceLabel, Grammar: confidenceLine, Stop: []string{"\n"}, Seed: p.Seed,
		Temperature: m.cfg.Temperature, TopP: m.cfg.TopP, MaxTokens: lineTokens,
	})
	if err != nil {
		return reply, err
	}
	reply.Usage.Prompt += out.Usage.PromptTokens
	reply.Usage.Completion += out.Usage.CompletionTokens
	if v, err := strconv.ParseFloat(strings.TrimSpace(out.Text), 64); err == nil && v >= 0 && v <= 1 {
		reply.Confidence = &v
	}
	return reply, nil
}
