package gateway

import (
	"context"
	"encoding/json"
	"net/http"

	"synod.dev/synod"
	"synod.dev/synod/llm"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// translated reads a request of an API that the model's server does not have, and returns it as a chat completion.
func (p *pass) translated(d dialect, body []byte) (wire.Head, *wire.Error) {
	if e := p.readFor(p.job, d, body); e != nil {
		return wire.Head{}, e
	}
	turns := p.job.req.Turns
	if p.job.req.Prefill != "" { // the server goes on with the assistant's last message itself
		turns = turns[:len(turns)-1]
	}
	messages, err := llm.RelayMessages(turns)
	if err != nil {
		return wire.Head{}, wire.Invalid("messages", "%v", err)
	}
	head, err := p.job.req.Chat(messages)
	if err != nil {
		return head, wire.Invalid("messages", "%v", err)
	}
	head.Stream = p.job.req.Stream
	return head, nil
}

// relayTranslated answers in the client's API when the reply of the server is whole.
func (p *pass) relayTranslated(ctx context.Context, d dialect, w http.ResponseWriter, res *llm.Relayed) *wire.Error {
	var choice Choice
	var refusal string
	_, u, e := p.receive(ctx, w.Header(), res, func(choices json.RawMessage) (ok bool) {
		choice, refusal, ok = spoken(choices)
		return ok
	})
	if e != nil {
		return e
	}
	j := p.job
	a := &Answer{ID: j.id, Created: p.grant.Begun, Model: j.model(), Fingerprint: j.served.Fingerprint, Usage: u}
	a.Choices, a.Refusal = []Choice{choice}, refusal
	sayWhole(d, w, a, j.req)
	return nil
}

// message is what a server says in a chat completion, whole or a piece of it. Nothing in it is trusted.
type message struct {
	Content loose `json:"content"`
	Refusal loose `json:"refusal"`
	Calls   []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments loose  `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// loose is a text that some servers send as a list of parts with texts, or as the JSON value that it should hold.
type loose string

// UnmarshalJSON reads all of these.
func (l *loose) UnmarshalJSON(b []byte) error {
	var text *string
	var parts []struct {
		Text string `json:"text"`
	}
	switch {
	case json.Unmarshal(b, &text) == nil:
		if text != nil {
			*l = loose(*text)
		}
	case json.Unmarshal(b, &parts) == nil:
		for _, p := range parts {
			*l += loose(p.Text)
		}
	default:
		*l = loose(b)
	}
	return nil
}

// stopSequence is the stop sequence that a server names as the reason of the end; "": it names none.
func stopSequence(raw json.RawMessage) (stop string) {
	_ = json.Unmarshal(raw, &stop) // a number is the token that ends every reply
	return stop
}

// spoken is what the first choice of a chat completion says; false if it is no message.
func spoken(choices json.RawMessage) (c Choice, refusal string, ok bool) {
	var list []struct {
		Finish  string          `json:"finish_reason"`
		Stop    json.RawMessage `json:"stop_reason"`
		Message message         `json:"message"`
	}
	if json.Unmarshal(choices, &list) != nil || len(list) == 0 {
		return c, "", false
	}
	m := list[0].Message
	c = Choice{Text: string(m.Content), Finish: list[0].Finish, Stop: stopSequence(list[0].Stop)}
	for _, call := range m.Calls {
		c.Calls = append(c.Calls, synod.Call{ID: call.ID, Name: call.Function.Name,
			Arguments: arguments(string(call.Function.Arguments))})
	}
	return c, string(m.Refusal), true
}
