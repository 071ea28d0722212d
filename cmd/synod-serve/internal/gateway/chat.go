package gateway

import (
	"net/http"

	"synod.dev/synod"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// chat is POST /v1/chat/completions.
type chat struct{}

func (chat) name() string { return "chat" }

func (chat) read(body []byte, rules wire.Rules) (*wire.Request, *wire.Error) {
	return wire.ReadChat(body, rules)
}

func (chat) refuse(w http.ResponseWriter, e *wire.Error) { writeJSON(w, e.HTTP, e.Body()) }

// chatUsage is OpenAI's count of tokens.
type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

func (u Usage) chat() *chatUsage { return &chatUsage{u.Prompt, u.Completion, u.Prompt + u.Completion} }

type chatMessage struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Refusal *string    `json:"refusal"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
}

// chatCall is a call of a tool. Index is only in streams.
type chatCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func chatCalls(calls []synod.Call, inStream bool) []chatCall {
	all := make([]chatCall, len(calls))
	for i, c := range calls {
		all[i] = chatCall{ID: c.ID, Type: "function"}
		all[i].Function.Name, all[i].Function.Arguments = c.Name, string(c.Arguments)
		if inStream {
			all[i].Index = &i
		}
	}
	return all
}

type chatChoice struct {
	Index    int         `json:"index"`
	Message  chatMessage `json:"message"`
	Logprobs any         `json:"logprobs"`
	Finish   string      `json:"finish_reason"`
}

func (c chat) whole(a *Answer, r *wire.Request) any {
	choices := []chatChoice{}
	for i, choice := range a.Choices {
		text, finish, _ := choice.end(r)
		m := chatMessage{Role: "assistant", Content: &text}
		switch {
		case a.Refusal != "":
			m.Content, m.Refusal = nil, &a.Refusal
		case len(choice.Calls) > 0:
			if m.Calls = chatCalls(choice.Calls, false); text == "" {
				m.Content = nil
			}
		}
		choices = append(choices, chatChoice{Index: i, Message: m, Finish: finish})
	}
	return struct {
		ID          string       `json:"id"`
		Object      string       `json:"object"`
		Created     int64        `json:"created"`
		Model       string       `json:"model"`
		Fingerprint string       `json:"system_fingerprint"`
		Choices     []chatChoice `json:"choices"`
		Usage       *chatUsage   `json:"usage"`
		Synod       *Report      `json:"synod,omitempty"`
	}{chatID(a), "chat.completion", a.Created.Unix(), a.Model, a.Fingerprint, choices, a.Usage.chat(), a.Synod}
}

func chatID(a *Answer) string { return "chatcmpl-" + a.ID }

// chatDelta is what a chunk adds.
type chatDelta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	Refusal *string `json:"refusal,omitempty"`

	Calls []chatCall `json:"tool_calls,omitempty"`
}

type chunkChoice struct {
	Index    int       `json:"index"`
	Delta    chatDelta `json:"delta"`
	Logprobs any       `json:"logprobs"`
	Finish   *string   `json:"finish_reason"`
}

// chatChunk is a chunk of a stream. Usage is null in all but the last where the client wants it, and absent
// where it does not.
type chatChunk struct {
	ID          string        `json:"id"`
	Object      string        `json:"object"`
	Created     int64         `json:"created"`
	Model       string        `json:"model"`
	Fingerprint string        `json:"system_fingerprint"`
	Choices     []chunkChoice `json:"choices"`
	Usage       any           `json:"usage,omitempty"`
	Synod       any           `json:"synod,omitempty"`
}

// null is a JSON null that omitempty keeps.
type null struct{}

func (*null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func chunk(a *Answer, r *wire.Request, choices ...chunkChoice) *chatChunk {
	c := &chatChunk{ID: chatID(a), Object: "chat.completion.chunk", Created: a.Created.Unix(), Model: a.Model,
		Fingerprint: a.Fingerprint, Choices: append([]chunkChoice{}, choices...)}
	if r.Usage {
		c.Usage = &null{}
	}
	return c
}

func (c chat) begin(s *sse, a *Answer, r *wire.Request) {
	empty := ""
	s.event("", chunk(a, r, chunkChoice{Delta: chatDelta{Role: "assistant", Content: &empty}}))
}

func (c chat) progress(s *sse, a *Answer, p Progress) {
	x := chunk(a, &wire.Request{})
	x.Synod = map[string]any{"progress": p}
	s.event("", x)
}

func (c chat) decide(s *sse, a *Answer, r *wire.Request) {
	var last *chatChunk
	for i, one := range a.Choices {
		text, finish, _ := one.end(r)
		if i > 0 {
			s.event("", chunk(a, r, chunkChoice{Index: i, Delta: chatDelta{Role: "assistant"}}))
		}
		for _, d := range c.deltas(a, one, text) {
			s.event("", chunk(a, r, chunkChoice{Index: i, Delta: d}))
		}
		last = chunk(a, r, chunkChoice{Index: i, Finish: &finish})
		if i == len(a.Choices)-1 && a.Synod != nil {
			last.Synod = a.Synod
		}
		s.event("", last)
	}
	if r.Usage {
		u := chunk(a, r)
		u.Usage = a.Usage.chat()
		s.event("", u)
	}
	s.write([]byte("data: [DONE]\n\n"))
}

// deltas are the parts of a choice.
func (chat) deltas(a *Answer, c Choice, text string) (all []chatDelta) {
	if a.Refusal != "" {
		return []chatDelta{{Refusal: &a.Refusal}}
	}
	for _, piece := range pieces(text) {
		all = append(all, chatDelta{Content: &piece})
	}
	if len(c.Calls) > 0 {
		all = append(all, chatDelta{Calls: chatCalls(c.Calls, true)})
	}
	return all
}

// fail ends the stream without [DONE], so that no client takes it for a success.
func (chat) fail(s *sse, e *wire.Error) { s.event("", e.Body()) }
