package journal

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"synod.dev/synod"
)

// append writes the line as encoding/json would, byte for byte: digests and
// replays rest on these bytes, and there are hundreds of lines to a question.
// What of prompts and opinions only some protocols have is left to encoding/json.
func (l *line) append(b []byte) ([]byte, error) {
	b = appendText(append(b, `{"k":`...), l.Kind)
	b = strconv.AppendInt(append(b, `,"t":`...), int64(l.Tick), 10)
	b = strconv.AppendInt(append(b, `,"n":`...), int64(l.Node), 10)
	b = appendText(append(b, `,"w":`...), l.What)
	if l.ID != 0 {
		b = strconv.AppendUint(append(b, `,"id":`...), uint64(l.ID), 10)
	}
	b = appendSome(b, `,"sum":`, l.Sum)
	if l.At != 0 {
		b = strconv.AppendInt(append(b, `,"at":`...), int64(l.At), 10)
	}
	if l.From != nil {
		b = strconv.AppendInt(append(b, `,"from":`...), int64(*l.From), 10)
	}
	b = appendNodes(b, `,"to":`, l.To)
	if l.Slot != nil {
		b = appendText(append(b, `,"slot":{"name":`...), l.Slot.Name)
		b = append(strconv.AppendInt(append(b, `,"round":`...), int64(l.Slot.Round), 10), '}')
	}
	if len(l.Body) > 0 {
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"body":"`...), l.Body), '"')
	}
	var err error
	if l.Prompt != nil {
		b, err = appendPrompt(append(b, `,"prompt":`...), l.Prompt)
	}
	if l.Opinion != nil && err == nil {
		b, err = appendOpinion(append(b, `,"opinion":`...), l.Opinion)
	}
	return append(appendSome(b, `,"answer":`, string(l.Answer)), '}'), err
}

// appendNodes, appendSome and appendCount write a member of an object, unless it is
// empty.
func appendNodes(b []byte, name string, nodes []synod.NodeID) []byte {
	for i, id := range nodes {
		b = strconv.AppendInt(append(b, first(i, name+"[", ",")...), int64(id), 10)
	}
	if len(nodes) == 0 {
		return b
	}
	return append(b, ']')
}

func appendSome(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendText(append(b, name...), text)
}

func appendCount(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}

func first(i int, a, b string) string {
	if i == 0 {
		return a
	}
	return b
}

// plain is a score that JSON can hold.
func plain(s synod.Score) bool { return s >= -1 && s <= 1 }

func appendScore(b []byte, s synod.Score) []byte {
	if s == synod.Untrusted {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, float64(s), 'g', -1, 64)
}

// appendText quotes a string. What needs an escape is left to encoding/json.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // a string can always be written
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func appendAny(b []byte, v any) ([]byte, error) {
	more, err := json.Marshal(v)
	return append(b, more...), err
}
