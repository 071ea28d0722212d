package wire

import (
	"encoding/json"
	"slices"

	"synod.dev/synod"
)

// Harmless keys of chat completions say nothing about the answer.
var harmless = []string{"user", "metadata", "store", "service_tier", "prompt_cache_key", "prompt_cache_retention",
	"safety_identifier", "parallel_tool_calls"}

// Hints are set by the council's file for each member.
var hints = []string{"reasoning_effort", "verbosity"}

// sampling reads how members are to draw their replies.
func (o *object) sampling(r *Request) {
	for key, most := range map[string]float64{"temperature": 2, "top_p": 1} {
		var x float64
		if !o.take(key, &x) {
			continue
		}
		if !(x >= 0 && x <= most) && o.err == nil {
			o.err = Invalid(key, "%s is %v; it must be between 0 and %v", key, x, most)
			return
		}
		if r.Sampling == nil {
			r.Sampling = map[string]any{}
		}
		r.Sampling[key] = x
	}
}

// Rules are what a gateway lets requests do.
type Rules struct {
	Drop bool // ignore keys that cannot be honoured, and name them in the response
	Many bool // n may be more than 1
}

// Head is what is read of a body before it is known what the model is.
type Head struct {
	Model   string
	Stream  bool
	Members Members // the others
}

// ReadHead reads the head of a body.
func ReadHead(body []byte) (h Head, e *Error) {
	o, e := readObject(body)
	if e != nil {
		return h, e
	}
	o.take("model", &h.Model)
	o.take("stream", &h.Stream)
	h.Members = o.keys
	if o.err == nil && h.Model == "" {
		o.err = Invalid("model", "model is missing; GET /v1/models lists the models")
	}
	return h, o.err
}

// ReadChat reads the body of POST /v1/chat/completions for a council.
func ReadChat(body []byte, rules Rules) (*Request, *Error) {
	o, e := readObject(body)
	if e != nil {
		return nil, e
	}
	r := &Request{Body: body, N: 1}
	o.options(r)
	o.take("model", &r.Model)
	o.take("stream", &r.Stream)
	var stream struct {
		Usage bool `json:"include_usage"`
	}
	if o.take("stream_options", &stream) && !r.Stream && o.err == nil {
		o.err = Invalid("stream_options", "stream_options is allowed only with stream: true")
	}
	r.Usage = stream.Usage
	o.whole("n", 1, 128, &r.N)
	o.whole("max_tokens", 1, mostWhole, &r.MaxTokens)
	o.whole("max_completion_tokens", 1, mostWhole, &r.MaxTokens)
	o.take("seed", &r.Seed)
	o.stop("stop", r)
	o.format(r)
	o.chat(r)
	o.sampling(r)
	drop := r.Synod.Drops(rules.Drop)
	o.tools(r)
	o.logprobs(r, drop)
	if o.err != nil {
		return nil, o.err
	}
	if e := r.check(rules); e != nil {
		return nil, e
	}
	return r, o.settle(r, drop, harmless, hints)
}

// check checks what all APIs have.
func (r *Request) check(rules Rules) *Error {
	switch {
	case r.N > 1 && !rules.Many:
		return Unsupported("n", "n is %d, and this council gives one answer; set n: true for it in the gateway's "+
			"configuration to get the other answers of its members as further choices", r.N)
	case len(r.Turns) == 0:
		return Invalid("messages", "there is no message")
	}
	r.systemAsks()
	r.systemBefore()
	r.goOn()
	switch {
	case r.Turns[len(r.Turns)-1].Role != synod.ByUser && r.Turns[len(r.Turns)-1].Role != synod.ByTool:
		return Invalid("messages", "the last message must be the user's or a tool's; it is the %s's",
			r.Turns[len(r.Turns)-1].Role)
	}
	return nil
}

// goOn has the members go on with a reply of which the client gives the beginning.
func (r *Request) goOn() {
	last := r.Turns[len(r.Turns)-1]
	if last.Role != synod.ByAssistant || last.Text == "" || len(last.Calls) > 0 || len(r.Turns) == 1 {
		return
	}
	r.Prefill = last.Text
	r.Turns = append(r.Turns, synod.Turn{Role: synod.ByUser, Text: "Go on with your last reply where it stops. Write " +
		"only what follows, and do not repeat what is there."})
}

// systemBefore has the system say before the last words of the user what it says after them, so that these are the
// question.
func (r *Request) systemBefore() {
	last := len(r.Turns) - 1
	for last >= 0 && r.Turns[last].Role != synod.ByUser {
		last--
	}
	if last < 0 {
		return
	}
	before, after := slices.Clone(r.Turns[:last]), []synod.Turn{r.Turns[last]}
	for _, t := range r.Turns[last+1:] {
		if t.Role == synod.BySystem {
			before = append(before, t)
		} else {
			after = append(after, t)
		}
	}
	r.Turns = append(before, after...)
}

