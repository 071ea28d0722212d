package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// members goes through a JSON object for a reader that wants few of its members:
// of a value that is skipped only the end is found. encoding/json goes through all
// of it twice, and a report reads hundreds of lines for each of its questions.
type members struct {
	rest        []byte
	name, value []byte // as they stand, the name with its quotes
	begun       bool
	err         error // the first value that could not be read
}

var errMembers = errors.New("not a JSON object")

// next reports whether there is another member.
func (m *members) next() bool {
	opens := byte('{')
	if m.begun {
		opens = ','
	}
	b := bytes.TrimSpace(m.rest)
	if len(b) == 0 || b[0] != opens {
		return false
	}
	name, after := cutValue(b[1:])
	if len(after) == 0 || after[0] != ':' {
		return false
	}
	m.name, m.begun = name, true
	m.value, m.rest = cutValue(after[1:])
	return len(m.value) > 0
}

// end is the error of the whole, when there is no next member.
func (m *members) end() error {
	if m.err == nil && string(bytes.TrimSpace(m.rest)) != "}" {
		return errMembers
	}
	return m.err
}

// cutValue cuts off the value that b begins with: it ends at the comma, colon or
// bracket that is no part of it.
func cutValue(b []byte) (value, rest []byte) {
	i := 0
	for depth := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 0:
			depth--
		case depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']'):
			return bytes.TrimSpace(b[:i]), b[i:]
		}
	}
	return bytes.TrimSpace(b), nil
}

// read is for values that are rare, or no simple ones.
func (m *members) read(into any) { m.fail(json.Unmarshal(m.value, into)) }

func (m *members) number() int64 {
	n, err := strconv.ParseInt(string(m.value), 10, 64)
	m.fail(err)
	return n
}

func (m *members) text() (s string) {
	if v := m.value; len(v) > 1 && v[0] == '"' && !bytes.ContainsRune(v, '\\') && utf8.Valid(v) {
		return string(v[1 : len(v)-1])
	}
	m.read(&s)
	return s
}

func (m *members) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}
