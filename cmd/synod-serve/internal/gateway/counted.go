package gateway

import (
	"encoding/json"

	"synod.dev/synod/internal/jsonobject"

	"synod.dev/synod/cmd/synod-serve/internal/wire"
)

// usage is what a response reports that it has cost.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
}

// counted is what is read of a response for the accounting.
type counted struct {
	Object  string `json:"object"`
	Usage   *usage `json:"usage"`
	Choices []struct {
		Finish  *string         `json:"finish_reason"`
		Delta   json.RawMessage `json:"delta"`
		Message json.RawMessage `json:"message"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

// tokens returns what the server reports, unless that is out of what the request can have cost.
func (p *pass) tokens(c *counted) (Usage, bool) {
	if c.Usage == nil || c.Usage.Prompt < 0 || c.Usage.Completion < 0 || c.Usage.Prompt > p.most.Prompt+1<<20 ||
		p.limited() && (c.Usage.Prompt > p.most.Prompt || c.Usage.Completion > p.most.Completion) {
		return Usage{}, false
	}
	return Usage{c.Usage.Prompt, c.Usage.Completion}, true
}

// estimate counts tokens of bytes, where the server reports none.
func (p *pass) estimate(bytes int) Usage {
	return Usage{p.most.Prompt / wire.BytesPerToken, (bytes + wire.BytesPerToken - 1) / wire.BytesPerToken}
}

// completion reads what is counted of a whole reply, and the length of its message; false if it is no completion.
func completion(all wire.Members, c *counted) (message int, ok bool) {
	choices := wire.Elements(all["choices"])
	if len(choices) == 0 {
		return 0, false
	}
	first, _ := jsonobject.Each(choices[0], jsonobject.MostLevels, func(key, value []byte) {
		if string(key) == `"message"` {
			message = len(value)
		}
	})
	usage := all["usage"]
	return message, first && (len(usage) == 0 || c.readUsage(usage))
}

// readUsage reads the usage of a reply; false if it is something else. The common form, whole numbers under the names
// of the API, is read without reflection.
func (c *counted) readUsage(raw json.RawMessage) bool {
	var u usage
	plain, _ := jsonobject.Each(raw, jsonobject.MostLevels, func(key, value []byte) {
		switch string(key) {
		case `"prompt_tokens"`:
			u.Prompt = tokens(value)
		case `"completion_tokens"`:
			u.Completion = tokens(value)
		}
	})
	if plain && u.Prompt > 0 && u.Completion > 0 {
		c.Usage = &u
		return true
	}
	return json.Unmarshal(raw, &c.Usage) == nil
}

// tokens reads a number of at most nine digits; 0: it is written otherwise.
func tokens(raw []byte) (n int) {
	if len(raw) > 9 {
		return 0
	}
	for _, digit := range raw {
		if digit < '0' || digit > '9' {
			return 0
		}
		n = 10*n + int(digit-'0')
	}
	return n
}
