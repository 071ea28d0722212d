package journal

import (
	"bytes"
	"encoding/json"

	"github.com/tidwall/gjson"

	"synod.dev/synod"
)

// Answers returns the replies to the requests for an answer in the lines of a finished journal, in the order of the
// requests. It decodes only these replies, and does not compare digests: Summarize does.
func Answers(lines []byte) ([]Replied, error) {
	var asked []Key
	for raw := range bytes.Lines(lines) {
		switch kindOfLine(raw) {
		case "head": // of a later attempt
			asked = asked[:0]
		case "effect":
			if gjson.GetBytes(raw, "w").Str == "consult" &&
				gjson.GetBytes(raw, "prompt.purpose").Str == string(synod.Answering) {
				asked = append(asked, keyOf(raw))
			}
		}
	}
	replies := make(Replies, len(asked))
	for _, key := range asked {
		replies[key] = synod.Reply{}
	}
	n := 0
	for raw := range bytes.Lines(lines) {
		n++
		switch kindOfLine(raw) {
		case "head":
			for key := range replies {
				replies[key] = synod.Reply{}
			}
		case "reply":
			if _, wanted := replies[keyOf(raw)]; !wanted {
				continue
			}
			var l replyLine
			if err := json.Unmarshal(raw, &l); err != nil {
				return nil, atLine(n, err)
			}
			replies[Key{l.Node, l.ID}] = l.Reply
		}
	}
	var out []Replied
	for _, key := range asked {
		if r := replies[key]; r.Status != "" { // a reply came
			out = append(out, Replied{key, r})
		}
	}
	return out, nil
}

// kindOfLine returns the kind of a line, also of one that another program has written.
func kindOfLine(raw []byte) string {
	if kind, ok := kindOf(raw); ok {
		return kind
	}
	return gjson.GetBytes(raw, "k").Str
}

// keyOf returns the call that an effect or reply line is about.
func keyOf(raw []byte) Key {
	return Key{synod.NodeID(gjson.GetBytes(raw, "n").Int()), synod.ConsultID(gjson.GetBytes(raw, "id").Int())}
}
