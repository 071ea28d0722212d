package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"synod.dev/synod"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// told is a reply of one model that a client gets in the parts of its own API while the chunks of a chat completion
// come. The server may send anything: what is kept of it is bounded, and what cannot be told ends in an error.
type told struct {
	d      teller
	s      *sse
	a      *Answer
	r      *wire.Request
	blocks []*block // that were opened, in the order of their numbers
	calls  []*toldCall
	prefix string // with which the reply may begin, as the client has said
	held   string // what may become the prefix
	size   int    // bytes of texts and arguments
}

// toldCall is a call of a tool, with the place that the server gives it.
type toldCall struct {
	block
	place int
	given string // its id at the server
}

// mostCalls bounds the calls of a reply.
const mostCalls = 128

// telling begins the stream of a client.
func (p *pass) telling(d teller, s *sse) *told {
	a := &Answer{ID: p.job.id, Created: p.grant.Begun, Model: p.job.model(), Fingerprint: p.job.served.Fingerprint,
		Choices: []Choice{{}}}
	d.begin(s, a, p.job.req)
	return &told{d: d, s: s, a: a, r: p.job.req, prefix: p.job.req.Prefill}
}

// untellable is the error of a stream that cannot be told.
func untellable(format string, args ...any) *wire.Error {
	return &wire.Error{HTTP: 502, Code: "upstream_error", Message: "the model's server sent " +
		fmt.Sprintf(format, args...)}
}

