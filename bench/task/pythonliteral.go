package task

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// literalRepr returns a literal of Python as repr writes it: numbers, texts, bytes, True, False, None, and lists,
// tuples and dictionaries of these. It is false for any other text.
func literalRepr(text string) (repr string, ok bool) {
	p := literalReader{rest: text}
	repr, ok = p.values("")
	return repr, ok && strings.TrimSpace(p.rest) == ""
}

// pythonString returns the text that a literal is.
func pythonString(literal string) (text string, ok bool) {
	p := literalReader{rest: literal}
	text, ok = p.text()
	return text, ok && p.rest == ""
}

// maxNested bounds how deep literals are nested.
const maxNested = 50

type literalReader struct {
	rest   string
	nested int
}

func (p *literalReader) space() { p.rest = strings.TrimLeft(p.rest, " \t\n") }

func (p *literalReader) take(sign string) bool {
	p.space()
	rest, found := strings.CutPrefix(p.rest, sign)
	p.rest = rest
	return found
}

// values reads values up to a sign, "" for the end: one, or several with commas, which are a tuple.
func (p *literalReader) values(end string) (string, bool) {
	all, comma, ok := p.list(end, p.value)
	switch {
	case !ok || len(all) == 0 && end == "":
		return "", false
	case len(all) == 1 && !comma:
		return all[0], true
	case len(all) == 1:
		return "(" + all[0] + ",)", true
	}
	return "(" + strings.Join(all, ", ") + ")", true
}

// list reads values with commas between them, up to a sign.
func (p *literalReader) list(end string, one func() (string, bool)) (all []string, comma, ok bool) {
	for {
		if p.space(); end == "" && p.rest == "" || end != "" && p.take(end) {
			return all, comma, true
		}
		if len(all) > 0 && !comma {
			return nil, false, false
		}
		value, ok := one()
		if !ok {
			return nil, false, false
		}
		all, comma = append(all, value), p.take(",")
	}
}

var (
	pythonNumber   = regexp.MustCompile(`^[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)`)
	pythonConstant = regexp.MustCompile(`^(?:True|False|None)\b`)
)

func (p *literalReader) value() (repr string, ok bool) {
	if p.nested++; p.nested > maxNested {
		return "", false
	}
	defer func() { p.nested-- }()
	p.space()
	switch {
	case p.rest == "":
		return "", false
	case p.rest[0] == '\'' || p.rest[0] == '"':
		text, ok := p.text()
		return pythonRepr(text), ok
	case strings.HasPrefix(p.rest, "b'") || strings.HasPrefix(p.rest, `b"`):
		p.rest = p.rest[1:]
		text, ok := p.text()
		return "b" + pythonRepr(text), ok
	case p.take("["):
		all, _, ok := p.list("]", p.value)
		return "[" + strings.Join(all, ", ") + "]", ok
	case p.take("("):
		return p.values(")")
	case p.take("{"):
		all, _, ok := p.list("}", p.pair)
		return "{" + strings.Join(all, ", ") + "}", ok
	}
	if word := pythonConstant.FindString(p.rest); word != "" {
		p.rest = p.rest[len(word):]
		return word, true
	}
	number := pythonNumber.FindString(p.rest)
	p.rest = p.rest[len(number):]
	return number, number != ""
}

func (p *literalReader) pair() (string, bool) {
	key, ok := p.value()
	if !ok || !p.take(":") {
		return "", false
	}
	value, ok := p.value()
	return key + ": " + value, ok
}

var pythonEscapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': "\\", '\'': "'", '"': "\"", '\n': ""}

// text reads a text between quotes. A line break in it makes it none.
func (p *literalReader) text() (text string, ok bool) {
	if p.rest == "" || p.rest[0] != '\'' && p.rest[0] != '"' {
		return "", false
	}
	quote := p.rest[0]
	var out strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; c {
		case quote:
			p.rest = p.rest[i+1:]
			return out.String(), true
		case '\n':
			return "", false
		case '\\':
			if i++; i == len(p.rest) {
				return "", false
			}
			i += escaped(&out, p.rest[i:])
		default:
			out.WriteByte(c)
		}
	}
	return "", false
}

// escaped writes what an escape stands for, and returns how many bytes it has after the first.
func escaped(out *strings.Builder, text string) int {
	if s, known := pythonEscapes[text[0]]; known {
		out.WriteString(s)
		return 0
	}
	for sign, digits := range map[byte]int{'x': 2, 'u': 4, 'U': 8} {
		if text[0] != sign || len(text) <= digits {
			continue
		}
		if n, err := strconv.ParseUint(text[1:1+digits], 16, 32); err == nil && utf8.ValidRune(rune(n)) {
			out.WriteRune(rune(n))
			return digits
		}
	}
	out.WriteString("\\" + text[:1])
	return 0
}

// pythonRepr writes a text as Python does.
func pythonRepr(text string) string {
	quote := "'"
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = `"`
	}
	signs := []string{`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`}
	if quote == "'" {
		signs = append(signs, "'", `\'`)
	}
	return quote + strings.NewReplacer(signs...).Replace(text) + quote
}
