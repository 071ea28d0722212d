package wire

import (
	"encoding/json"
	"strings"
)

// Harmless keys of chat completions say nothing about the answer.
var harmless = []string{"user", "metadata", "store", "service_tier", "prompt_cache_key", "prompt_cache_retention",
	"safety_identifier", "parallel_tool_calls"}

// Sampling is set by the council's file for each member.
var sampling = []string{"temperature", "top_p", "reasoning_effort", "verbosity"}

// Rules are what a gateway lets requests do.
type Rules struct {
	Drop bool // ignore keys that cannot be honoured, and name them in the response
	Many bool // n may be more than 1
}

// Head is what is read of a body before it is known what the model is.
type Head struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
}

// ReadHead reads the head of a body.
func ReadHead(body []byte) (h Head, e *Error) {
	o, e := readObject(body)
	if e != nil {
		return h, e
	}
	o.take("model", &h.Model)
	o.take("stream", &h.Stream)
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
	o.take("n", &r.N)
	var old int
	o.take("max_tokens", &old)
	if !o.take("max_completion_tokens", &r.MaxTokens) {
		r.MaxTokens = old
	}
	o.take("seed", &r.Seed)
	o.stop("stop", r)
	o.format(r)
	o.chat(r)
	drop := r.Synod.Drops(rules.Drop)
	o.tools(drop)
	o.logprobs(r, drop)
	if o.err != nil {
		return nil, o.err
	}
	if e := r.check(rules); e != nil {
		return nil, e
	}
	return r, o.settle(r, drop, harmless, sampling)
}

// check checks what all APIs have.
func (r *Request) check(rules Rules) *Error {
	switch {
	case r.N < 1 || r.N > 128:
		return Invalid("n", "n is %d; it must be between 1 and 128", r.N)
	case r.N > 1 && !rules.Many:
		return Unsupported("n", "n is %d, and this council gives one answer; set n: true for it in the gateway's "+
			"configuration to get the other answers of its members as further choices", r.N)
	case r.MaxTokens < 0:
		return Invalid("max_tokens", "max_tokens is %d; it must be at least 1", r.MaxTokens)
	case len(r.Turns) == 0:
		return Invalid("messages", "there is no message")
	case r.Turns[len(r.Turns)-1].Role != "user":
		return Invalid("messages", "the last message must be the user's; it is the %s's", r.Turns[len(r.Turns)-1].Role)
	}
	return nil
}

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

// format reads response_format. Only free text is served so far.
func (o *object) format(r *Request) {
	var f struct {
		Type string `json:"type"`
	}
	if o.take("response_format", &f) && f.Type != "text" && o.err == nil {
		o.err = Unsupported("response_format", "response_format %q is not supported by councils yet; only text is",
			f.Type)
	}
}

// tools refuses tools: a request whose tools were dropped would look as if the council had decided to
// call none.
func (o *object) tools(bool) {
	for _, key := range []string{"tools", "functions"} {
		var list []json.RawMessage
		if o.take(key, &list) && len(list) > 0 && o.err == nil {
			o.err = Unsupported(key, "%s are not supported by councils yet, and they are never ignored; "+
				"use a model solo:NAME to call tools", key)
		}
	}
	var choice json.RawMessage
	for _, key := range []string{"tool_choice", "function_call"} {
		if o.take(key, &choice) && o.err == nil && string(choice) != `"none"` && string(choice) != `"auto"` {
			o.err = Unsupported(key, "%s is not supported by councils yet", key)
		}
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

// chat reads messages.
func (o *object) chat(r *Request) {
	var messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		ToolCalls json.RawMessage `json:"tool_calls"`
	}
	if !o.take("messages", &messages) {
		return
	}
	for i, m := range messages {
		text, e := contentText(m.Content, "messages", i)
		switch {
		case e != nil:
			o.err = e
		case m.Role == "tool" || m.Role == "function" || len(m.ToolCalls) > 0 && string(m.ToolCalls) != "null":
			o.err = Unsupported("messages", "messages[%d] is about a tool's call, which councils do not support yet", i)
		case m.Role == "developer":
			m.Role = "system"
		case m.Role != "system" && m.Role != "user" && m.Role != "assistant":
			o.err = Invalid("messages", "messages[%d].role is %q; it must be system, developer, user or assistant", i,
				m.Role)
		}
		if o.err != nil {
			return
		}
		r.Turns = append(r.Turns, Turn{m.Role, text})
	}
}

// contentText returns the text of a message's content: a text, or parts that are all texts.
func contentText(raw json.RawMessage, key string, i int) (string, *Error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", Invalid(key, "%s[%d].content must be a text or a list of parts", key, i)
	}
	var all []string
	for k, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			all = append(all, p.Text)
		case "refusal":
			all = append(all, p.Refusal)
		default:
			return "", Unsupported(key, "%s[%d].content[%d] is of type %q; councils take only text so far", key, i, k,
				p.Type)
		}
	}
	return strings.Join(all, "\n"), nil
}
