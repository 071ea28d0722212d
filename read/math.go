package read

import (
	"strings"
	"unicode/utf8"
)

// canonMath brings LaTeX, already folded and in one line, to one spelling.
func canonMath(s string) (string, bool) {
	s = unwrap(s)
	if prose(s) {
		return "", false
	}
	if inner, rest, ok := cutGroup(s); ok && rest == "" { // a set whose backslashes were lost
		s = `\{` + inner + `\}`
	}
	if v, ok := plainRational(s); ok {
		return v, true
	}
	w := texWriter{in: s}
	if !w.group(0) || w.in != "" {
		return "", false
	}
	out := w.out.String()
	if v, ok := plainRational(out); ok {
		return v, true
	}
	if next := unwrap(out); next != out && next != "" {
		return canonMath(next)
	}
	return out, strings.ContainsFunc(out, meaningful)
}

// maxMathWords is how many words of three letters or more a formula may have:
// "no real solution".
const maxMathWords = 4

// prose reports that s, commands and \text aside, is a sentence and no formula.
func prose(s string) bool {
	words := 0
	for w := range strings.FieldsSeq(s) {
		w = strings.Trim(w, ".,;:()")
		if len(w) >= 3 && strings.Trim(w, letters) == "" {
			words++
		}
	}
	return words > maxMathWords
}

// plainRational reads a number that has no sign, unit or power about it but minus
// and fraction: 0.50, 1,234, 11/18, -\frac{1}{2}.
func plainRational(s string) (string, bool) {
	s, negative, _ := cutSign(strings.TrimSpace(s))
	v, rest, ok := readNumeral(s)
	switch {
	case strings.HasPrefix(s, `\frac`):
		v, rest, ok = readFrac(s)
	case ok && strings.HasPrefix(rest, "/"):
		v, rest, ok = divide(v, rest[1:], "")
	}
	if !ok || rest != "" {
		return "", false
	}
	if negative {
		v.Neg(v)
	}
	return writeRat(v)
}

const (
	maxNesting = 32
	maxOut     = 4 * maxRaw
)

// texWriter copies LaTeX from in to out in one spelling.
type texWriter struct {
	in    string
	out   strings.Builder
	word  bool // the last thing written was a control word: a letter needs a space
	digit bool // the last thing written was a digit
	gap   bool // white space was read since
	tight bool // … and a \!, which takes it back
}

// group copies until a closing brace or the end.
func (w *texWriter) group(depth int) bool {
	if depth > maxNesting {
		return false
	}
	for w.in != "" && w.in[0] != '}' {
		if w.out.Len() > maxOut || !w.item(depth) {
			return false
		}
	}
	return true
}

// item copies one thing.
func (w *texWriter) item(depth int) bool {
	switch c := w.in[0]; c {
	case ' ', '\n', '~':
		w.gap, w.in = true, w.in[1:]
	case '$':
		w.in = w.in[1:]
	case '{':
		return w.braces(depth)
	case '^', '_':
		w.in = w.in[1:]
		return w.raise(string(c), depth)
	case '\\':
		return w.control(depth)
	default:
		r, size := utf8.DecodeRuneInString(w.in)
		w.in = w.in[size:]
		if name, ok := texName[r]; ok {
			w.in = `\` + name + " " + w.in
			return w.control(depth)
		}
		w.put(string(r))
	}
	return true
}

// put writes plain characters. A space is kept between two digits, which without
// it would be one number, and set between a control word and a letter.
func (w *texWriter) put(s string) {
	c := s[0]
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
	if w.word && letter || w.digit && w.gap && isDigit(c) || w.list(c) {
		w.out.WriteByte(' ')
	}
	w.out.WriteString(s)
	last := s[len(s)-1]
	w.word, w.digit, w.gap, w.tight = false, isDigit(last), false, false
}

// list reports that c begins the next number of a list, "100, 200", which without
// its space would be one number with a thousands separator. In 11,\! 111 the comma
// is one.
func (w *texWriter) list(c byte) bool {
	return w.gap && !w.tight && isDigit(c) && strings.HasSuffix(w.out.String(), ",") && digits(w.in) == 2
}

// command writes a control word.
func (w *texWriter) command(name string) {
	w.put(`\` + name)
	w.word = true
}

// braces copies a plain group: its braces print nothing and go, unless they hold
// a comma and so look like a set.
func (w *texWriter) braces(depth int) bool {
	inner, ok := w.sub(depth)
	if !ok {
		return false
	}
	switch {
	case inner == ",": // 1{,}234
		w.put(",")
	case strings.Contains(inner, ","):
		w.put(`\{` + inner + `\}`)
	case inner != "":
		w.put(inner)
		w.word = endsInWord(inner)
	}
	return true
}

// sub reads a braced group and returns what it comes to.
func (w *texWriter) sub(depth int) (string, bool) {
	inner := texWriter{in: w.in[1:]}
	if !inner.group(depth+1) || inner.in == "" {
		return "", false
	}
	w.in = inner.in[1:]
	return inner.out.String(), true
}

// argument reads what a command or a ^ applies to: a group, a number if whole is
// set, a command, or one character.
func (w *texWriter) argument(whole bool, depth int) (string, bool) {
	w.in = strings.TrimLeft(w.in, " ~$")
	switch {
	case w.in == "" || w.in[0] == '}' || depth > maxNesting:
		return "", false
	case w.in[0] == '{':
		return w.sub(depth)
	}
	inner := texWriter{in: w.in}
	if n := digits(w.in); n > 1 && whole {
		w.in = w.in[n:]
		return inner.in[:n], true
	}
	if inner.in[0] == '^' || inner.in[0] == '_' || !inner.item(depth+1) {
		return "", false
	}
	w.in = inner.in
	return inner.out.String(), true
}

// raise copies a superscript or subscript; ^\circ is the degree sign. People who
// write x^12 mean x^{12}, whatever TeX makes of it.
func (w *texWriter) raise(mark string, depth int) bool {
	arg, ok := w.argument(true, depth)
	if !ok {
		return false
	}
	if mark == "^" && arg == `\circ` {
		w.put("\u00b0")
		return true
	}
	w.put(mark + "{" + arg + "}")
	return true
}

// endsInWord reports whether a letter set after s would run into a command.
func endsInWord(s string) bool {
	i := strings.LastIndexByte(s, '\\')
	if i < 0 || i+1 == len(s) {
		return false
	}
	return strings.Trim(s[i+1:], letters) == ""
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