// systemAsks has the last text of the system be the question, where the user says nothing.
func (r *Request) systemAsks() {
	last := -1
	for i, t := range r.Turns {
		switch {
		case t.Role == synod.ByAssistant, t.Role == synod.ByTool, t.Role == synod.ByUser && said(t):
			return
		case t.Role == synod.BySystem && t.Text != "":
			last = i
		}
	}
	if last >= 0 {
		r.Turns = append([]synod.Turn{}, r.Turns[:last+1]...)
		r.Turns[last].Role = synod.ByUser
	}
}

func said(t synod.Turn) bool { return t.Text != "" || len(t.Parts) > 0 }

// stop reads a text or a list of texts.
func (o *object) stop(key string, r *Request) {
	var raw json.RawMessage
	if !o.take(key, &raw) {
		return
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		r.Stop = []string{one}
	} else if json.Unmarshal(raw, &r.Stop) != nil || len(r.Stop) > 16 {
		o.err = Invalid(key, "%s must be a text or a list of at most 16 texts", key)
	}
}

// format reads response_format.
func (o *object) format(r *Request) {
	var f struct {
		Type   string `json:"type"`
		Schema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if !o.take("response_format", &f) {
		return
	}
	switch f.Type {
	case "", "text":
	case "json_object":
		r.Schema = anyObject
	case "json_schema":
		if r.Schema = f.Schema.Schema; len(r.Schema) == 0 {
			o.err = Invalid("response_format", "response_format.json_schema.schema is missing")
		}
	default:
		o.err = Invalid("response_format", "response_format.type is %.40q; it must be text, json_object or json_schema",
			f.Type)
	}
}

var anyObject = json.RawMessage(`{"type":"object"}`)

// tools reads tools and which of them may be called.
func (o *object) tools(r *Request) {
	var list []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	}
	o.take("tools", &list)
	for i, t := range list {
		if t.Type != "function" {
			o.err = Unsupported("tools", "tools[%d].type is %.40q; councils call only tools of type function", i,
				t.Type)
			return
		}
		r.Tools = append(r.Tools, synod.Tool{Name: t.Function.Name, Description: t.Function.Description,
			Parameters: t.Function.Parameters})
	}
	for _, key := range []string{"functions", "function_call"} {
		var old json.RawMessage
		if o.take(key, &old) && o.err == nil && string(old) != "[]" {
			o.err = Unsupported(key, "%s is the old form of tools and tool_choice; use those", key)
		}
	}
	o.choice(r)
}

// choice reads tool_choice: a word, or an object that names a tool.
func (o *object) choice(r *Request) {
	var raw json.RawMessage
	if !o.take("tool_choice", &raw) {
		return
	}
	var word string
	var one struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	switch {
	case json.Unmarshal(raw, &word) == nil && word == "auto":
	case word == string(ChoiceNone) || word == string(ChoiceRequired):
		r.Choice = Choice(word)
	case word == "" && json.Unmarshal(raw, &one) == nil && one.Name+one.Function.Name != "":
		r.Choice = Choice(one.Name + one.Function.Name)
	default:
		o.err = Invalid("tool_choice", `tool_choice must be "auto", "none", "required" or `+
			`{"type": "function", "function": {"name": …}}`)
	}
}

// logprobs refuses probabilities, which a council's answer does not have.
func (o *object) logprobs(r *Request, drop bool) {
	var wants bool
	for _, key := range []string{"logprobs", "top_logprobs"} {
		var raw json.RawMessage
		if o.take(key, &raw) && string(raw) != "false" && string(raw) != "0" {
			wants = true
		}
	}
	switch {
	case wants && drop:
		r.Ignored = append(r.Ignored, "logprobs")
	case wants && o.err == nil:
		o.err = Unsupported("logprobs", "the answer of a council has no token probabilities; remove logprobs, or send "+
			`"synod": {"drop_params": true}`)
	}
}

// echoed are keys of an assistant's message that SDKs send back and that say nothing to others.
var echoed = []string{"annotations", "reasoning_content", "provider_specific_fields", "thinking_blocks"}

// chat reads messages. SDKs send an assistant's message back with keys that are null or say nothing here.
func (o *object) chat(r *Request) {
	var list []message
	if !o.take("messages", &list) {
		return
	}
	for _, m := range list {
		for key, v := range m {
			if v == nil || slices.Contains(echoed, key) {
				delete(m, key)
			}
		}
		parts, _ := m["content"].([]any)
		for i := range parts {
			if p, ok := parts[i].(map[string]any); ok && p["type"] == "refusal" {
				parts[i] = map[string]any{"type": "text", "text": p["refusal"]}
			}
		}
	}
	o.turns("messages", list, r)
}
