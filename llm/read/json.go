package read

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/jsonobject"
	"synod.dev/synod/llm/read/notation"
)

// maxRead is how many bytes of a reply are read: the end of it, where the answer is.
const maxRead = 256 << 10

// Version is the version of the readers. The replies of a run have it (synod.Reply.Reader), because a journal is
// replayed with the readers of its run. Replies of version 0, of runs before there were versions, are read by the
// strict readers in strict.go: there a reply that is not well-formed JSON is unreadable.
const Version = 1

// SetVersion gives a reply with a text the version of the readers. Who gets the reply from a model does so once.
func SetVersion(r *synod.Reply) {
	if r.Text != "" && !r.Typed {
		r.Reader = Version
	}
}

// JSONObject returns the JSON object that a reply to a prompt for judgements consists of, or with which it ends, in a
// block of code. It is well-formed: faults of the model's JSON are repaired (see objects). ok reports that the
// reply is meant as an object: then nothing else of it may be read. The object may be incomplete or have a key
// twice; Member checks it.
func JSONObject(r *synod.Reply) (body string, ok bool) {
	if r.Reader == 0 {
		return strictObject(r.Text)
	}
	m := mannerOf(r)
	return judgement(m.text(r.Text))
}

// judgement returns the object that s consists of or ends with, as for JSONObject. An object with other text
// beside it is none, unless it is fenced: what surrounds an object must not give a score.
func judgement(s string) (body string, ok bool) {
	all := objects(s)
	if len(all) == 0 {
		return "", strings.HasPrefix(s, fence+"json")
	}
	last := all[len(all)-1]
	before, after := strings.TrimSpace(s[:last.from]), strings.TrimSpace(s[last.to:])
	fenced := fenceOpens.MatchString(before)
	switch {
	case len(all) == 1 && (before == "" || fenceOpens.FindString(before) == before) && (after == "" || after == fence),
		fenced && after == fence:
		return last.json(), true
	}
	return "", strings.HasPrefix(s, "{") || strings.HasPrefix(s, fence+"json") || fenced || !last.whole
}

// fenceOpens matches the opening of a block of code at the end of a text.
var fenceOpens = regexp.MustCompile("(?i)(?:^|\\s)```[ \\t]*(?:json5?)?$")

// json returns the object in JSON; "" if it has no closing brace.
func (o object) json() string {
	if !o.whole {
		return ""
	}
	return string(writeObject(nil, o.members))
}

// writeObject appends an object in JSON.
func writeObject(b []byte, members []jsonobject.Member) []byte {
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		key, _ := json.Marshal(m.Key) // it cannot fail for a string
		b = append(append(append(b, key...), ':'), m.Value...)
	}
	return append(b, '}')
}

// fence begins and ends a block of code.
const fence = "```"

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
func TextMember(body, name string) string {
	raw, _ := Member(body, name)
	s, _ := jsonobject.String(raw)
	return s
}

// scalar returns the text of a JSON string, number or boolean.
func scalar(v json.RawMessage) (string, bool) {
	v = bytes.TrimSpace(v)
	switch {
	case len(v) == 0:
	case v[0] == '"':
		return jsonobject.String(v)
	case v[0] == '-' || notation.IsDigit(v[0]) || string(v) == "true" || string(v) == "false":
		return string(v), true
	}
	return "", false
}
