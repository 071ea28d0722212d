package llm

import (
	"math"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

// tokenProb is a token of a reply with its natural log-probability.
type tokenProb struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// likelihoodOf returns the probability of a token of the answer in a reply: exp of the mean log-probability of the
// tokens that the answer is written with, at its last place. It is nil if no answer is read, or if the tokens do not
// make up the text, as with servers that send bytes or leave tokens out.
func likelihoodOf(tokens []tokenProb, p *synod.Prompt, reply synod.Reply) *float64 {
	if p == nil || p.ConfidenceMode != synod.LikelihoodConfidence || p.Question == nil {
		return nil
	}
	read.SetVersion(&reply)
	_, surface, ok := read.Answer(p.Question, &reply, p.Exact)
	at := strings.LastIndex(reply.Text, surface)
	if !ok || surface == "" || at < 0 {
		return nil
	}
	sum, n, end := 0.0, 0, 0
	for _, t := range tokens {
		begin := end
		end += len(t.Token)
		if end > len(reply.Text) || reply.Text[begin:end] != t.Token {
			return nil
		}
		if begin < at+len(surface) && end > at {
			sum, n = sum+t.Logprob, n+1
		}
	}
	if end != len(reply.Text) || n == 0 || !(sum <= 0) {
		return nil
	}
	return new(math.Exp(sum / float64(n)))
}
