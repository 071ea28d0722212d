package wire

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Members are the keys of a JSON object with their values as they came. Of a key that comes twice the last counts.
type Members map[string]json.RawMessage

// Split returns the members of the JSON object that b consists of; nil if it is something else. Values are parts
// of b. It takes one pass over b after the one that checks its syntax, where encoding/json takes more.
func Split(b []byte) Members {
	all, _ := split(b)
	return all
}

// split also returns a key that stands twice; "": none does.
func split(b []byte) (all Members, twice string) {
	if !json.Valid(b) {
		return nil, ""
	}
	at := space(b, 0)
	if b[at] != '{' {
		return nil, ""
	}
	all = Members{}
	for at = space(b, at+1); b[at] != '}'; at = space(b, at) {
		if b[at] == ',' {
			at = space(b, at+1)
		}
		begin := at
		at = skip(b, at)
		key := unquote(b[begin:at])
		at = space(b, space(b, at)+1) // the colon
		begin = at
		at = skip(b, at)
		if all[key] != nil {
			twice = key
		}
		all[key] = b[begin:at:at]
	}
	return all, twice
}

func space(b []byte, at int) int {
	for b[at] == ' ' || b[at] == '\n' || b[at] == '\t' || b[at] == '\r' {
		at++
	}
	return at
}

// skip returns the end of the value that begins at a byte of valid JSON.
func skip(b []byte, at int) int {
	open := 0
	for ; at < len(b); at++ {
		switch b[at] {
		case '"':
			for at++; b[at] != '"'; at++ {
				if b[at] == '\\' {
					at++
				}
			}
			if open == 0 {
				return at + 1
			}
		case '{', '[':
			open++
		case '}', ']':
			if open == 0 {
				return at // a number or word ended before it
			}
			if open--; open == 0 {
				return at + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if open == 0 {
				return at
			}
		}
	}
	return at
}

func unquote(b []byte) string {
	if !slices.Contains(b, '\\') {
		return string(b[1 : len(b)-1])
	}
	var s string
	_ = json.Unmarshal(b, &s) // b is valid
	return s
}

// Join returns the object with these members, in the order of their keys.
func (m Members) Join() []byte {
	size := 2
	keys := make([]string, 0, len(m))
	for key, v := range m {
		keys = append(keys, key)
		size += len(key) + len(v) + 4
	}
	slices.Sort(keys)
	out := append(make([]byte, 0, size), '{')
	for i, key := range keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(AppendQuoted(out, key), ':'), m[key]...)
	}
	return append(out, '}')
}

// AppendQuoted appends a text as JSON.
func AppendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			q, err := json.Marshal(s)
			if err != nil { // a text can always be encoded
				return strconv.AppendQuoteToASCII(b, s)
			}
			return append(b, q...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
