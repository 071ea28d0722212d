package read

import (
	"bytes"
	"encoding/json"
	"strings"

	"synod.dev/synod/internal/jsonobject"
	"synod.dev/synod/llm/read/notation"
)

// maxDepth bounds how deep the values of an object nest.
const maxDepth = 64

// object is a JSON object that stands in a text, after its faults were repaired.
type object struct {
	from, to int                 // where it stands in the text
	done     int                 // where its last complete member ends
	members  []jsonobject.Member // with complete, well-formed values; keys may be repeated
	whole    bool                // it has its closing brace
}

// objects returns the objects that stand in a text outside of one another. An object begins with a brace and a
// key. The end of an object that has no closing brace is the end of the text.
//
// A well-formed object is read as it is, except for LaTeX: encoding/json would read "\frac" as a form feed and
// "rac". Of others these faults are repaired: backslashes that begin no escape, line breaks and quotation marks
// in strings, values without quotation marks, missing and superfluous commas. Nothing is added: a value that is
// cut off is no value. The scanner goes through the text once. From a quotation mark it looks ahead at most to the
// colon after the next string, so it takes linear time.
func objects(s string) (found []object) {
	for at := 0; ; {
		next := strings.IndexByte(s[at:], '{')
		if next < 0 {
			return found
		}
		from := at + next
		if at = from + 1; beginsKey(s[at:]) == 0 {
			continue
		}
		r := repairer{in: s, at: at}
		o := object{from: from}
		o.members, o.whole = r.members(0)
		o.done = max(r.done, at)
		if o.to = r.at; !o.whole {
			o.to = len(s)
		}
		found, at = append(found, o), o.to
	}
}

// beginsKey returns the length of a key with its colon at the start of s, with white space; 0 if there is none.
func beginsKey(s string) int {
	i := skip(s, 0, blank)
	if i == len(s) || s[i] != '"' {
		return 0
	}
	for i++; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	i++
	if i = skip(s, i, blank); i >= len(s) || s[i] != ':' {
		return 0
	}
	return i + 1
}

// blank is the white space of JSON.
const blank = " \t\r\n"

// skip returns the index of the first byte of s from i on that is not in set.
func skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

// repairer copies the values of one object from in to out and repairs them.
type repairer struct {
	in   string
	at   int
	done int // where the last complete member of the object ends
	out  []byte
	raw  bool // the string has LaTeX with single backslashes
}

// members reads up to the closing brace. It reports whether there is one; members before a fault are complete.
func (r *repairer) members(depth int) (all []jsonobject.Member, whole bool) {
	for {
		r.at = skip(r.in, r.at, blank+",")
		if r.at < len(r.in) && r.in[r.at] == '}' {
			r.at++
			return all, true
		}
		size := beginsKey(r.in[r.at:])
		if size == 0 {
			return all, false
		}
		name := strings.TrimSpace(r.in[r.at : r.at+size-1])
		key, ok := jsonobject.String([]byte(name))
		if !ok {
			key = strings.Trim(name, `"`)
		}
		r.at += size
		start := len(r.out)
		if !r.value(depth, false) {
			return all, false
		}
		all = append(all, jsonobject.Member{Key: key, Value: r.out[start:len(r.out):len(r.out)]})
		r.done = r.at
	}
}

// value copies a value. It returns false if the value is cut off. listed says that it is in a list.
func (r *repairer) value(depth int, listed bool) bool {
	r.at = skip(r.in, r.at, blank)
	if r.at == len(r.in) || depth > maxDepth {
		return false
	}
	switch c := r.in[r.at]; {
	case c == '"':
		return r.text(listed)
	case c == '[':
		return r.list(depth)
	case c == '{' && (beginsKey(r.in[r.at+1:]) > 0 || strings.HasPrefix(r.in[skip(r.in, r.at+1, blank):], "}")):
		return r.nested(depth)
	}
	return r.bare(listed)
}

func (r *repairer) nested(depth int) bool {
	r.at++
	inner := repairer{in: r.in, at: r.at}
	members, whole := inner.members(depth + 1)
	r.at = inner.at
	r.out = writeObject(r.out, members)
	return whole
}

func (r *repairer) list(depth int) bool {
	r.out = append(r.out, '[')
	for r.at = skip(r.in, r.at+1, blank); r.at < len(r.in); r.at = skip(r.in, r.at, blank+",") {
		if r.in[r.at] == ']' {
			r.at++
			r.out = append(bytes.TrimSuffix(r.out, []byte(",")), ']')
			return true
		}
		if !r.value(depth+1, true) {
			return false
		}
		r.out = append(r.out, ',')
	}
	return false
}

// bare copies a value without quotation marks: a number, true, or words, which become a string. Braces in it
// are LaTeX.
func (r *repairer) bare(listed bool) bool {
	begin, braces := r.at, 0
	for ; r.at < len(r.in); r.at++ {
		c := r.in[r.at]
		switch {
		case c == '{':
			braces++
			continue
		case c == '}' && braces > 0:
			braces--
			continue
		case c == '}', c == '\n', c == ']' && listed:
		case c == ',' && (listed || beginsKey(r.in[r.at+1:]) > 0 || skip(r.in, r.at+1, blank) == len(r.in)):
		default:
			continue
		}
		words := strings.TrimRight(r.in[begin:r.at], " \t\r,")
		text := []byte(words)
		if !json.Valid(text) {
			text, _ = json.Marshal(words)
		}
		r.out = append(r.out, text...)
		return words != ""
	}
	return false
}

// text copies a string up to the quotation mark that ends it.
func (r *repairer) text(listed bool) bool {
	r.out, r.raw = append(r.out, '"'), false
	for r.at++; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; {
		case c == '\\':
			r.escape()
		case c == '"' && r.ends(listed):
			r.at++
			r.out = append(r.out, '"')
			return true
		case c == '"' && !listed && strings.HasSuffix(strings.TrimRight(r.in[:r.at], " \t"), "\n") &&
			beginsKey(r.in[r.at:]) > 0: // the mark that ends it is missing
			r.out = append(r.out, '"')
			return true
		case c == '"':
			r.out = append(r.out, `\"`...)
		case c < ' ':
			quoted, _ := json.Marshal(string(rune(c)))
			r.out = append(r.out, quoted[1:len(quoted)-1]...)
		default:
			r.out = append(r.out, c)
		}
	}
	return false
}

// ends reports whether the quotation mark at which the repairer stands ends its string: what follows could
// follow a string in a well-formed object.
func (r *repairer) ends(listed bool) bool {
	next := skip(r.in, r.at+1, blank)
	if next == len(r.in) {
		return true
	}
	switch c := r.in[next]; {
	case listed:
		return c == ',' || c == ']'
	case c == ',':
		after := skip(r.in, next+1, blank)
		return after == len(r.in) || r.in[after] == '}' || r.in[after] == ',' || beginsKey(r.in[next+1:]) > 0
	case c == '}', strings.HasPrefix(r.in[next:], fence):
		return true
	}
	return strings.Contains(r.in[r.at+1:next], "\n") && beginsKey(r.in[next:]) > 0 // a comma is missing
}

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
