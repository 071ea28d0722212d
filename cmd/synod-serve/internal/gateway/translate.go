package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

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
	return head, nil
}

// relayTranslated answers in the client's API when the reply of the server is whole.
func (p *pass) relayTranslated(ctx context.Context, d dialect, w http.ResponseWriter, res *llm.Relayed) *wire.Error {
	all, u, e := p.receive(ctx, w.Header(), res)
	if e != nil {
		return e
	}
	j := p.job
	a := &Answer{ID: j.id, Created: p.grant.Begun, Model: j.model(), Fingerprint: j.served.Fingerprint, Usage: u}
	choice, refusal := spoken(all["choices"])
	a.Choices, a.Refusal = []Choice{choice}, refusal
	sayWhole(d, w, a, j.req)
	return nil
}

// spoken is what the first choice of a chat completion says. A server's arguments that are no JSON object are passed
// on as an object with the text, because the APIs that are answered here have objects only.
func spoken(choices json.RawMessage) (c Choice, refusal string) {
	var list []struct {
		Finish  string `json:"finish_reason"`
		Message struct {
			Content *string `json:"content"`
			Refusal *string `json:"refusal"`
			Calls   []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
	}
	if json.Unmarshal(choices, &list) != nil || len(list) == 0 {
		return c, ""
	}
	m := list[0].Message
	if m.Refusal != nil {
		refusal = *m.Refusal
	}
	if m.Content != nil {
		c.Text = *m.Content
	}
	c.Finish = list[0].Finish
	for _, call := range m.Calls {
		arguments := json.RawMessage(strings.TrimSpace(call.Function.Arguments))
		if wire.Split(arguments) == nil {
			arguments, _ = json.Marshal(map[string]string{"arguments": call.Function.Arguments})
		}
		c.Calls = append(c.Calls, synod.Call{ID: call.ID, Name: call.Function.Name, Arguments: arguments})
	}
	return c, refusal
}
