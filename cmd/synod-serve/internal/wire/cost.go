package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// effect is what a key of a request has to do with what the request costs.
type effect int

const (
	free    effect = iota + 1 // nothing, beyond the tokens of the prompt and of the reply, which are counted
	longest                   // a whole number: the most tokens of a reply
	many                      // a whole number: how many replies are made
	costly                    // it may cost what is not counted here
)

// effects has every key of the three APIs, and those of other servers that are known to cost. A key that is not
// in the table is of unknown cost: a key with a limit in USD or in tokens cannot send it. One table serves
// all APIs, because a server may speak several of them and listen to the keys of each.
var effects = map[string]effect{
	"max_tokens": longest, "max_completion_tokens": longest, "max_output_tokens": longest, "max_new_tokens": longest,
	"max_length": longest, "n_predict": longest, "num_predict": longest, "n": many, "best_of": many,
	"num_return_sequences": many,

	"model": free, "messages": free, "stream": free, "stream_options": free, "temperature": free, "top_p": free,
	"top_k": free, "min_p": free, "stop": free, "seed": free, "presence_penalty": free, "frequency_penalty": free,
	"repetition_penalty": free, "logit_bias": free, "logprobs": free, "top_logprobs": free, "user": free,
	"metadata": free, "store": free, "safety_identifier": free, "prompt_cache_key": free,
	"prompt_cache_retention": free, "response_format": free, "tools": free, "tool_choice": free, "functions": free,
	"function_call": free, "parallel_tool_calls": free, "reasoning_effort": free, "verbosity": free,

	"prediction": costly, "web_search_options": costly, "audio": costly, "models": costly, "plugins": costly,
	"provider": costly, "route": costly, "extra_body": costly, "options": costly, "thinking": costly,
	"reasoning": costly, "documents": costly, "max_tool_calls": costly, "background": costly, "modalities": costly,
	"service_tier": costly,
}

// neutral are values of costly keys that cost nothing: a client that says what is the default anyway.
var neutral = map[string][]string{"modalities": {`["text"]`}, "service_tier": {`"auto"`, `"default"`, `"flex"`}}

// fold returns a name as programs see it that do not tell capitals from small letters, as Go's JSON package.
func fold(name string) string {
	out := []rune(name)
	for i, r := range out {
		for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
			if x < 0x80 && unicode.IsLower(x) {
				out[i] = x
			}
		}
	}
	return string(out)
}

// lower reports whether a name consists of small letters of ASCII, digits and _, so that fold changes nothing of it.
func lower(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// clear refuses keys that other programs could take for a key of the table.
func (o *object) clear() *Error {
	for key := range o.keys {
		if lower(key) {
			continue
		}
		if name := fold(strings.TrimSpace(key)); name != key && effects[name] != 0 {
			return Invalid(key, "%q is not a key of the API; write it as %q", printed(key), name)
		}
	}
	return nil
}

// mostWhole bounds the whole numbers of a request.
const mostWhole = 1 << 31

// whole reads a key with a whole number between two bounds, if it is there and not null.
func (o *object) whole(key string, least, most int, into *int) bool {
	raw, there := o.keys[key]
	delete(o.keys, key)
	if !there || o.err != nil || string(raw) == "null" {
		return false
	}
	n, ok := ReadWhole(raw)
	if !ok || n < least || n > most {
		o.err = Invalid(key, "%s is %.40s; it must be a whole number between %d and %d", key, raw, least, most)
		return false
	}
	*into = n
	return true
}

// Forwarding says how a body is passed on to a model's server.
type Forwarding struct {
	Model   string // its name there
	Longest int    // tokens of a reply where the request does not say
	Limited bool   // whoever sends it has a limit in USD or in tokens: what the request may cost must be known
}

// Forwarded is a chat completion as a model's server gets it.
type Forwarded struct {
	Body       []byte
	Prompt     int  // tokens that the prompt has at most
	Completion int  // tokens that all replies together have at most, if the request or Longest says so
	Usage      bool // the client wants a chunk with the usage at the end of a stream
}

// template is how many tokens a server may add to a prompt.
const template = 256

// imageTokens is the most that an image costs at any known maker: eight tiles at gpt-4o-mini's rate.
const imageTokens = 48_169

// Forward writes the body of a chat completion for a model's server. Nothing of the original bytes is passed on:
// each value is read, and written anew. The body is the client's, so the keys of h are consumed.
func (h Head) Forward(f Forwarding) (out Forwarded, e *Error) {
	o := &object{keys: h.Members}
	delete(o.keys, "synod")
	all := Members{"model": AppendQuoted(nil, f.Model)}
	tokens, replies := o.counted(all)
	out.Completion = tokens
	if tokens == 0 {
		if out.Completion = f.Longest; f.Limited {
			all["max_tokens"] = strconv.AppendInt(nil, int64(f.Longest), 10) // what is reserved is a bound
		}
	}
	var stream struct {
		Usage bool `json:"include_usage"`
	}
	o.take("stream_options", &stream)
	if out.Usage = stream.Usage; h.Stream {
		all["stream"], all["stream_options"] = json.RawMessage("true"), json.RawMessage(`{"include_usage":true}`)
	}
	if o.err == nil && f.Limited {
		o.err = o.bounded()
	}
	if o.err != nil {
		return out, o.err
	}
	var pictures int
	if out.Body, pictures, o.err = o.rewrite(all); o.err != nil {
		return out, o.err
	}
	out.Prompt, out.Completion = len(out.Body)+template+pictures*imageTokens, out.Completion*replies
	return out, nil
}

// rewrite writes an object of these members and the keys that are left, in the order of their names, into one text. It
// counts the images of the messages.
func (o *object) rewrite(written Members) (body []byte, pictures int, e *Error) {
	size, names := 2, make([]string, 0, 16)
	for _, members := range []Members{written, o.keys} {
		for key, raw := range members {
			names = append(names, key)
			size += len(key) + len(raw) + 4
		}
	}
	slices.Sort(names)
	c := canon{out: append(make([]byte, 0, size), '{')}
	for i, key := range slices.Compact(names) {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(AppendQuoted(c.out, key), ':')
		begin := len(c.out)
		if raw := written[key]; raw != nil {
			c.out = append(c.out, raw...)
		} else if err := c.rewrite(o.keys[key]); err != nil {
			return nil, 0, Invalid(key, "%s: %v", printed(key), err)
		}
		if key == "messages" {
			pictures = images(c.out[begin:])
		}
	}
	return append(c.out, '}'), pictures, nil
}

// counted moves the keys that bound or multiply the tokens of replies, and returns the most that they allow.
func (o *object) counted(all Members) (tokens, replies int) {
	replies = 1
	for _, key := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens",
		"max_length", "n_predict", "num_predict"} {
		var n int
		if o.whole(key, 1, mostWhole, &n) {
			tokens, all[key] = max(tokens, n), strconv.AppendInt(nil, int64(n), 10)
		}
	}
	for _, key := range []string{"n", "best_of", "num_return_sequences"} {
		var n int
		if o.whole(key, 1, 128, &n) {
			replies, all[key] = max(replies, n), strconv.AppendInt(nil, int64(n), 10)
		}
	}
	return tokens, replies
}

