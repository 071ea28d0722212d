package campaign

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/protocol/check"
)

// ask answers the model calls of a tick. A reply follows from the seed of the execution, the member, its copy and the
// prompt, so that two runs can be compared. Only faults of the provider change it.
func (p *ExecutionPlayer) ask(calls []sim.Call) (wait func() []synod.Reply) {
	replies := make([]synod.Reply, len(calls))
	for i := range calls {
		c := &calls[i]
		p.trace.calls++
		if int(c.Node) < len(p.calls) {
			p.calls[c.Node]++
		}
		replies[i] = p.reply(c)
	}
	return func() []synod.Reply { return replies }
}

// reply returns the reply to one call: that of the first fault of the provider that hits it, or an honest one.
func (p *ExecutionPlayer) reply(c *sim.Call) synod.Reply {
	for i := range p.x.Events {
		e := &p.x.Events[i]
		n := p.calls[c.Node] - e.Arg
		if e.Node != c.Node || kinds[e.kind].Group != Provider || n <= 0 || e.Calls > 0 && n > e.Calls {
			continue
		}
		p.trace.failing[c.Node] = true
		p.happens(e.kind)
		if e.Kind == "nondeterministic" {
			return p.honestReply(c, uint64(p.calls[c.Node]))
		}
		reply := p.faultyReply(e, c)
		if reply.Status == synod.OK && c.Prompt.Purpose == synod.Answering && p.trace.Honest(c.Node) {
			if _, text, ok := strings.Cut(reply.Text, "Answer: "); ok {
				p.trace.Replies = append(p.trace.Replies, synod.Answer(text))
			}
		}
		return reply
	}
	return p.honestReply(c, 0)
}

// honestReply returns the reply of a model that works. With another salt, equal prompts get other replies.
func (p *ExecutionPlayer) honestReply(c *sim.Call, salt uint64) synod.Reply {
	q := c.Prompt
	h := check.Mix(p.x.Seed ^ uint64(c.Node)<<32 ^ uint64(c.ID/second)<<48 ^ salt)
	h = hashText(hashText(hashText(h, q.Purpose), q.Candidate), q.Own)
	for i := range q.Peers {
		h = hashText(h, q.Peers[i].Answer)
	}
	h = check.Mix(h)
	if d, ok := q.Detail.(synod.Simulable); ok {
		chance := rand.New(rand.NewPCG(h, 1))
		r := d.Simulate(q, synod.Simulation{Ability: []float64{.7, .3}[p.x.Seed>>5%2], Noise: .1, Stubbornness: .2,
			Sharpness: 4,
			Score:     func(a synod.Answer, _ string) float64 { return p.score(c.Node, a) }, Rand: chance})
		if p.trace.subject.Reply != nil {
			r = p.trace.subject.Reply(&p.trace.Trace, c.Node, q, r)
		}
		return r
	}
	out := synod.Reply{Status: synod.OK, Typed: true}
	switch q.Purpose {
	case synod.Scoring:
		out.Value = p.score(c.Node, q.Candidate)
		p.trace.Stated[c.Node] |= check.Tenths(out.Value)
	case synod.Weighing:
		out.Value = -p.score(c.Node, q.Candidate)
	default:
		out.Answer = p.answer(q, h)
		if q.Purpose == synod.Answering && p.trace.Honest(c.Node) {
			p.trace.Replies = append(p.trace.Replies, out.Answer)
		}
	}
	switch {
	case q.ConfidenceMode == synod.NoConfidence:
		return inWords(q, out, h)
	case h>>24%8 > 0: // some say nothing of it
		sure := float64(h>>8%11) / 10
		out.Confidence = &sure
	}
	return out
}

// inWords returns some replies to questions for a number as text: with reasoning, and with the number written in
// another way.
func inWords(q *synod.Prompt, r synod.Reply, h uint64) synod.Reply {
	if q.Question.Form != synod.Number || r.Answer == synod.None || h>>32%4 > 0 {
		return r
	}
	number := string(r.Answer)
	if h>>36%2 == 0 && !strings.ContainsAny(number, "./") {
		number += ".0"
	}
	why := fmt.Sprintf("I count %d.", h>>40%4)
	if h>>44%2 == 0 { // of many words, most of which others say as well
		why = fmt.Sprintf("I count %d because each of them is named in the text.", h>>40%4)
	}
	return synod.Reply{Status: synod.OK, Text: fmt.Sprintf(`{"reasoning": %q, "answer": %q}`, why, number)}
}

// score returns the score that a member gives an answer. There are only six scores, so that ties occur.
func (p *ExecutionPlayer) score(by synod.NodeID, a synod.Answer) float64 {
	if p.x.lenient() {
		return .5
	}
	return float64(check.Mix(hashText(p.x.Seed^uint64(by)<<16, a))%6) / 5
}

// answer returns an answer in the form of the question. There are only four answers to a question, so that members
// sometimes agree. A member that refines takes an answer that it has heard, or keeps its own, in three of four cases.
func (p *ExecutionPlayer) answer(q *synod.Prompt, h uint64) synod.Answer {
	if q.Purpose == synod.Refining && len(q.Peers) > 0 && h%4 > 0 {
		if k := int(h >> 3 % uint64(len(q.Peers)+1)); k < len(q.Peers) {
			return q.Peers[k].Answer
		}
		return q.Own
	}
	if q.Question.Form == synod.Prose {
		k := int(h >> 5 % 4)
		return synod.Answer(fmt.Sprintf("This is text number %d. It says a thing. It says %d things more.", k, k+1))
	}
	return synod.Answer(strconv.Itoa(int(h >> 5 % 4)))
}
