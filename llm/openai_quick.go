package llm

import "synod.dev/synod/internal/jsonobject"

// readCompletion reads a chat completion of the common form, without reflection: one choice with a text and with
// nothing else that is read. Of any other it returns false, and encoding/json reads it.
func readCompletion(body []byte) (c completion, ok bool) {
	ok = true
	var choices []byte
	whole, _ := jsonobject.Each(body, jsonobject.MostLevels, func(key, value []byte) {
		switch string(key) {
		case `"choices"`:
			ok = ok && choices == nil
			choices = value
		case `"model"`:
			c.Model = value
		case `"usage"`:
			c.Usage = value
		default:
			ok = ok && unread(key)
		}
	})
	one, single := jsonobject.Only(choices)
	if !whole || !ok || !single {
		return c, false
	}
	first := choice{Message: &message{}}
	ok = first.quick(one)
	c.Choices = []choice{first}
	return c, ok
}

// quick reads a choice with a text.
func (c *choice) quick(raw []byte) (ok bool) {
	ok = true
	text := false
	whole, _ := jsonobject.Each(raw, jsonobject.MostLevels, func(key, value []byte) {
		switch string(key) {
		case `"finish_reason"`:
			ok = ok && value[0] == '"'
			if ok {
				c.FinishReason = jsonobject.Unquote(value)
			}
		case `"message"`:
			ok = ok && !text
			text = c.Message.quick(value)
		default:
			ok = ok && (unread(key) || string(value) == "null")
		}
	})
	return whole && ok && text
}

// quick reads a message that is a text.
func (m *message) quick(raw []byte) (ok bool) {
	ok = true
	text := false
	whole, _ := jsonobject.Each(raw, jsonobject.MostLevels, func(key, value []byte) {
		switch string(key) {
		case `"content"`:
			ok = ok && !text && value[0] == '"'
			if text = ok; ok {
				m.Content = content(jsonobject.Unquote(value))
			}
		default:
			ok = ok && (unread(key) || string(value) == "null")
		}
	})
	return whole && ok && text
}

// unread reports whether a key of a completion has another name than all that are read, whose capitals encoding/json
// takes for small letters.
func unread(key []byte) bool {
	for _, c := range key[1 : len(key)-1] {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	switch string(key) {
	case `"choices"`, `"model"`, `"usage"`, `"error"`, `"message"`, `"finish_reason"`, `"logprobs"`, `"content"`,
		`"refusal"`, `"tool_calls"`, `"reasoning_content"`, `"reasoning"`:
		return false
	}
	return true
}
