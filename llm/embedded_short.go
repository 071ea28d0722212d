package llm

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/engine"
)

// What a small model does best: continue a text by a line, and say how likely a
// given line is.

// Grammars of one line after "Answer:".
const (
	numberLine = `root ::= " " "-"? [0-9] [0-9]? [0-9]? [0-9]? [0-9]? [0-9]? [0-9]? [0-9]? [0-9]? ("." [0-9] [0-9]? [0-9]? [0-9]?)? "\n"`
	textLine   = `root ::= " " [^\x00-\x20\x7F] [^\x00-\x1F\x7F]* "\n"`
	lineTokens = 48
)

// answer answers by one line. Where the question has options, the line is sampled
// from them: option i with probability ∝ exp(mean log-probability / temperature).
func (m *embedded) answer(ctx context.Context, x *exchange, lead string) (synod.Reply, error) {
	p := x.prompt
	if options := answers(p.Question); options != nil {
		w, err := likelihoods(ctx, x, lead, options)
		if err != nil {
			return synod.Reply{}, err
		}
		pick := likeliest(w.scores)
		if m.cfg.Temperature > 0 {
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
		return reply, &Failure{Status: synod.Unreadable, Err: errors.New("the answer is longer than a line")}
	}
	return reply, nil
}

// answers lists what can be said to a question that is answered by one of a few.
func answers(q *synod.Question) []synod.Answer {
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

// sentences is text up to the end of its last whole sentence.
func sentences(text string) string {
	return text[:1+strings.LastIndexAny(text, ".!?")]
}

// choose refines: of its own answer and those it is shown, the member takes the
// one that its model would most likely write, its own where none is likelier. The
// reliability that the prompt shows plays no part, nor how many others say the
// same: shown a list of answers, a small model follows the list and not what it
// knows (docs/box.md).
func (m *embedded) choose(ctx context.Context, x *exchange, lead string) (synod.Reply, error) {
	p := x.prompt
	table := []synod.Answer{p.Own}
	for _, r := range p.Peers {
		if !slices.Contains(table, r.Answer) {
			table = append(table, r.Answer)
		}
	}
	if len(table) == 1 && x.want == nil {
		return synod.Reply{Typed: true, Answer: p.Own, Text: p.Spelled(p.Own)}, nil
	}
	w, err := likelihoods(ctx, x, lead, table)
	if err != nil {
		return synod.Reply{}, err
	}
	pick := likeliest(w.scores)
	return x.chosen(table[pick], pick, w), nil
}

// weighed are answers weighed against one another.
type weighed struct {
	scores   []engine.Score
	logprobs []float64 // a token, whatever the scores compare
	states   []*engine.States
	usage    engine.Usage
}

// chosen is the reply that takes the picked of the weighed answers.
func (x *exchange) chosen(a synod.Answer, pick int, w weighed) synod.Reply {
	reply := synod.Reply{Typed: true, Answer: a, Text: x.prompt.Spelled(a), Usage: used(w.usage)}
	if x.want != nil {
		x.states, reply.Logprob = w.states[pick], &w.logprobs[pick]
	}
	return reply
}

// likelihoods weighs answers against one another, as Mean. Options, which someone
// else has worded, are compared by the mean of their tokens. Free words are
// compared by the sum over the whole line with its end, which is how likely the
// model would have written just that: by the mean, a long-winded sentence beats
// the word that was wanted.
func likelihoods(ctx context.Context, x *exchange, lead string, list []synod.Answer) (w weighed, err error) {
	free := answers(x.prompt.Question) == nil
	lines := make([]string, len(list))
	for i, a := range list {
		lines[i] = " " + inWords(x.prompt, a)
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

// inWords is an answer as it would stand in a text: an option's own words and
// not its label, and the words with which a reply of that stance would begin.
func inWords(p *synod.Prompt, a synod.Answer) string {
	if words, ok := openings[a]; ok && p.Question.Form == synod.Stance {
		return words
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

// likeliest is the first of the highest means.
func likeliest(scores []engine.Score) int {
	best := 0
	for i := range scores {
		if scores[i].Mean > scores[best].Mean {
			best = i
		}
	}
	return best
}

func sample(scores []engine.Score, top, temperature float64, seed uint64) int {
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
