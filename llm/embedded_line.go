package llm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
)

// This file is what a small model does best: to continue a text by one line, and
// to weigh how likely a given line is.

// Grammars of one line after "Answer:".
const (
	numberLine = `root ::= " " "-"? [0-9] [0-9]? [0-9]? [0-9]? [0-9]? [0-9]? [0-9]? [0-9]? [0-9]? ` +
		`("." [0-9] [0-9]? [0-9]? [0-9]?)? "\n"`
	textLine   = `root ::= " " [^\x00-\x20\x7F] [^\x00-\x1F\x7F]* "\n"`
	lineTokens = 48
)

// answer replies with one line. Where the question has options, the line is sampled
// from them: option i with probability ∝ exp(mean log-probability / temperature).
func (m *embedded) answer(ctx context.Context, x *exchange, lead string) (synod.Reply, error) {
	p := x.prompt
	if options := possibleAnswers(p.Question); options != nil {
		w, err := likelihoods(ctx, x, lead, options)
		if err != nil {
			return synod.Reply{}, err
		}
		pick := likeliest(w.scores)
		switch {
		case p.Goal == synod.Persuade:
			pick = secondLikeliest(w.scores, pick)
		case m.cfg.Temperature > 0:
			pick = sample(w.scores, w.scores[pick].Mean, m.cfg.Temperature, p.Seed)
		}
		return x.chosen(options[pick], pick, w), nil
	}
	q := engine.Request{
		Prompt: lead, Grammar: textLine, Stop: []string{"\n"}, Seed: p.Seed,
		Temperature: m.cfg.Temperature, TopP: m.cfg.TopP, MaxTokens: min(m.cfg.MaxTokens, lineTokens),
	}
	if p.Question.Form == synod.Number {
		q.Grammar = numberLine
	}
	out, logprob, err := x.generate(ctx, q)
	if err != nil {
		return synod.Reply{}, err
	}
	text := strings.TrimSpace(out.Text)
	if out.Finish == "length" {
		text = sentences(text)
	}
	reply := synod.Reply{Typed: true, Answer: synod.Answer(text), Text: text, Usage: used(out.Usage), Logprob: logprob}
	if text == "" {
		return reply, failure(synod.Unreadable, "the answer is longer than a line")
	}
	return reply, nil
}

// possibleAnswers lists the answers of a question that has a few; else nil.
func possibleAnswers(q *synod.Question) []synod.Answer {
	switch q.Form {
	case synod.Bool:
		return []synod.Answer{"true", "false"}
	case synod.Choice:
		list := make([]synod.Answer, len(q.Options))
		for i, o := range q.Options {
			list[i] = synod.Answer(o.Label)
		}
		return list
	}
	return nil
}

// sentences returns text up to the end of its last whole sentence.
func sentences(text string) string {
	return text[:1+strings.LastIndexAny(text, ".!?")]
}

// choose refines: of its own answer and those it is shown, the member takes the
// one that its model would most likely write, and its own if none is likelier.
// Neither the reliability that the prompt shows nor the number of members with the
// same answer counts: shown a list of answers, a small model follows the list and
// not what it knows (docs/use/models.md).
func (m *embedded) choose(ctx context.Context, x *exchange, lead string) (synod.Reply, error) {
	p := x.prompt
	list := []synod.Answer{p.Own}
	for _, r := range p.Peers {
		if !slices.Contains(list, r.Answer) {
			list = append(list, r.Answer)
		}
	}
	if len(list) == 1 && x.want == nil {
		return synod.Reply{Typed: true, Answer: p.Own, Text: p.Spelled(p.Own)}, nil
	}
	w, err := likelihoods(ctx, x, lead, list)
	if err != nil {
		return synod.Reply{}, err
	}
	pick := likeliest(w.scores)
	return x.chosen(list[pick], pick, w), nil
}

// weighed are the scores of some answers.
type weighed struct {
	scores   []engine.LogProb
	logprobs []float64 // mean of a token, whatever the scores compare
	states   []*engine.States
	usage    engine.Usage
}

// chosen returns the reply that gives the picked one of the weighed answers.
func (x *exchange) chosen(a synod.Answer, pick int, w weighed) synod.Reply {
	reply := synod.Reply{Typed: true, Answer: a, Text: x.prompt.Spelled(a), Usage: used(w.usage)}
	if x.want != nil {
		x.states, reply.Logprob = w.states[pick], &w.logprobs[pick]
	}
	return reply
}

// likelihoods scores answers, as Score.Mean. Options, whose text is given, are
// compared by the mean over their tokens. Free answers are compared by the sum
// over the whole line with its end, which is how likely the model would have
// written exactly that: by the mean, a long sentence beats the one word that was
// wanted.
func likelihoods(ctx context.Context, x *exchange, lead string, list []synod.Answer) (w weighed, err error) {
	free := possibleAnswers(x.prompt.Question) == nil
	lines := make([]string, len(list))
	for i, a := range list {
		lines[i] = " " + asText(x.prompt, a)
		if free {
			lines[i] += "\n"
		}
	}
	w.scores, w.states, w.usage, err = x.Weigh(ctx, lead, lines, x.want)
	for i := range w.scores {
		w.logprobs = append(w.logprobs, w.scores[i].Mean)
		if free {
			w.scores[i].Mean = w.scores[i].Sum
		}
	}
	return w, err
}

// asText returns an answer as it would appear in a text: the text of an option
// and not its label, and the beginning of a reply of that stance.
func asText(p *synod.Prompt, a synod.Answer) string {
	if text, ok := openings[a]; ok && p.Question.Form == synod.Stance {
		return text
	}
	for _, o := range p.Question.Options {
		if strings.EqualFold(o.Label, string(a)) {
			return o.Text
		}
	}
	return p.Spelled(a)
}

var openings = map[synod.Answer]string{
	synod.Complies: "Sure, here is what you asked for.",
	synod.Refuses:  "I'm sorry, but I can't help with that.",
	synod.Partial:  "I can't help with all of that, but here is what I can say.",
}

// likeliest returns the index of the highest mean, the first of several.
func likeliest(scores []engine.LogProb) int {
	best := 0
	for i := range scores {
		if scores[i].Mean > scores[best].Mean {
			best = i
		}
	}
	return best
}

// secondLikeliest returns the index of the highest mean but that of the likeliest: the answer that members of the model
// most easily take for the one that it holds to be right.
func secondLikeliest(scores []engine.LogProb, likeliest int) int {
	second := -1
	for i := range scores {
		if i != likeliest && (second < 0 || scores[i].Mean > scores[second].Mean) {
			second = i
		}
	}
	return max(second, 0)
}

// sample returns an index with probability proportional to exp(mean / temperature).
func sample(scores []engine.LogProb, top, temperature float64, seed uint64) int {
	weights, sum := make([]float64, len(scores)), 0.0
	for i, s := range scores {
		weights[i] = math.Exp((s.Mean - top) / temperature)
		sum += weights[i]
	}
	at := rand.New(rand.NewPCG(seed, 0xc401ce)).Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(scores) - 1
}

// generate returns text, and the mean log-probability of its tokens if hidden
// states are wanted.
func (x *exchange) generate(ctx context.Context, q engine.Request) (engine.Result, *float64, error) {
	q.Capture, q.Logprobs = x.want, x.want != nil
	out, err := x.Generate(ctx, q)
	x.states = out.States
	if err != nil || len(out.Logprobs) == 0 {
		return out, nil, err
	}
	mean := 0.0
	for _, l := range out.Logprobs {
		mean += l / float64(len(out.Logprobs))
	}
	return out, &mean, nil
}
