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
func (x responses) items(a *Answer, r *wire.Request) (all []map[string]any, incomplete string) {
	_, finish, _ := a.Choices[0].end(r)
	incomplete = map[string]string{finishLength: "max_output_tokens", finishFilter: finishFilter}[finish]
	for i, b := range a.blocks(r) {
		all = append(all, x.item(a, i, b))
	}
	return all, incomplete
}

// item is a part of an answer as an item of the output.
func (x responses) item(a *Answer, number int, b *block) map[string]any {
	id, status := x.itemID(a, number, b), "completed"
	if b.cut {
		status = "incomplete"
	}
	if b.kind == saidCall {
		return map[string]any{"id": id, "type": "function_call", "status": status, "call_id": b.id, "name": b.name,
			"arguments": string(b.text)}
	}
	return map[string]any{"id": id, "type": "message", "status": status, "role": "assistant",
		"content": []any{x.part(b, string(b.text))}}
}

func (responses) itemID(a *Answer, number int, b *block) string {
	id := "msg_" + a.ID
	if b.kind == saidCall {
		id = "fc_" + a.ID
	}
	if number > 0 {
		id += "_" + strconv.Itoa(number)
	}
	return id
}

// part is the content of a message.
func (responses) part(b *block, text string) map[string]any {
	if b.kind == saidRefusal {
		return map[string]any{"type": "refusal", "refusal": text}
	}
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
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

func (x responses) decide(s *sse, a *Answer, r *wire.Request) { tell(x, s, a, r) }

// at are the keys that say to which part an event belongs.
func (x responses) at(a *Answer, number int, b *block) map[string]any {
	at := map[string]any{"item_id": x.itemID(a, number, b), "output_index": number}
	if b.kind != saidCall {
		at["content_index"] = 0
	}
	return at
}

// partNames are the names of parts in the types of events.
var partNames = map[blockKind]string{saidText: "output_text", saidRefusal: "refusal",
	saidCall: "function_call_arguments"}

func (x responses) open(s *sse, a *Answer, number int, b *block) {
	item := x.item(a, number, b)
	item["status"] = "in_progress"
	if b.kind == saidCall {
		item["arguments"] = ""
	} else {
		item["content"] = []any{}
	}
	x.send(s, "response.output_item.added", map[string]any{"output_index": number, "item": item})
	if b.kind != saidCall {
		at := x.at(a, number, b)
		at["part"] = x.part(b, "")
		x.send(s, "response.content_part.added", at)
	}
}

func (x responses) add(s *sse, a *Answer, number int, b *block, piece string) {
	at := x.at(a, number, b)
	if at["delta"] = piece; b.kind == saidText {
		at["logprobs"] = []any{}
	}
	x.send(s, "response."+partNames[b.kind]+".delta", at)
}

func (x responses) close(s *sse, a *Answer, number int, b *block) {
	at, item := x.at(a, number, b), x.item(a, number, b)
	switch b.kind {
	case saidCall:
		at["arguments"], at["name"] = string(b.text), b.name
	case saidRefusal:
		at["refusal"] = string(b.text)
	default:
		at["text"], at["logprobs"] = string(b.text), []any{}
	}
	x.send(s, "response."+partNames[b.kind]+".done", at)
	if b.kind != saidCall {
		at := x.at(a, number, b)
		at["part"] = x.part(b, string(b.text))
		x.send(s, "response.content_part.done", at)
	}
	x.send(s, "response.output_item.done", map[string]any{"output_index": number, "item": item})
}

func (x responses) end(s *sse, a *Answer, r *wire.Request, spent any) {
	body := x.done(a, r)
	if spent != nil {
		body["synod"] = spent
	}
	x.keep(a, r, body)
	x.send(s, "response."+body["status"].(string), map[string]any{"response": body})
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
func (x responses) recall(r *wire.Request) *wire.Error {
	if r.Previous == "" {
		return nil
	}
	kept, err := x.g.o.Store.Response(r.Previous, r.Caller)
	if err != nil {
		return x.g.storeDown(err)
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

func noResponse(id string) *wire.Error {
	return &wire.Error{HTTP: 404, Code: "response_not_found", Param: "response_id", Message: "there is no response " +
		printable(id) + ": it was not stored, was deleted, is too old or belongs to another key"}
}
