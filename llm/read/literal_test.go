package read_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sameLiteral compares an answer with a Python literal by their values. A missing pair of quotation marks is
// forgiven, as in the recorded answers.
func sameLiteral(answer, gold string) bool {
	want, bare := literalOf(gold), strings.TrimSpace(answer)
	if inner := strings.Trim(bare, `"`); strings.HasPrefix(inner, "(") || strings.HasPrefix(inner, "[") {
		bare, answer = inner, inner // the marks are those of a JSON string
	}
	return literalOf(answer) == want || strconv.Quote(bare) == want || literalOf("'"+bare+"'") == want
}

// literalOf writes a Python literal in one way, so that two literals with one value are written alike. Text that is no
// literal is the string of its characters.
func literalOf(s string) string {
	r := literalReader{in: strings.TrimSpace(s)}
	if v, ok := r.value(0); ok && strings.TrimSpace(r.in) == "" {
		return v
	}
	return strconv.Quote(s)
}

// literalReader reads the literals of Python that occur in tests.
type literalReader struct{ in string }

func (r *literalReader) cut(token string) bool {
	r.in = strings.TrimLeft(r.in, " \t\n")
	rest, ok := strings.CutPrefix(r.in, token)
	if ok {
		r.in = rest
	}
	return ok
}

func (r *literalReader) value(depth int) (string, bool) {
	switch {
	case depth > 20:
		return "", false
	case r.cut("("):
		return r.items("(", ")", depth)
	case r.cut("["):
		return r.items("[", "]", depth)
	case r.cut("{"):
		return r.items("{", "}", depth)
	case r.cut("'"):
		return r.text('\'')
	case r.cut(`"`):
		return r.text('"')
	}
	end := strings.IndexAny(r.in+",", ",:)]} ")
	word := r.in[:end]
	r.in = r.in[end:]
	if word == "True" || word == "False" || word == "None" || word == "set()" {
		return word, true
	}
	x, err := strconv.ParseFloat(word, 64)
	return strconv.FormatFloat(x, 'g', -1, 64), err == nil
}

func (r *literalReader) text(mark byte) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(r.in); i++ {
		switch c := r.in[i]; {
		case c == mark:
			r.in = r.in[i+1:]
			return strconv.Quote(b.String()), true
		case c == '\\' && i+1 < len(r.in):
			i++
			if n := strings.IndexByte(`ntr\'"`, r.in[i]); n >= 0 {
				b.WriteByte("\n\t\r\\'\""[n])
			} else {
				b.WriteString(r.in[i-1 : i+1])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// items reads up to a closing bracket. Of a key that stands twice, the last value counts.
func (r *literalReader) items(open, shut string, depth int) (string, bool) {
	var items, keys []string
	comma := false
	for !r.cut(shut) {
		v, ok := r.value(depth + 1)
		if !ok {
			return "", false
		}
		key := v
		if open == "{" && r.cut(":") {
			value, ok := r.value(depth + 1)
			if !ok {
				return "", false
			}
			v += ": " + value
		}
		if at := slices.Index(keys, key); open == "{" && at >= 0 {
			items[at] = v
		} else {
			items, keys = append(items, v), append(keys, key)
		}
		if comma = r.cut(","); !comma && !strings.HasPrefix(strings.TrimLeft(r.in, " \t\n"), shut) {
			return "", false
		}
	}
	if open == "{" {
		slices.Sort(items)
	}
	if open == "(" && len(items) == 1 && !comma {
		return items[0], true
	}
	return open + strings.Join(items, ", ") + shut, true
}

func TestLiteralOf(t *testing.T) {
	for a, b := range map[string]string{`(0, 'x')`: `( 0,"x" )`, `{'a': 1, 'b': 2}`: `{"b":2,"a":1}`, `'ab'`: `ab`,
		`{'1': 'a', '1': 'b'}`: `{'1': 'b'}`, `('a')`: `a`, `[1, 2,]`: `[1.0, 2]`, `'it\'s'`: `"it's"`, `''`: ``, `'1'`: `1`, `'a\nb'`: `a\nb`} {
		if !sameLiteral(b, a) {
			t.Errorf("%s is %s, and %s is %s", a, literalOf(a), b, literalOf(b))
		}
	}
	for a, b := range map[string]string{`(1,)`: `(1)`, `' 7 '`: `' 7'`, `'A'`: `a`, `[1, 2]`: `(1, 2)`, `{1}`: `[1]`, `1 2`: `12`} {
		if sameLiteral(b, a) || sameLiteral(a, b) {
			t.Errorf("%s and %s are both %s", a, b, literalOf(a))
		}
	}
}
