package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"synod.dev/synod/llm/engine/internal/llama"
)

// vocabulary is the part of *llama.Session that chat uses.
type vocabulary interface {
	Tokenize(text string, special bool) ([]llama.Token, error)
	BOS() (llama.Token, bool)
	Template() string
	Render(template string, messages [][2]string) (string, error)
}

// chat converts messages to tokens.
type chat struct {
	vocab     vocabulary
	template  string
	rendering string
	stop      []string // stop strings of the transcript
}

func newChat(v vocabulary) chat {
	c := chat{vocab: v, template: v.Template(), rendering: "template"}
	if c.template == "" {
		c.rendering = "transcript: the model file has no chat template"
	} else if _, err := v.Render(c.template, [][2]string{{"user", "x"}}); err != nil {
		c.rendering = "transcript: llama.cpp does not recognise the chat template"
	}
	if c.rendering != "template" {
		c.stop = []string{"\nUser:", "\nSystem:"}
	}
	return c
}

func (c chat) sha256() string {
	if c.template == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c.template))
	return hex.EncodeToString(sum[:])
}

// plain tokenises text without control tokens, after the token that begins a text.
func (c chat) plain(text string) ([]llama.Token, error) {
	tokens, err := c.vocab.Tokenize(text, false)
	if err != nil {
		return nil, err
	}
	return c.begin(tokens), nil
}

func (c chat) begin(tokens []llama.Token) []llama.Token {
	bos, ok := c.vocab.BOS()
	if !ok || (len(tokens) > 0 && tokens[0] == bos) {
		return tokens
	}
	return append([]llama.Token{bos}, tokens...)
}

// render applies the template to placeholders and then replaces them by the tokens of the
// contents, so that only the template can produce control tokens.
func (c chat) render(messages []Message) ([]llama.Token, error) {
	if c.rendering != "template" {
		return c.transcript(messages)
	}
	pairs := make([][2]string, len(messages))
	for i, m := range messages {
		if strings.ContainsRune(m.Role, 0) || len(m.Role) > 64 {
			return nil, fmt.Errorf("engine: %w: invalid role", ErrRequest)
		}
		pairs[i] = [2]string{m.Role, placeholder(i)}
	}
	text, err := c.vocab.Render(c.template, pairs)
	if err != nil {
		return nil, fmt.Errorf("engine: %w: %w", ErrRequest, err)
	}
	var out []llama.Token
	for text != "" {
		at, which := nextPlaceholder(text, len(messages))
		head, err := c.vocab.Tokenize(text[:at], true)
		if err != nil {
			return nil, err
		}
		out = append(out, head...)
		if which < 0 {
			break
		}
		body, err := c.vocab.Tokenize(messages[which].Content, false)
		if err != nil {
			return nil, err
		}
		out = append(out, body...)
		text = text[at+len(placeholder(which)):]
	}
	return c.begin(out), nil
}

// placeholder returns a text with control characters, which a template does not have.
func placeholder(i int) string { return fmt.Sprintf("\x1a%d\x1a", i) }

func nextPlaceholder(text string, n int) (at, which int) {
	at, which = len(text), -1
	for i := range n {
		if j := strings.Index(text, placeholder(i)); j >= 0 && j < at {
			at, which = j, i
		}
	}
	return at, which
}

// transcript renders messages for models without a usable template.
func (c chat) transcript(messages []Message) ([]llama.Token, error) {
	var b strings.Builder
	for _, m := range messages {
		role := m.Role
		if role != "" {
			role = strings.ToUpper(role[:1]) + role[1:]
		}
		fmt.Fprintf(&b, "%s: %s\n\n", role, strings.TrimSpace(m.Content))
	}
	b.WriteString("Assistant:")
	return c.plain(b.String())
}
