package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"

	"synod.dev/synod"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// stored answers a request about a response that was kept for the key that asks.
func (x responses) stored(answer func(w http.ResponseWriter, id, key string, kept *store.Response) *wire.Error,
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		key, e := x.g.Authorise(r.Context(), r.Header)
		id := r.PathValue("id")
		if e == nil {
			kept, err := x.g.o.Store.Response(id, keyID(key))
			switch {
			case err != nil:
				e = x.g.storeDown(err)
			case kept == nil:
				e = noResponse(id)
			default:
				e = answer(w, id, keyID(key), kept)
			}
		}
		if e != nil {
			x.g.deny(w, r, key, e)
		}
	}
}

// sendStored is GET /v1/responses/ID.
func sendStored(w http.ResponseWriter, id, _ string, kept *store.Response) *wire.Error {
	if len(kept.Body) == 0 {
		return noResponse(id) // an earlier release has kept the conversation alone
	}
	writeBody(w, http.StatusOK, kept.Body)
	return nil
}

// forget is DELETE /v1/responses/ID. No later request can go on from the response.
func (x responses) forget(w http.ResponseWriter, id, key string, _ *store.Response) *wire.Error {
	there, err := x.g.o.Store.DeleteResponse(id, key)
	switch {
	case err != nil:
		return x.g.storeDown(err)
	case !there:
		return noResponse(id)
	}
	writeJSON(w, http.StatusOK, map[string]any{"id": id, "object": "response", "deleted": true})
	return nil
}

// sendInput is GET /v1/responses/ID/input_items: the conversation before the answer, on one page.
func sendInput(w http.ResponseWriter, id, _ string, kept *store.Response) *wire.Error {
	var turns []synod.Turn
	if json.Unmarshal(kept.Conversation, &turns) != nil || len(turns) == 0 {
		return noResponse(id)
	}
	data := []any{}
	for i, t := range turns[:len(turns)-1] {
		for k, item := range inputItems(t) {
			item["id"] = fmt.Sprintf("in_%s_%d_%d", id, i, k)
			data = append(data, item)
		}
	}
	list := map[string]any{"object": "list", "data": data, "has_more": false, "first_id": nil, "last_id": nil}
	if len(data) > 0 {
		list["first_id"], list["last_id"] = data[0].(map[string]any)["id"], data[len(data)-1].(map[string]any)["id"]
	}
	writeJSON(w, http.StatusOK, list)
	return nil
}

// inputItems returns a turn as items of the API. Of images and files it has the media type.
func inputItems(t synod.Turn) (all []map[string]any) {
	if t.Role == synod.ByTool {
		return []map[string]any{{"type": "function_call_output", "call_id": t.Call, "output": t.Text}}
	}
	kind := "input_text"
	if t.Role == synod.ByAssistant {
		kind = "output_text"
	}
	content := []any{}
	if t.Text != "" {
		content = append(content, map[string]any{"type": kind, "text": t.Text})
	}
	for _, p := range t.Parts {
		content = append(content, map[string]any{"type": kind, "text": "[" + p.Media + " " + p.Name + "]"})
	}
	if len(content) > 0 {
		all = append(all, map[string]any{"type": "message", "role": t.Role, "status": "completed", "content": content})
	}
	for _, c := range t.Calls {
		all = append(all, map[string]any{"type": "function_call", "status": "completed", "call_id": c.ID,
			"name": c.Name, "arguments": string(c.Arguments)})
	}
	return all
}

// countTokens is POST /v1/messages/count_tokens, which costs nothing.
func (g *Gateway) countTokens(w http.ResponseWriter, r *http.Request) {
	key, e := g.Authorise(r.Context(), r.Header)
	var tokens int
	if e == nil {
		body, held, short := g.body(w, r, keyID(key))
		defer g.bodies.give(keyID(key), held)
		if e = short; e == nil {
			var model string
			if model, tokens, e = wire.CountMessages(body); e == nil {
				_, e = listed(g.o.Councils, key, model)
			}
		}
	}
	if e != nil {
		errorHeaders(w.Header(), e)
		messages{}.refuse(w, e)
		g.refuse(&asking{api: "messages", id: requestID(w), key: key}, e)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"input_tokens": tokens})
}
