//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"math"
	"strings"
)

// Grammar is the state of a GBNF grammar part of the way through a text.
type Grammar struct {
	s    *Session
	h    Sampler
	one  [1]TokenData
	many []TokenData
}

// NewGrammar starts a grammar at its rule "root".
func (s *Session) NewGrammar(text string) (*Grammar, error) {
	if strings.ContainsRune(text, 0) {
		return nil, ErrGrammar
	}
	h := s.lib.grammarInit(s.vocab, text, "root")
	if h == 0 {
		return nil, ErrGrammar
	}
	return &Grammar{s: s, h: h}, nil
}

// Allows reports whether t may come next.
func (g *Grammar) Allows(t Token) bool {
	g.one[0] = TokenData{ID: t, Logit: 1}
	arr := tokenDataArray{Data: &g.one[0], Size: 1, Selected: -1}
	g.s.lib.samplerApply(g.h, &arr)
	return !math.IsInf(float64(g.one[0].Logit), -1)
}

// Mask sets the logits of tokens that may not come next to -Inf, in place.
func (g *Grammar) Mask(logits []float32) {
	if g.many == nil {
		g.many = make([]TokenData, len(logits))
	}
	for i, l := range logits {
		g.many[i] = TokenData{ID: Token(i), Logit: l}
	}
	arr := tokenDataArray{Data: &g.many[0], Size: uint64(len(g.many)), Selected: -1}
	g.s.lib.samplerApply(g.h, &arr)
	for _, c := range g.many { // C may reorder: trust the ids
		logits[c.ID] = c.Logit
	}
}

// Accept moves past t, which must be allowed: C ends the process otherwise.
func (g *Grammar) Accept(t Token) { g.s.lib.samplerTake(g.h, t) }

// Close frees the state.
func (g *Grammar) Close() { g.s.lib.samplerFree(g.h) }
