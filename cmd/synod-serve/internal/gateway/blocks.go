package gateway

import (
	"encoding/json"
	"strings"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// blocks returns the parts of an answer in their order. An answer without any has an empty text.
func (a *Answer) blocks(r *wire.Request) (all []*block) {
	if len(a.told) > 0 {
		return a.told
	}
	c := a.Choices[0]
	text, finish, _ := c.end(r)
	switch {
	case a.Refusal != "":
		all = append(all, &block{kind: saidRefusal, text: []byte(a.Refusal)})
	case text != "" || len(c.Calls) == 0:
		all = append(all, &block{text: []byte(text)})
	}
	for _, call := range c.Calls {
		all = append(all, &block{kind: saidCall, id: call.ID, name: call.Name, text: call.Arguments})
	}
	all[len(all)-1].cut = finish == finishLength || finish == finishFilter
	return all
}

// arguments returns those of a call as the object that the APIs with parts have: a text that is none stands in it.
func arguments(text string) json.RawMessage {
	raw := json.RawMessage(strings.TrimSpace(text))
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case wire.Split(raw) != nil:
		return raw
	}
	raw, _ = json.Marshal(map[string]string{"arguments": text}) // a text can always be encoded
	return raw
}

// teller is a dialect that can tell an answer in parts while it comes. The parts have numbers in the order in which
// they are opened.
type teller interface {
	dialect
	open(s *sse, a *Answer, number int, b *block)
	add(s *sse, a *Answer, number int, b *block, piece string)
	close(s *sse, a *Answer, number int, b *block)
	end(s *sse, a *Answer, r *wire.Request, spent any) // spent is what one model's reply has cost; nil: a council's
}

// tell sends an answer that is whole.
func tell(d teller, s *sse, a *Answer, r *wire.Request) {
	for i, b := range a.blocks(r) {
		d.open(s, a, i, b)
		for _, piece := range pieces(string(b.text)) {
			d.add(s, a, i, b, piece)
		}
		d.close(s, a, i, b)
	}
	d.end(s, a, r, nil)
}