// bounded refuses what a key with a limit in USD or in tokens cannot send, because it is not known what it costs at
// most.
func (o *object) bounded() *Error {
	const why = "the key has a limit for a day, and what %s costs at most is not known; remove it, or use a key " +
		"without such a limit"
	keys := make([]string, 0, len(o.keys))
	for key := range o.keys {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		raw := o.keys[key]
		if string(raw) == "null" || effects[key] == free {
			continue
		}
		if written, err := Rewrite(raw); err == nil && slices.Contains(neutral[key], string(written)) {
			continue
		}
		return Unsupported(key, why, strconv.Quote(printed(key)))
	}
	if err := boundedTools(o.keys["tools"]); err != nil {
		return Unsupported("tools", why, err)
	}
	if err := boundedMessages(o.keys["messages"]); err != nil {
		return Unsupported("messages", why, err)
	}
	return nil
}

// The keys of a message and of its parts whose cost is that of their bytes.
var (
	messageKeys = []string{"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "reasoning_content",
		"function_call", "annotations"}
	partKeys = map[string][]string{"text": {"type", "text"}, "refusal": {"type", "refusal"},
		"image_url": {"type", "image_url"}}
)

func boundedTools(raw json.RawMessage) error {
	var list []Members
	if len(raw) > 0 && string(raw) != "null" && json.Unmarshal(raw, &list) != nil {
		return fmt.Errorf("tools that are no list of objects")
	}
	for i, t := range list {
		if string(t["type"]) != `"function"` {
			return fmt.Errorf("tools[%d], which is no function of the client,", i)
		}
	}
	return nil
}

func boundedMessages(raw json.RawMessage) error {
	var list []Members
	if json.Unmarshal(raw, &list) != nil {
		return fmt.Errorf("a conversation that is no list of messages")
	}
	for i, m := range list {
		for key := range m {
			if !slices.Contains(messageKeys, key) {
				return fmt.Errorf("messages[%d].%s", i, printed(key))
			}
		}
		if c := m["content"]; len(c) > 0 && c[0] != '"' && c[0] != 'n' && partsOf(c) == nil {
			return fmt.Errorf("messages[%d].content, which is neither a text nor a list of parts,", i)
		}
		for k, p := range partsOf(m["content"]) {
			var kind string
			_ = json.Unmarshal(p["type"], &kind) // "" is no kind
			for key := range p {
				if !slices.Contains(partKeys[kind], key) {
					return fmt.Errorf("messages[%d].content[%d].%s", i, k, printed(key))
				}
			}
		}
	}
	return nil
}

// partsOf returns the parts of a message's content; nil: it is not a list of objects.
func partsOf(raw json.RawMessage) (parts []Members) {
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	return parts
}

// images counts the images of a conversation that was written anew, so that a key is always written alike.
func images(raw json.RawMessage) (n int) {
	var list []Members
	if !bytes.Contains(raw, []byte(`"image_url"`)) || json.Unmarshal(raw, &list) != nil {
		return 0
	}
	for _, m := range list {
		for _, p := range partsOf(m["content"]) {
			if p["image_url"] != nil {
				n++
			}
		}
	}
	return n
}
