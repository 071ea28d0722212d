package llm

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/llm/prompt"
)

// PartTaker is a Model that takes images, files or sounds, or replies without reading the question. A
// model that is none takes text only.
type PartTaker interface {
	// TakesPart reports why a part cannot be passed on to the model; nil if it can.
	TakesPart(p *synod.Part) error
}

// TakesPart asks the wrapped model.
func (l layered) TakesPart(p *synod.Part) error { return TakesPart(l.Model, p) }

// TakesPart reports why a part cannot be passed on to a model; nil if it can.
func TakesPart(m Model, p *synod.Part) error {
	if t, ok := m.(PartTaker); ok {
		return t.TakesPart(p)
	}
	return errors.New("it takes text only")
}

// media are the media types that an API takes, by kind of part.
type media map[synod.PartKind][]string

// takes reports why an API does not take a part. accepts, of a model's settings, may name fewer kinds; nil: all.
func (k media) takes(p *synod.Part, accepts []string) error {
	types := k[p.Kind]
	switch {
	case accepts != nil && !slices.Contains(accepts, string(p.Kind)):
		return fmt.Errorf("its settings say accepts: [%s]", strings.Join(accepts, ", "))
	case len(types) == 0:
		return fmt.Errorf("its API takes no %s", p.Kind)
	case !slices.Contains(types, p.Media):
		return fmt.Errorf("its API takes a part of the kind %s as %s, and this one is %s", p.Kind,
			strings.Join(types, ", "), p.Media)
	}
	return nil
}

