//go:build (linux || darwin) && (amd64 || arm64) && !noengine

package llama

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// Tokenize splits text. With special, text such as <|im_start|> becomes the
// control token; without, it stays plain text, which is what untrusted words need.
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

// BOS returns the token a text of this model starts with, if it has one.
func (s *Session) BOS() (Token, bool) {
	t := s.lib.vocabBOS(s.vocab)
	return t, s.addsBOS && t >= 0
}

// Piece returns the bytes of a token; control tokens have none.
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

// EOG says whether a token ends a reply.
func (s *Session) EOG(t Token) bool { return s.lib.vocabEOG(s.vocab, t) }

// Vocab is the number of tokens.
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

// Description is llama.cpp's one line about the model.
func (s *Session) Description() string {
	buf := make([]byte, 256)
	n := s.lib.modelDesc(s.model, &buf[0], uint64(len(buf)))
	return string(buf[:max(0, min(int(n), len(buf)-1))])
}

// Params is the number of weights, Size their bytes, ContextTrained the
// longest text the model was trained on.
func (s *Session) Params() uint64      { return s.lib.modelParams(s.model) }
func (s *Session) Size() uint64        { return s.lib.modelSize(s.model) }
func (s *Session) ContextTrained() int { return int(s.lib.modelCtxTrain(s.model)) }

// Cells is the size of the key-value cache as the library made it.
func (s *Session) Cells() int { return int(s.lib.ctxSize(s.ctx)) }

// Template is the chat template in the model file, or "".
func (s *Session) Template() string { return s.lib.modelTemplate(s.model, nil) }

// Render applies a chat template to messages given as role, content pairs and
// opens the assistant's turn.
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
