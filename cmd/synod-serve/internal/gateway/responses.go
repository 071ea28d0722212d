package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"synod.dev/synod"

	"synod.dev/synod/cmd/synod-serve/internal/store"
	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// responses is POST /v1/responses.
type responses struct{ g *Gateway }

func (responses) name() string { return "responses" }

func (responses) read(body []byte, rules wire.Rules) (*wire.Request, *wire.Error) {
	return wire.ReadResponses(body, rules)
}

func (responses) refuse(w http.ResponseWriter, e *wire.Error) { writeJSON(w, e.HTTP, e.Body()) }

func responseID(a *Answer) string { return "resp_" + a.ID }

// body is a response with a status and its output.
func (responses) body(a *Answer, r *wire.Request, status string, output []any) map[string]any {
	format := map[string]any{"type": "text"}
	if len(r.Schema) > 0 {
		format = map[string]any{"type": "json_schema", "name": "answer", "schema": r.Schema}
	}
	tools := []any{}
	for _, t := range r.Tools {
		tools = append(tools, map[string]any{"type": "function", "name": t.Name, "description": t.Description,
			"parameters": t.Parameters, "strict": false})
	}
	body := map[string]any{"id": responseID(a), "object": "response", "created_at": a.Created.Unix(), "status": status,
		"error": nil, "incomplete_details": nil, "instructions": nil, "max_output_tokens": nil, "model": a.Model,
		"output": output, "parallel_tool_calls": false, "previous_response_id": nil, "store": r.Store,
		"reasoning": map[string]any{"effort": nil, "summary": nil}, "temperature": nil, "top_p": nil,
		"text": map[string]any{"format": format}, "tool_choice": "auto", "tools": tools, "truncation": "disabled",
		"usage": nil, "user": nil, "metadata": map[string]any{}}
	if r.MaxTokens > 0 {
		body["max_output_tokens"] = r.MaxTokens
	}
	if r.Previous != "" {
		body["previous_response_id"] = r.Previous
	}
	if r.Choice != wire.ChoiceAuto {
		body["tool_choice"] = string(r.Choice)
	}
	return body
}

// done is a response with its output.
func (x responses) done(a *Answer, r *wire.Request) map[string]any {
	items, incomplete := x.items(a, r)
	status := "completed"
	if incomplete != "" {
		status = "incomplete"
	}
	output := make([]any, len(items))
	for i, item := range items {
		output[i] = item
	}
	body := x.body(a, r, status, output)
	if incomplete != "" {
		body["incomplete_details"] = map[string]any{"reason": incomplete}
	}
	body["usage"] = map[string]any{"input_tokens": a.Usage.Prompt, "output_tokens": a.Usage.Completion,
		"input_tokens_details":  map[string]any{"cached_tokens": 0},
		"output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": a.Usage.Prompt +
			a.Usage.Completion}
	if a.Synod != nil {
		body["synod"] = a.Synod
	}
	return body
}

// items are the items of an answer's output, and why it is incomplete; "" if it is not.
func (responses) items(a *Answer, r *wire.Request) (all []map[string]any, incomplete string) {
	c := a.Choices[0]
	text, finish, _ := c.end(r)
	part := map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
	if a.Refusal != "" {
		part = map[string]any{"type": "refusal", "refusal": a.Refusal}
	}
	status := "completed"
	incomplete = map[string]string{finishLength: "max_output_tokens", finishFilter: finishFilter}[finish]
	if incomplete != "" {
		status = "incomplete"
	}
	if text != "" || len(c.Calls) == 0 {
		all = append(all, map[string]any{"id": "msg_" + a.ID, "type": "message", "status": status,
			"role": "assistant", "content": []any{part}})
	}
	for i, call := range c.Calls {
		id := "fc_" + a.ID
		if i > 0 {
			id += "_" + strconv.Itoa(i)
		}
		all = append(all, map[string]any{"id": id, "type": "function_call", "status": "completed",
			"call_id": call.ID, "name": call.Name, "arguments": string(call.Arguments)})
	}
	return all, incomplete
}

func (x responses) whole(a *Answer, r *wire.Request) any {
	body := x.done(a, r)
	x.keep(a, r, body)
	return body
}

// send sends an event with its number.
func (responses) send(s *sse, kind string, more map[string]any) {
	more["type"], more["sequence_number"] = kind, s.seq
	s.seq++
	s.event(kind, more)
}

func (x responses) begin(s *sse, a *Answer, r *wire.Request) {
	body := x.body(a, r, "in_progress", []any{})
	x.send(s, "response.created", map[string]any{"response": body})
	x.send(s, "response.in_progress", map[string]any{"response": body})
}

func (x responses) progress(s *sse, _ *Answer, p Progress) {
	x.send(s, "synod.progress", map[string]any{"progress": p})
}

