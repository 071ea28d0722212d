package read

import "encoding/json"

// JSONObject returns the JSON object that a reply consists of, perhaps in a fenced
// block or after a model's thinking, and whether there is one. The object may be
// malformed; Member checks it.
func JSONObject(reply string) (body string, ok bool) { return jsonObject(spoken(reply)) }

// Member returns the value of a key of a JSON object. It fails if the object is not
// well-formed, if the key is missing, or if any key stands twice or differs from
// name by case or white space only.
func Member(body, name string) (json.RawMessage, bool) { return member(body, name) }

// TextMember returns the value of a key that is a string, or "".
func TextMember(body, name string) (s string) {
	if raw, ok := member(body, name); ok && json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
