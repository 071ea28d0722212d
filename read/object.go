package read

import (
	"bytes"
	"encoding/json"
	"strings"

	"synod.dev/synod/clean"
	"synod.dev/synod/read/notation"
)

// maxRead is how much of a reply is read: its end, where the verdict stands.
const maxRead = 256 << 10

// spoken is what of a reply is meant to be read: its last maxRead bytes, without
// the thinking that reasoning models put before </think>.
func spoken(text string) string {
	text = clean.Tail(text, maxRead)
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		text = text[i+len("</think>"):]
	}
	return strings.TrimSpace(text)
}

// jsonObject finds the JSON object that is all of s, or all of the fenced block that
// ends s. wants reports that s sets out to be one: then nothing else may be read
// from it, so that a cut-off object is never taken for prose.
func jsonObject(s string) (body string, wants bool) {
	if after, fenced := strings.CutSuffix(s, "```"); fenced {
		i := strings.LastIndex(after, "```")
		if i < 0 {
			return "", false
		}
		s = strings.TrimSpace(strings.TrimPrefix(after[i+3:], "json"))
		return s, strings.HasPrefix(s, "{")
	}
	if rest, fenced := strings.CutPrefix(s, "```json"); fenced {
		return rest, true
	}
	if !strings.HasPrefix(s, "{") {
		return "", false
	}
	return s, strings.HasPrefix(strings.TrimSpace(s[1:]), `"`) || json.Valid([]byte(s))
}

// member returns the value of a key of a JSON object. The object must be whole
// and well-formed, no key may stand twice, and none may differ from name by case
// or white space only: what two readers could read in two ways is not read at
// all. Other keys are ignored.
func member(body, name string) (json.RawMessage, bool) {
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var value json.RawMessage
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		key, isString := t.(string)
		if err != nil || !isString || seen[key] || key != name && strings.EqualFold(strings.TrimSpace(key), name) {
			return nil, false
		}
		seen[key] = true
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil, false
		}
		if key == name {
			value = v
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	return value, value != nil && strings.TrimSpace(body[d.InputOffset():]) == ""
}

// scalar is the text of a JSON string, number or boolean.
func scalar(v json.RawMessage) (string, bool) {
	v = bytes.TrimSpace(v)
	switch {
	case len(v) == 0:
	case v[0] == '"':
		var s string
		err := json.Unmarshal(v, &s)
		return s, err == nil
	case v[0] == '-' || notation.IsDigit(v[0]) || string(v) == "true" || string(v) == "false":
		return string(v), true
	}
	return "", false
}
