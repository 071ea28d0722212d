package read

import (
	"encoding/json"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/internal/jsonobject"
)

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
