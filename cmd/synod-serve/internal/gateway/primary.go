package gateway

import (
	"encoding/json"
	"net/http"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// The values of Policy.Tools.
const (
	ToolsVote    = "vote"
	ToolsPrimary = "primary"
	ToolsReject  = "reject"
)

// usesTools reports whether a request may call tools or goes on after a call of one.
func usesTools(all wire.Members) bool {
	var tools []json.RawMessage
	if json.Unmarshal(all["tools"], &tools) == nil && len(tools) > 0 {
		return true
	}
	for _, key := range []string{"messages", "input"} {
		var list []struct {
			Role    string            `json:"role"`
			Type    string            `json:"type"`
			Calls   []json.RawMessage `json:"tool_calls"`
			Content json.RawMessage   `json:"content"`
		}
		if json.Unmarshal(all[key], &list) != nil {
			continue
		}
		for _, m := range list {
			if m.Role == "tool" || len(m.Calls) > 0 || m.Type == "function_call" || m.Type == "function_call_output" {
				return true
			}
			var blocks []struct {
				Type string `json:"type"`
			}
			_ = json.Unmarshal(m.Content, &blocks) // a text has none
			for _, b := range blocks {
				if b.Type == "tool_use" || b.Type == "tool_result" {
					return true
				}
			}
		}
	}
	return false
}

// primary passes a request with tools on to one member of a council, which keeps the ids of its calls.
func (g *Gateway) primary(d dialect, w http.ResponseWriter, r *http.Request, j *job, body []byte,
	head wire.Head) *wire.Error {
	model, seat, ok := g.o.Councils.Primary(j.served)
	if !ok {
		return wire.Unsupported("tools", "no member of the council %s is behind an OpenAI-compatible server, to which "+
			"a request with tools could be passed on", j.served.ID)
	}
	defer model.Release()
	j.as, j.seat, j.served = j.served.ID, seat, model
	return g.solo(d, w, r, j, body, head)
}
