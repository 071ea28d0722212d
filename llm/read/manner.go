package read

import (
	"encoding/json"

	"synod.dev/synod"
)

// manner says how a text is read.
type manner struct {
	strict bool // by the readers of version 0
	bare   bool // for graders and the papers' readers, see Bare
	whole  bool // nothing announces the text as an answer, so it must be one as a whole
	cut    bool // the end of the text is missing
}

// mannerOf returns how a reply is read.
func mannerOf(r *synod.Reply) manner { return manner{strict: r.Reader == 0, cut: r.Cut} }

// valueText returns the text of a value of an answer. A list of one value is the value. Free text may be any value.
func valueText(q *synod.Question, v json.RawMessage) (string, bool) {
	if text, ok := scalar(v); ok || string(v) == "null" {
		return text, ok
	}
	if q.Form == synod.Text {
		return string(v), true
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil && len(list) == 1 {
		return scalar(list[0])
	}
	return "", false
}