func (x responses) decide(s *sse, a *Answer, r *wire.Request) {
	body := x.done(a, r)
	x.keep(a, r, body)
	items, incomplete := x.items(a, r)
	for i, item := range items {
		if item["type"] == "function_call" {
			x.call(s, i, item)
		} else {
			x.message(s, i, item)
		}
	}
	end := "response.completed"
	if incomplete != "" {
		end = "response.incomplete"
	}
	x.send(s, end, map[string]any{"response": body})
}

// message sends a message.
func (x responses) message(s *sse, index int, item map[string]any) {
	open := map[string]any{"id": item["id"], "type": "message", "status": "in_progress", "role": "assistant",
		"content": []any{}}
	x.send(s, "response.output_item.added", map[string]any{"output_index": index, "item": open})
	parts, _ := item["content"].([]any)
	part, _ := parts[0].(map[string]any)
	x.part(s, index, item["id"], part)
	x.send(s, "response.output_item.done", map[string]any{"output_index": index, "item": item})
}

// part sends the text or refusal of a message.
func (x responses) part(s *sse, index int, id any, part map[string]any) {
	at := func(more map[string]any) map[string]any {
		more["item_id"], more["output_index"], more["content_index"] = id, index, 0
		return more
	}
	key, name := "text", "output_text"
	empty := map[string]any{"type": "output_text", "text": "", "annotations": []any{}, "logprobs": []any{}}
	if part["type"] == "refusal" {
		key, name, empty = "refusal", "refusal", map[string]any{"type": "refusal", "refusal": ""}
	}
	text, _ := part[key].(string)
	x.send(s, "response.content_part.added", at(map[string]any{"part": empty}))
	for _, piece := range pieces(text) {
		delta := at(map[string]any{"delta": piece})
		if name == "output_text" {
			delta["logprobs"] = []any{}
		}
		x.send(s, "response."+name+".delta", delta)
	}
	end := at(map[string]any{key: text})
	if name == "output_text" {
		end["logprobs"] = []any{}
	}
	x.send(s, "response."+name+".done", end)
	x.send(s, "response.content_part.done", at(map[string]any{"part": part}))
}

// call sends the call of a function.
func (x responses) call(s *sse, index int, item map[string]any) {
	open := map[string]any{"id": item["id"], "type": "function_call", "status": "in_progress",
		"call_id": item["call_id"],
		"name":    item["name"], "arguments": ""}
	x.send(s, "response.output_item.added", map[string]any{"output_index": index, "item": open})
	for _, kind := range []string{"delta", "done"} {
		more := map[string]any{"item_id": item["id"], "output_index": index}
		if more["delta"] = item["arguments"]; kind == "done" {
			delete(more, "delta")
			more["arguments"], more["name"] = item["arguments"], item["name"]
		}
		x.send(s, "response.function_call_arguments."+kind, more)
	}
	x.send(s, "response.output_item.done", map[string]any{"output_index": index, "item": item})
}

// fail ends the stream with the event of a failed response.
func (x responses) fail(s *sse, e *wire.Error) {
	body := map[string]any{"object": "response", "status": "failed", "output": []any{},
		"error": map[string]any{"code": e.Code, "message": e.Message}}
	if e.Synod != nil {
		body["synod"] = e.Outcome()
	}
	x.send(s, "response.failed", map[string]any{"response": body})
}

// keep keeps the conversation with the answer, so that a later request can go on from it or read it again.
func (x responses) keep(a *Answer, r *wire.Request, body map[string]any) {
	if !r.Store || a.Refusal != "" {
		return
	}
	turns := r.Turns
	said := synod.Turn{Role: synod.ByAssistant, Text: a.Choices[0].Text, Calls: a.Choices[0].Calls}
	if r.Prefill != "" { // the beginning and the rest are one reply
		turns, said.Text = turns[:len(turns)-2], r.Prefill+strings.TrimPrefix(said.Text, r.Prefill)
	}
	var kept store.Response
	var err error
	if kept.Conversation, err = json.Marshal(append(turns[:len(turns):len(turns)], said)); err == nil {
		kept.Body, err = json.Marshal(body)
	}
	if err == nil {
		err = x.g.o.Store.KeepResponse(responseID(a), r.Caller, kept)
	}
	if err != nil {
		x.g.o.Log.Error("a response cannot be kept", "request", a.ID, "error", err.Error())
	}
}

// recall puts the conversation that a request goes on from before it.
func (g *Gateway) recall(r *wire.Request) *wire.Error {
	if r.Previous == "" {
		return nil
	}
	kept, err := g.o.Store.Response(r.Previous, r.Caller)
	if err != nil {
		return g.storeDown(err)
	}
	var turns []synod.Turn
	if kept == nil || json.Unmarshal(kept.Conversation, &turns) != nil {
		e := noResponse(r.Previous)
		e.Code, e.Param = "previous_response_not_found", "previous_response_id"
		return e
	}
	r.Turns = append(turns, r.Turns...)
	return nil
}
