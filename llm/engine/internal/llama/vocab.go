//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// Tokenize returns the tokens of a text. With special, text such as <|im_start|> becomes a
// control token; without, it stays plain text, which is necessary for untrusted text.
func (s *Session) Tokenize(text string, special bool) ([]Token, error) {
	if text == "" {
		return nil, nil
	}
	raw := []byte(text)
	out := make([]Token, len(raw)+8)
	n := s.lib.tokenize(s.vocab, &raw[0], int32(len(raw)), &out[0], int32(len(out)), false, special)
	if n < 0 { // the buffer was too small by C's count
		out = make([]Token, -n)
		n = s.lib.tokenize(s.vocab, &raw[0], int32(len(raw)), &out[0], int32(len(out)), false, special)
	}
	if n < 0 {
		return nil, fmt.Errorf("llama: cannot tokenize %d bytes", len(raw))
	}
	return out[:n], nil
}

// BOS returns the token at the beginning of each text of this model, if it has one.
func (s *Session) BOS() (Token, bool) {
	t := s.lib.vocabBOS(s.vocab)
	return t, s.addsBOS && t >= 0
}

// Piece returns the bytes of a token. Control tokens have none.
func (s *Session) Piece(t Token) []byte {
	if p, ok := s.pieces[t]; ok {
		return p
	}
	buf := make([]byte, 64)
	n := s.lib.tokenPiece(s.vocab, t, &buf[0], int32(len(buf)), 0, false)
	if n < 0 {
		buf = make([]byte, -n)
		n = s.lib.tokenPiece(s.vocab, t, &buf[0], int32(len(buf)), 0, false)
	}
	s.pieces[t] = buf[:max(n, 0)]
	return s.pieces[t]
}

// EOG reports whether a token ends a reply.
func (s *Session) EOG(t Token) bool { return s.lib.vocabEOG(s.vocab, t) }

// Vocab returns the number of tokens in the vocabulary.
func (s *Session) Vocab() int { return s.nVocab }

// Meta returns a value of the model file's header, or "".
func (s *Session) Meta(key string) string {
	buf := make([]byte, 512)
	n := s.lib.modelMeta(s.model, key, &buf[0], uint64(len(buf)))
	if n < 0 {
		return ""
	}
	return string(buf[:min(int(n), len(buf)-1)])
}

// Description returns llama.cpp's one-line description of the model.
func (s *Session) Description() string {
	buf := make([]byte, 256)
	n := s.lib.modelDesc(s.model, &buf[0], uint64(len(buf)))
	return string(buf[:max(0, min(int(n), len(buf)-1))])
}

// Params returns the number of weights.
func (s *Session) Params() uint64 { return s.lib.modelParams(s.model) }

// Size returns the size of the weights in bytes.
func (s *Session) Size() uint64 { return s.lib.modelSize(s.model) }

// ContextTrained returns the number of tokens of the longest text in training.
func (s *Session) ContextTrained() int { return int(s.lib.modelCtxTrain(s.model)) }

// Template returns the chat template in the model file, or "".
func (s *Session) Template() string { return s.lib.modelTemplate(s.model, nil) }

// Render applies a chat template to messages, which are pairs of role and content, and
// begins the assistant's turn.
func (s *Session) Render(tmpl string, messages [][2]string) (string, error) {
	if len(messages) == 0 {
		return "", errors.New("llama: no messages")
	}
	size := 256 + len(tmpl)
	chat := make([]chatMessage, len(messages))
	for i, m := range messages {
		if strings.ContainsRune(m[0]+m[1], 0) {
			return "", errors.New("llama: a message contains a NUL byte")
		}
		chat[i] = chatMessage{Role: cstring(m[0]), Content: cstring(m[1])}
		size += 2 * (len(m[0]) + len(m[1]))
	}
	for range 2 {
		buf := make([]byte, size)
		n := int(s.lib.template(cstring(tmpl), &chat[0], uint64(len(chat)), true, &buf[0], int32(size)))
		if n < 0 {
			return "", ErrTemplate
		}
		if n <= size {
			return string(buf[:n]), nil
		}
		size = n
	}
	return "", ErrTemplate
}

func cstring(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }

// Grammar is the state of a GBNF grammar after a part of a text.
type Grammar struct {
	s    *Session
	h    Sampler
	one  [1]TokenData
	many []TokenData
}

// NewGrammar parses a grammar and starts at its rule "root".
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
	for _, c := range g.many { // C may reorder the entries
		logits[c.ID] = c.Logit
	}
}

// Accept advances the grammar by t. If t is not allowed, C ends the process.
func (g *Grammar) Accept(t Token) { g.s.lib.samplerTake(g.h, t) }

// Close frees the grammar.
func (g *Grammar) Close() { g.s.lib.samplerFree(g.h) }
