package wire

import (
	"encoding/json"
	"slices"

	"synod.dev/synod/internal/jsonobject"
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
	all, twice, _ = splitTo(b, jsonobject.MostLevels)
	return all, twice
}

// splitTo also reports whether it found none because the text is nested deeper than a number of levels.
func splitTo(b []byte, levels int) (all Members, twice string, deep bool) {
	all = make(Members, 8)
	ok, deep := jsonobject.Each(b, levels, func(key, value []byte) {
		name := jsonobject.Unquote(key)
		if all[name] != nil {
			twice = name
		}
		all[name] = value
	})
	if !ok {
		return nil, "", deep
	}
	return all, twice, false
}

// Elements returns the elements of a list that is valid JSON; nil: it is no list, or an empty one.
func Elements(raw []byte) (all []json.RawMessage) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	for at := space(raw, 1); raw[at] != ']'; at = space(raw, at) {
		if raw[at] == ',' {
			at = space(raw, at+1)
		}
		end := skip(raw, at)
		all = append(all, raw[at:end:end])
		at = end
	}
	return all
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
func AppendQuoted(b []byte, s string) []byte { return jsonobject.AppendQuoted(b, s) }
