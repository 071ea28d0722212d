package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"synod.dev/synod/internal/jsonobject"
)

// Rewrite returns a JSON value as this program has read it: each string, number and word is written anew, and
// of an object no key stands twice. Two programs that read the result cannot understand two things by it, as
// lax ones may by the original: 1e6, 1000000.0 and a repeated key mean different things to different parsers.
// The order of keys is kept, because it matters in schemas. raw must be valid JSON.
func Rewrite(raw []byte) ([]byte, error) {
	c := canon{out: make([]byte, 0, len(raw))}
	err := c.rewrite(raw)
	return c.out, err
}

// rewrite appends a value.
func (c *canon) rewrite(raw []byte) error {
	c.in = raw
	at := c.value(space(raw, 0))
	if c.err == nil && at == 0 {
		c.err = fmt.Errorf("the value is empty")
	}
	return c.err
}

// canon is a value on its way from one text to the other.
type canon struct {
	in, out []byte
	keys    []span // in out, of the objects that are open
	err     error
}

// span is a part of a text.
type span struct{ begin, end int }

// value copies the value that begins at a byte, and returns where it ends.
func (c *canon) value(at int) int {
	if c.err != nil {
		return len(c.in)
	}
	switch first := c.in[at]; first {
	case '{':
		return c.object(at)
	case '[':
		return c.list(at)
	case '"':
		end := skip(c.in, at)
		c.out = jsonobject.AppendText(c.out, c.in[at+1:end-1])
		return end
	case 't', 'f', 'n':
		end := skip(c.in, at)
		c.out = append(c.out, c.in[at:end]...)
		return end
	}
	end := skip(c.in, at)
	if c.out, c.err = appendNumber(c.out, string(c.in[at:end])); c.err != nil {
		return len(c.in)
	}
	return end
}

func (c *canon) object(at int) int {
	c.out = append(c.out, '{')
	first := len(c.keys)
	defer func() { c.keys = c.keys[:first] }()
	var more map[string]bool // the keys, where there are many
	for at = space(c.in, at+1); c.in[at] != '}'; at = space(c.in, at) {
		if c.in[at] == ',' {
			c.out = append(c.out, ',')
			at = space(c.in, at+1)
		}
		end := skip(c.in, at)
		begin := len(c.out)
		c.out = jsonobject.AppendText(c.out, c.in[at+1:end-1])
		if more = c.key(begin, first, more); c.err != nil {
			return len(c.in)
		}
		c.out = append(c.out, ':')
		if at = c.value(space(c.in, space(c.in, end)+1)); c.err != nil {
			return at
		}
	}
	c.out = append(c.out, '}')
	return at + 1
}

// fewKeys is of how many keys each is compared with all others.
const fewKeys = 16

// key refuses the key that was written last, at a byte, if the object has it twice. Keys that are written alike are the
// same; the object's are those from first, or in more where there are many.
func (c *canon) key(at, first int, more map[string]bool) map[string]bool {
	text := c.out[at:]
	twice := more[string(text)]
	for _, k := range c.keys[first:] {
		twice = twice || bytes.Equal(c.out[k.begin:k.end], text)
	}
	if twice {
		c.err = fmt.Errorf("the key %q is there twice", printed(jsonobject.Unquote(text)))
		return more
	}
	c.keys = append(c.keys, span{at, len(c.out)})
	if len(c.keys)-first < fewKeys {
		return more
	}
	if more == nil {
		more = map[string]bool{}
	}
	for _, k := range c.keys[first:] {
		more[string(c.out[k.begin:k.end])] = true
	}
	c.keys = c.keys[:first]
	return more
}

func (c *canon) list(at int) int {
	c.out = append(c.out, '[')
	for at = space(c.in, at+1); c.in[at] != ']'; at = space(c.in, at) {
		if c.in[at] == ',' {
			c.out = append(c.out, ',')
			at = space(c.in, at+1)
		}
		if at = c.value(at); c.err != nil {
			return at
		}
	}
	c.out = append(c.out, ']')
	return at + 1
}

// appendNumber writes a number: whole ones by their digits, others as short as they can be read back.
func appendNumber(out []byte, text string) ([]byte, error) {
	if whole(text) {
		if text == "-0" {
			text = "0"
		}
		return append(out, text...), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return out, fmt.Errorf("the number %.40s is too large", text)
	case x == math.Trunc(x) && math.Abs(x) < 1<<53:
		return strconv.AppendInt(out, int64(x), 10), nil
	}
	return strconv.AppendFloat(out, x, 'g', -1, 64), nil
}

// whole reports whether a JSON number is written by digits alone.
func whole(text string) bool {
	for i, c := range []byte(text) {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return len(text) < 20
}

// ReadWhole reads a JSON number that is whole, however it is written: 100, 100.0 and 1e2 are the same. A text
// with a number is none: some servers read it as one, and others do not.
func ReadWhole(raw json.RawMessage) (n int, ok bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	text, err := appendNumber(nil, string(raw))
	if err != nil || !whole(string(text)) {
		return 0, false
	}
	n, err = strconv.Atoi(string(text))
	return n, err == nil
}

// printed returns a short text from outside for a message.
func printed(s string) string { return s[:min(len(s), 60)] }
