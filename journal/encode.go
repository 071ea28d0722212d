package journal

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"synod.dev/synod"
)

// append writes the line as encoding/json would, byte for byte: digests and
// replays rest on these bytes, and there are hundreds of lines to a question.
// Prompts and opinions, which are the vocabulary's, are left to encoding/json.
func (l *line) append(b []byte) ([]byte, error) {
	b = appendText(append(b, `{"k":`...), l.Kind)
	b = strconv.AppendInt(append(b, `,"t":`...), int64(l.Tick), 10)
	b = strconv.AppendInt(append(b, `,"n":`...), int64(l.Node), 10)
	b = appendText(append(b, `,"w":`...), l.What)
	if l.ID != 0 {
		b = strconv.AppendUint(append(b, `,"id":`...), uint64(l.ID), 10)
	}
	if l.Sum != "" {
		b = appendText(append(b, `,"sum":`...), l.Sum)
	}
	if l.At != 0 {
		b = strconv.AppendInt(append(b, `,"at":`...), int64(l.At), 10)
	}
	if l.From != nil {
		b = strconv.AppendInt(append(b, `,"from":`...), int64(*l.From), 10)
	}
	if len(l.To) > 0 {
		b = appendNodes(append(b, `,"to":`...), l.To)
	}
	if l.Slot != nil {
		b = appendText(append(b, `,"slot":{"name":`...), l.Slot.Name)
		b = append(strconv.AppendInt(append(b, `,"round":`...), int64(l.Slot.Round), 10), '}')
	}
	if len(l.Body) > 0 {
		b = append(base64.StdEncoding.AppendEncode(append(b, `,"body":"`...), l.Body), '"')
	}
	var err error
	if l.Prompt != nil {
		b, err = appendAny(append(b, `,"prompt":`...), l.Prompt)
	}
	if l.Opinion != nil && err == nil {
		b, err = appendAny(append(b, `,"opinion":`...), l.Opinion)
	}
	if l.Answer != synod.None {
		b = appendText(append(b, `,"answer":`...), string(l.Answer))
	}
	return append(b, '}'), err
}

func appendNodes(b []byte, nodes []synod.NodeID) []byte {
	for i, id := range nodes {
		sep := byte(',')
		if i == 0 {
			sep = '['
		}
		b = strconv.AppendInt(append(b, sep), int64(id), 10)
	}
	return append(b, ']')
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