// chunk tells what a chunk says. Only the first choice counts: the APIs with parts have no others.
func (t *told) chunk(data []byte) *wire.Error {
	var c struct {
		Choices []struct {
			Index  int             `json:"index"`
			Delta  message         `json:"delta"`
			Finish string          `json:"finish_reason"`
			Stop   json.RawMessage `json:"stop_reason"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &c) != nil {
		return untellable("a chunk that is no chat completion")
	}
	for _, x := range c.Choices {
		if x.Index != 0 {
			continue
		}
		t.say(saidText, t.unprefixed(string(x.Delta.Content)))
		t.say(saidRefusal, string(x.Delta.Refusal))
		for _, call := range x.Delta.Calls {
			if e := t.call(call.Index, call.ID, call.Function.Name, string(call.Function.Arguments)); e != nil {
				return e
			}
		}
		if x.Finish != "" {
			t.a.Choices[0].Finish, t.a.Choices[0].Stop = x.Finish, stopSequence(x.Stop)
		}
	}
	if t.size > mostReply {
		return untellable("more than %d bytes", mostReply)
	}
	return nil
}

// unprefixed returns a piece of the text without the beginning that the client has given, if the server repeats it.
func (t *told) unprefixed(text string) string {
	t.held += text
	if len(t.held) < len(t.prefix) && strings.HasPrefix(t.prefix, t.held) {
		return ""
	}
	text = strings.TrimPrefix(t.held, t.prefix)
	t.prefix, t.held = "", ""
	return text
}

// say tells a piece of a text. Blanks after a call are no text of their own.
func (t *told) say(kind blockKind, text string) {
	var last *block
	if len(t.blocks) > 0 {
		last = t.blocks[len(t.blocks)-1]
	}
	switch {
	case text == "", last != nil && last.kind == saidCall && strings.TrimSpace(text) == "":
		return
	case last == nil || last.kind != kind:
		last = &block{kind: kind}
		t.open(last)
	}
	t.add(last, text)
}

// call tells a piece of a call.
func (t *told) call(place *int, id, name, arguments string) *wire.Error {
	c := t.find(place, id, name)
	if c == nil {
		if len(t.calls) == mostCalls {
			return untellable("more than %d calls of tools", mostCalls)
		}
		c = &toldCall{block: block{kind: saidCall, id: t.unused(id)}, place: -1, given: id}
		if place != nil {
			c.place = *place
		}
		t.calls = append(t.calls, c)
	}
	if c.closed {
		if strings.TrimSpace(arguments) != "" {
			return untellable("more arguments for a call that had ended")
		}
		return nil
	}
	if c.name == "" {
		c.name = name
	}
	if c.name != "" && !c.opened {
		t.open(&c.block)
	}
	t.add(&c.block, arguments)
	return nil
}

// find returns the call to which a piece belongs; nil: it begins a new one. Some servers give no place, and some give
// all calls the first: then another id with a name begins a call.
func (t *told) find(place *int, id, name string) *toldCall {
	for i := len(t.calls) - 1; i >= 0; i-- {
		c := t.calls[i]
		another := id != "" && id != c.given && name != ""
		if place == nil && id != "" && id == c.given || (place == nil || *place == c.place) && !another {
			return c
		}
	}
	return nil
}

// unused returns the id of a new call: that of the server, unless it has none or another call has it.
func (t *told) unused(id string) string {
	taken := id == ""
	for _, c := range t.calls {
		taken = taken || c.id == id
	}
	if taken {
		return fmt.Sprintf("call_%s_%d", strings.TrimPrefix(t.a.ID, "req-"), len(t.calls))
	}
	return id
}

// open begins a part, and ends the one before it if that is whole.
func (t *told) open(b *block) {
	if n := len(t.blocks); n > 0 {
		if last := t.blocks[n-1]; last.kind != saidCall || wire.Split(last.text) != nil {
			t.close(n - 1)
		}
	}
	t.blocks = append(t.blocks, b)
	b.opened = true
	t.d.open(t.s, t.a, len(t.blocks)-1, b)
}

// add tells a piece of a part. Arguments that cannot become an object wait until their end.
func (t *told) add(b *block, piece string) {
	b.text = append(b.text, piece...)
	t.size += len(piece)
	if !b.opened || b.kind == saidCall && !bytes.HasPrefix(bytes.TrimLeft(b.text, " \t\r\n"), []byte("{")) {
		return
	}
	t.rest(b)
}

// rest tells what of a part was not told yet.
func (t *told) rest(b *block) {
	if len(b.text) == b.sent {
		return
	}
	for i := range t.blocks {
		if t.blocks[i] == b {
			t.d.add(t.s, t.a, i, b, string(b.text[b.sent:]))
		}
	}
	b.sent = len(b.text)
}

func (t *told) close(number int) {
	if b := t.blocks[number]; !b.closed {
		b.closed = true
		t.d.close(t.s, t.a, number, b)
	}
}

// finish tells the ends of all parts.
func (t *told) finish() *wire.Error {
	if held := t.held; held != "" {
		t.prefix, t.held = "", ""
		t.say(saidText, held)
	}
	c := &t.a.Choices[0]
	if len(t.blocks) == 0 && len(t.calls) == 0 {
		t.open(&block{})
	}
	for _, x := range t.calls {
		if !x.opened {
			return untellable("a call of a tool without a name")
		}
	}
	for i, b := range t.blocks {
		b.cut = !b.closed && (c.Finish == finishLength || c.Finish == finishFilter)
		if b.kind == saidCall && !b.closed && !b.cut && wire.Split(b.text) == nil {
			if b.sent > 0 {
				return untellable("a call of a tool whose arguments are no JSON object")
			}
			b.text = arguments(string(b.text))
		}
		t.rest(b)
		t.close(i)
	}
	t.a.told = t.blocks
	t.sum(c)
	return nil
}

// sum puts what was told into the answer, as a whole reply would have it.
func (t *told) sum(c *Choice) {
	for _, b := range t.blocks {
		switch b.kind {
		case saidText:
			c.Text += string(b.text)
		case saidRefusal:
			t.a.Refusal += string(b.text)
		case saidCall:
			c.Calls = append(c.Calls, synod.Call{ID: b.id, Name: b.name, Arguments: arguments(string(b.text))})
		}
	}
}

// end ends the stream of the client.
func (t *told) end(u Usage, spent any) {
	t.a.Usage = u
	t.d.end(t.s, t.a, t.r, spent)
}
