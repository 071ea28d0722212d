package read

import (
	"bytes"
	"encoding/json"
	"strings"

	"synod.dev/synod/clean"
	"synod.dev/synod/internal/jsonobject"
	"synod.dev/synod/read/notation"
)

// maxRead is how many bytes of a reply are read: the end of it, where the answer is.
const maxRead = 256 << 10

// finalText returns the part of a reply that is read: its last maxRead bytes, without the thinking that
// reasoning models write before </think>.
func finalText(reply string) string {
	reply = clean.Tail(reply, maxRead)
	if i := strings.LastIndex(reply, "</think>"); i >= 0 {
		reply = reply[i+len("</think>"):]
	}
	return strings.TrimSpace(reply)
}

// JSONObject returns the JSON object that a reply consists of, or that is the fenced block at its end. Text
// before </think> is ignored. ok reports that the reply is meant as an object: then nothing else of it may be
// read, so that an incomplete object is never read as prose. The object may be malformed; Member checks it.
func JSONObject(reply string) (body string, ok bool) {
	s := finalText(reply)
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

// Member returns the value of a key of a JSON object. It returns false if the object is incomplete or not
// well-formed, if the key is missing, if any key is repeated, or if a key differs from name only by letter case
// or white space: an object that two readers could read in two ways is not read. Other keys are ignored.
func Member(body, name string) (json.RawMessage, bool) { return Object(body).Member(name) }

// Members are the members of a JSON object in order; nil: there is no object that can be read.
type Members []jsonobject.Member

// Object reads a JSON object once, for callers that want several of its members. The object must be complete and
// well-formed, and have no key twice.
func Object(body string) Members {
	members, err := jsonobject.Members([]byte(body))
	if err != nil {
		return nil
	}
	return members
}

// Member is the function Member for the object.
func (o Members) Member(name string) (json.RawMessage, bool) {
	var value json.RawMessage
	for _, m := range o {
		switch {
		case m.Key == name:
			value = m.Value
		case strings.EqualFold(strings.TrimSpace(m.Key), name):
			return nil, false
		}
	}
	return value, value != nil
}

// TextMember returns the value of a key that is a string, or "" if Member returns none or another value.
func TextMember(body, name string) (s string) {
	if raw, ok := Member(body, name); ok && json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// scalar returns the text of a JSON string, number or boolean.
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