// The media types that the APIs take, by their documents.
var (
	openAIMedia = media{
		synod.Image: {"image/png", "image/jpeg", "image/gif", "image/webp"},
		synod.File:  {"application/pdf"},
		synod.Audio: {"audio/wav", "audio/mpeg"},
	}
	anthropicMedia = media{
		synod.Image: {"image/png", "image/jpeg", "image/gif", "image/webp"},
		synod.File:  {"application/pdf", "text/plain"},
	}
	geminiMedia = media{
		synod.Image: {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"},
		synod.File:  {"application/pdf", "text/plain"},
		synod.Audio: {"audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"},
	}
)

// TakesPart reports why a part cannot be passed on.
func (m *OpenAI) TakesPart(p *synod.Part) error { return openAIMedia.takes(p, m.cfg.Accepts) }

// TakesPart reports why a part cannot be passed on.
func (m *native) TakesPart(p *synod.Part) error { return m.maker.media.takes(p, m.cfg.Accepts) }

// TakesPart accepts every part: a recorded reply was given to the question with its parts, which identify it.
func (m *recorded) TakesPart(*synod.Part) error { return nil }

// TakesPart accepts every part: a simulated member invents its answers and reads no question.
func (m *simulated) TakesPart(*synod.Part) error { return nil }

// checkAccepts refuses an unknown kind in a model's settings.
func checkAccepts(accepts []string) error {
	for _, a := range accepts {
		if !slices.Contains(synod.PartKinds(), synod.PartKind(a)) {
			return fmt.Errorf("accepts: %q is no kind of part%s; use some of %v, or [] for text only", a,
				synod.Hint(a, []string{"image", "file", "audio"}), synod.PartKinds())
		}
	}
	return nil
}

func base64Of(p *synod.Part) string { return base64.StdEncoding.EncodeToString(p.Data) }

func dataURL(p *synod.Part) string { return "data:" + p.Media + ";base64," + base64Of(p) }

// conversation returns the system texts of a chat and all its other turns in order: the conversation of the question,
// the council's own text, and what follows it.
func conversation(council string, c *prompt.Chat) (system []string, turns []synod.Turn) {
	system, turns = split(council, c.Turns)
	return system, append(append(turns, synod.Turn{Role: synod.ByUser, Text: c.User}), c.Then...)
}

// split returns the system texts of a conversation, the council's first, and its other turns.
func split(council string, turns []synod.Turn) (system []string, rest []synod.Turn) {
	if council != "" {
		system = append(system, council)
	}
	for _, t := range turns {
		if t.Role == synod.BySystem {
			system = append(system, t.Text)
		} else {
			rest = append(rest, t)
		}
	}
	return system, rest
}

// The parts of a request with a conversation to an OpenAI-compatible API.
type (
	openAIMessage struct {
		Role    string       `json:"role"`
		Content any          `json:"content"` // a text, a list of blocks, or null beside calls
		Calls   []openAICall `json:"tool_calls,omitempty"`
		Call    string       `json:"tool_call_id,omitempty"`
	}
	openAICall struct {
		ID       string         `json:"id"`
		Type     string         `json:"type"`
		Function openAIFunction `json:"function"`
	}
	openAIFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// block is a piece of the content of a message, as its API writes it.
type block = map[string]any

// openAIMessages returns the messages of a request: the system texts, the conversation, and the council's own
// text. Many chat templates refuse two messages of the user in a row, so what follows a message of the user is
// a block of its own in the same message.
func openAIMessages(system string, c *prompt.Chat) []openAIMessage {
	return openAITurns(conversation(system, c))
}

// openAITurns returns the messages of a conversation after its system texts.
func openAITurns(texts []string, turns []synod.Turn) (all []openAIMessage) {
	var blocks []block
	for _, s := range texts {
		blocks = append(blocks, block{"type": "text", "text": s})
	}
	add := func(role string, more ...block) {
		if last := len(all) - 1; last >= 0 && all[last].Role == role && role == "user" {
			all[last].Content = append(all[last].Content.([]block), more...)
			return
		}
		all = append(all, openAIMessage{Role: role, Content: more})
	}
	if len(blocks) > 0 {
		add("system", blocks...)
	}
	for _, t := range turns {
		switch t.Role {
		case synod.ByUser:
			add("user", openAIBlocks(&t)...)
		case synod.ByTool:
			all = append(all, openAIMessage{Role: "tool", Content: t.Text, Call: t.Call})
		default:
			m := openAIMessage{Role: "assistant"}
			if t.Text != "" {
				m.Content = t.Text
			}
			for _, call := range t.Calls {
				m.Calls = append(m.Calls, openAICall{call.ID, "function", openAIFunction{call.Name,
					string(arguments(&call))}})
			}
			all = append(all, m)
		}
	}
	for i := range all { // a single text is sent as most servers know it
		if b, ok := all[i].Content.([]block); ok && len(b) == 1 && b[0]["type"] == "text" {
			all[i].Content = b[0]["text"]
		}
	}
	return all
}

func openAIBlocks(t *synod.Turn) (blocks []block) {
	for i := range t.Parts {
		switch p := &t.Parts[i]; p.Kind {
		case synod.Image:
			blocks = append(blocks, block{"type": "image_url", "image_url": block{"url": dataURL(p)}})
		case synod.Audio:
			format := strings.TrimPrefix(strings.Replace(p.Media, "mpeg", "mp3", 1), "audio/")
			blocks = append(blocks, block{"type": "input_audio",
				"input_audio": block{"data": base64Of(p), "format": format}})
		default:
			blocks = append(blocks, block{"type": "file", "file": block{"filename": p.Name, "file_data": dataURL(p)}})
		}
	}
	if t.Text != "" {
		blocks = append(blocks, block{"type": "text", "text": t.Text})
	}
	return blocks
}

// arguments returns the arguments of a call, {} if it has none.
func arguments(c *synod.Call) []byte {
	if len(c.Arguments) == 0 {
		return []byte("{}")
	}
	return c.Arguments
}

// anthropicTurns returns the messages of a request to the Messages API. The API joins messages of one role; the
// council's own text is a block of its own.
func anthropicTurns(turns []synod.Turn) (all []anthropicMessage) {
	add := func(role string, more []any) {
		if last := len(all) - 1; last >= 0 && all[last].Role == role {
			all[last].Content = append(all[last].Content, more...)
			return
		}
		all = append(all, anthropicMessage{role, more})
	}
	for _, t := range turns {
		switch t.Role {
		case synod.ByUser:
			add("user", anthropicBlocks(&t))
		case synod.ByTool:
			add("user", []any{block{"type": "tool_result", "tool_use_id": t.Call, "content": t.Text}})
		default:
			var blocks []any
			if t.Text != "" {
				blocks = append(blocks, anthropicBlock{Type: "text", Text: t.Text})
			}
			for _, c := range t.Calls {
				blocks = append(blocks, block{"type": "tool_use", "id": c.ID, "name": c.Name,
					"input": json.RawMessage(arguments(&c))})
			}
			add("assistant", blocks)
		}
	}
	return all
}

func anthropicBlocks(t *synod.Turn) (blocks []any) {
	for i := range t.Parts {
		p := &t.Parts[i]
		source := block{"type": "base64", "media_type": p.Media, "data": base64Of(p)}
		if p.Media == "text/plain" {
			text := strings.ToValidUTF8(string(p.Data), "\uFFFD")
			source = block{"type": "text", "media_type": p.Media, "data": text}
		}
		b := block{"type": "image", "source": source}
		if p.Kind == synod.File {
			b["type"] = "document"
			if p.Name != "" {
				b["title"] = p.Name
			}
		}
		blocks = append(blocks, b)
	}
	if t.Text != "" {
		blocks = append(blocks, anthropicBlock{Type: "text", Text: t.Text})
	}
	return blocks
}

// calledTools declares the tools that a conversation has called, which the Messages API wants. No new call is
// allowed: the answer is text.
func calledTools(turns []synod.Turn) (tools []any) {
	var names []string
	for _, t := range turns {
		for _, c := range t.Calls {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
				tools = append(tools, block{"name": c.Name, "input_schema": block{"type": "object"}})
			}
		}
	}
	return tools
}

// geminiTurns returns the contents of a request to the Gemini API.
func geminiTurns(turns []synod.Turn) (all []geminiTurn) {
	add := func(role string, more []any) {
		if last := len(all) - 1; last >= 0 && all[last].Role == role {
			all[last].Parts = append(all[last].Parts, more...)
			return
		}
		all = append(all, geminiTurn{role, more})
	}
	names := map[string]string{} // of the tools, by id of the call
	for _, t := range turns {
		var parts []any
		for i := range t.Parts {
			p := &t.Parts[i]
			parts = append(parts, block{"inlineData": block{"mimeType": p.Media, "data": base64Of(p)}})
		}
		if t.Text != "" && t.Role != synod.ByTool {
			parts = append(parts, geminiPart{Text: t.Text})
		}
		switch t.Role {
		case synod.ByUser:
			add("user", parts)
		case synod.ByTool:
			add("user", []any{block{"functionResponse": block{"name": names[t.Call],
				"response": block{"result": t.Text}}}})
		default:
			for _, c := range t.Calls {
				names[c.ID] = c.Name
				parts = append(parts, block{"functionCall": block{"name": c.Name,
					"args": json.RawMessage(arguments(&c))}})
			}
			add("model", parts)
		}
	}
	return all
}
