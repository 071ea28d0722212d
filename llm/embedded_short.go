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
func (m *embedded) answer(ctx context.Context, c completer, p *synod.Prompt, lead string) (synod.Reply, error) {
	if options := answers(p.Question); options != nil {
		scores, usage, err := likelihoods(ctx, c, p, lead, options)
		if err != nil {
			return synod.Reply{}, err
		}
		pick := likeliest(scores)
		if m.cfg.Temperature > 0 {
			pick = sample(scores, scores[pick].Mean, m.cfg.Temperature, p.Seed)
		}
		return chosen(p, options[pick], usage), nil
	}
	q := engine.Request{
		Prompt: lead, Grammar: textLine, Stop: []string{"\n"}, Seed: p.Seed,
		Temperature: m.cfg.Temperature, TopP: m.cfg.TopP, MaxTokens: min(m.cfg.MaxTokens, lineTokens),
	}
	if p.Question.Form == synod.Number {
		q.Grammar = numberLine
	}
	out, err := c.Generate(ctx, q)
	if err != nil {
		return synod.Reply{}, err
	}
	text := strings.TrimSpace(out.Text)
	if out.Finish == "length" {
		text = sentences(text)
	}
	reply := synod.Reply{Typed: true, Answer: synod.Answer(text), Text: text, Usage: used(out.Usage)}
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
func (m *embedded) choose(ctx context.Context, c completer, p *synod.Prompt, lead string) (synod.Reply, error) {
	table := []synod.Answer{p.Own}
	for _, r := range p.Peers {
		if !slices.Contains(table, r.Answer) {
			table = append(table, r.Answer)
		}
	}
	if len(table) == 1 {
		return chosen(p, p.Own, engine.Usage{}), nil
	}
	scores, usage, err := likelihoods(ctx, c, p, lead, table)
	if err != nil {
		return synod.Reply{}, err
	}
	return chosen(p, table[likeliest(scores)], usage), nil
}

func chosen(p *synod.Prompt, a synod.Answer, usage engine.Usage) synod.Reply {
	return synod.Reply{Typed: true, Answer: a, Text: p.Spelled(a), Usage: used(usage)}
}

// likelihoods weighs answers against one another, as Mean. Options, which someone
// else has worded, are compared by the mean of their tokens. Free words are
// compared by the sum over the whole line with its end, which is how likely the
// model would have written just that: by the mean, a long-winded sentence beats
// the word that was wanted.
func likelihoods(ctx context.Context, c completer, p *synod.Prompt, lead string, list []synod.Answer) ([]engine.Score, engine.Usage, error) {
	free := answers(p.Question) == nil && p.Question.Form != synod.Stance
	lines := make([]string, len(list))
	for i, a := range list {
		lines[i] = " " + inWords(p, a)
		if free {
			lines[i] += "\n"
		}
	}
	scores, usage, err := c.Likelihood(ctx, lead, lines)
	for i := range scores {
		if free {
			scores[i].Mean = scores[i].Sum
		}
	}
	return scores, usage, err
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
