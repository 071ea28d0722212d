package read

import (
	"strings"
	"unicode/utf8"

	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
)

// canonMath brings LaTeX, already folded and on one line, to one spelling.
func canonMath(s string) (string, bool) {
	s = notation.Unwrap(s)
	if prose(s) {
		return "", false
	}
	if inner, rest, ok := notation.CutGroup(s); ok && rest == "" { // a set that lost its backslashes
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
	if next := notation.Unwrap(out); next != out && next != "" {
		return canonMath(next)
	}
	return out, strings.ContainsFunc(out, meaningful)
}

// maxMathWords is how many words of three or more letters a formula may contain, as in "no real solution".
const maxMathWords = 4

// prose reports that s is a sentence and not a formula. Commands and \text do not count.
func prose(s string) bool {
	words := 0
	for w := range strings.FieldsSeq(s) {
		w = strings.Trim(w, ".,;:()")
		if len(w) >= 3 && strings.Trim(w, notation.Letters) == "" {
			words++
		}
	}
	return words > maxMathWords
}

// plainRational reads a number with at most a minus sign and a fraction: 0.50, 1,234, 11/18, -\frac{1}{2}.
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
	word  bool // the last thing written was a command: a letter needs a space
	digit bool // the last thing written was a digit
	gap   bool // white space was read after it
	tight bool // \!, which cancels white space, was read after it
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

// item copies one character, group or command.
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
		if name, ok := notation.Characters[r]; ok {
			w.in = `\` + name + " " + w.in
			return w.control(depth)
		}
		w.put(string(r))
	}
	return true
}

// put writes plain characters. It keeps a space between two digits, which would otherwise be one number, and
// writes one between a command and a letter.
func (w *texWriter) put(s string) {
	c := s[0]
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
	if w.word && letter || w.digit && w.gap && notation.IsDigit(c) || w.list(c) {
		w.out.WriteByte(' ')
	}
	w.out.WriteString(s)
	last := s[len(s)-1]
	w.word, w.digit, w.gap, w.tight = false, notation.IsDigit(last), false, false
}

// list reports that c begins the next number of a list such as "100, 200", which would otherwise become one
// number with a thousands separator. In 11,\! 111 the comma is such a separator.
func (w *texWriter) list(c byte) bool {
	return w.gap && !w.tight && notation.IsDigit(c) && strings.HasSuffix(w.out.String(), ",") &&
		notation.Digits(w.in) == 2
}

// command writes a command.
func (w *texWriter) command(name string) {
	w.put(`\` + name)
	w.word = true
}

// braces copies a plain group. Its braces print nothing and are dropped, unless they hold a comma and so look
// like a set.
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

// sub reads a braced group and returns its spelling.
func (w *texWriter) sub(depth int) (string, bool) {
	inner := texWriter{in: w.in[1:]}
	if !inner.group(depth+1) || inner.in == "" {
		return "", false
	}
	w.in = inner.in[1:]
	return inner.out.String(), true
}

// argument reads the argument of a command or of ^: a group, a whole number if whole is set, a command, or one
// character.
func (w *texWriter) argument(whole bool, depth int) (string, bool) {
	w.in = strings.TrimLeft(w.in, " ~$")
	switch {
	case w.in == "" || w.in[0] == '}' || depth > maxNesting:
		return "", false
	case w.in[0] == '{':
		return w.sub(depth)
	}
	inner := texWriter{in: w.in}
	if n := notation.Digits(w.in); n > 1 && whole {
		w.in = w.in[n:]
		return inner.in[:n], true
	}
	if inner.in[0] == '^' || inner.in[0] == '_' || !inner.item(depth+1) {
		return "", false
	}
	w.in = inner.in
	return inner.out.String(), true
}

// raise copies a superscript or subscript; ^\circ is the degree sign. x^12 is read as x^{12}, which is what
// people mean by it.
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

// endsInWord reports whether a letter after s would become part of a command's name.
func endsInWord(s string) bool {
	i := strings.LastIndexByte(s, '\\')
	if i < 0 || i+1 == len(s) {
		return false
	}
	return strings.Trim(s[i+1:], notation.Letters) == ""
}

// control copies a command.
func (w *texWriter) control(depth int) bool {
	name, rest := notation.CutName(w.in[1:])
	if name == "" {
		return w.symbol()
	}
	w.in = rest
	if same, ok := notation.Synonyms[name]; ok {
		name = same
	}
	switch {
	case notation.Sizing[name]:
	case notation.Spacing[name]:
		w.gap = true
	case name == "left" || name == "right":
		if t := strings.TrimLeft(w.in, " "); strings.HasPrefix(t, ".") { // an invisible bracket
			w.in = t[1:]
		}
	case name == "frac" || name == "binom":
		return w.commandWith(name, 2, depth)
	case name == "sqrt":
		return w.root(depth, false)
	case name == "surd": // the character, which has no braces
		return w.root(depth, true)
	case name == "degree":
		w.put("\u00b0")
	case name == "boxed":
		w.in = strings.TrimLeft(w.in, " ")
		return strings.HasPrefix(w.in, "{") && w.braces(depth)
	case notation.Textual[name]:
		return w.text(name)
	case name == "begin" || name == "end":
		return w.text(name)
	default:
		w.command(name)
	}
	return true
}

// symbol copies a backslash before a character that is no letter: \{ \} \\ \% stay, spacing and math
// delimiters are dropped.
func (w *texWriter) symbol() bool {
	r, size := utf8.DecodeRuneInString(w.in[1:])
	w.in = w.in[1+size:]
	switch r {
	case '!':
		w.tight = true
	case '(', ')', '[', ']', '$':
	case ',', ';', ':', ' ', '>':
		w.gap = true
	case '{', '}', '\\', '|', '&', '_':
		w.put(`\` + string(r))
	case '%', '#':
		w.put(string(r))
	default:
		return false
	}
	return true
}

func (w *texWriter) commandWith(name string, args, depth int) bool {
	out := ""
	for range args {
		arg, ok := w.argument(false, depth)
		if !ok {
			return false
		}
		out += "{" + arg + "}"
	}
	w.put(`\` + name + out)
	return true
}

// root copies a root with its degree. After a bare root sign, a number or a bracket is its argument as a
// whole.
func (w *texWriter) root(depth int, bare bool) bool {
	w.in = strings.TrimLeft(w.in, " ")
	degree := ""
	if strings.HasPrefix(w.in, "[") {
		inner, rest, ok := strings.Cut(w.in[1:], "]")
		if !ok {
			return false
		}
		d := texWriter{in: inner}
		if !d.group(depth+1) || d.in != "" {
			return false
		}
		degree, w.in = "["+d.out.String()+"]", rest
	}
	arg, ok := "", false
	if bare && strings.HasPrefix(w.in, "(") {
		arg, ok = w.parens(depth)
	} else {
		arg, ok = w.argument(bare, depth)
	}
	if ok {
		w.put(`\sqrt` + degree + "{" + arg + "}")
	}
	return ok
}

// parens reads the (…) that a root sign without braces covers.
func (w *texWriter) parens(depth int) (string, bool) {
	level := 0
	for i := range len(w.in) {
		switch w.in[i] {
		case '(':
			level++
		case ')':
			if level--; level == 0 {
				inner := texWriter{in: w.in[1:i]}
				w.in = w.in[i+1:]
				return inner.finish(depth)
			}
		}
	}
	return "", false
}

func (w *texWriter) finish(depth int) (string, bool) {
	ok := w.group(depth+1) && w.in == ""
	return w.out.String(), ok
}

// text copies \text{…} or the name of an environment without outer and repeated spaces.
func (w *texWriter) text(name string) bool {
	inner, rest, ok := notation.CutGroup(strings.TrimLeft(w.in, " "))
	if !ok {
		return false
	}
	w.in = rest
	w.put(`\` + name + "{" + clean.Collapse(inner) + "}")
	return true
}
