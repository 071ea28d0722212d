package formula

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// kind is what a token is.
type kind int

const (
	kindEnd    kind = iota
	kindNumber      // digits with a point at most; whole is set without one
	kindLetter      // one letter: a variable
	kindName        // a command or a function's name: frac, sin
	kindWord        // words: a unit, or text
	kindSymbol      // an operator or bracket
	kindAnd         // and, or: between the parts of a list
	kindTime        // a time of day: 4:30 pm
)

type token struct {
	kind  kind
	text  string
	space bool // white space stands before it
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// maxTokens bounds the work on one formula.
const maxTokens = 1000

// lexer cuts a formula into tokens.
type lexer struct {
	in        string
	out       []token
	depth     int  // of brackets in which a comma separates
	thousands bool // 1,234 outside brackets is one number
	space     bool
}

func lex(s string, thousands bool) ([]token, error) {
	l := lexer{in: s, thousands: thousands}
	if err := l.all(); err != nil {
		return nil, err
	}
	return l.out, nil
}

func (l *lexer) all() error {
	for l.in != "" {
		if len(l.out) > maxTokens {
			return fmt.Errorf("formula: more than %d parts", maxTokens)
		}
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

func (l *lexer) put(k kind, text string) {
	l.out = append(l.out, token{kind: k, text: text, space: l.space})
	l.space = false
}

func (l *lexer) next() error {
	c := l.in[0]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '~':
		l.in, l.space = l.in[1:], true
	case isDigit(c) && l.clock():
	case isDigit(c) || c == '.' && len(l.in) > 1 && isDigit(l.in[1]):
		l.number()
	case strings.IndexByte(letters, c) >= 0:
		n := len(l.in) - len(strings.TrimLeft(l.in, letters))
		word := l.in[:n]
		l.in = l.in[n:]
		l.word(word)
	case c == '\\':
		return l.command()
	case strings.HasPrefix(l.in, "**"):
		l.in = l.in[2:]
		l.put(kindSymbol, "^")
	case len(l.in) > 1 && l.in[1] == '=' && (c == '<' || c == '>'):
		l.put(kindSymbol, l.in[:2])
		l.in = l.in[2:]
	case strings.IndexByte("+-*/=<>()[]{}|!,;&%^_:$", c) >= 0:
		l.in = l.in[1:]
		l.symbol(string(c))
	default:
		r, size := utf8.DecodeRuneInString(l.in)
		name, ok := runes[r]
		if !ok {
			return fmt.Errorf("formula: the character %q is not understood", r)
		}
		l.in = name + l.in[size:]
	}
	return nil
}

func isDigit(c byte) bool { return c-'0' < 10 }

// symbol notes in which brackets a comma separates.
func (l *lexer) symbol(s string) {
	switch s {
	case "(", "[", `\{`:
		l.depth++
	case ")", "]", `\}`:
		l.depth--
	}
	if s == "$" && (l.in == "" || !isDigit(l.in[0]) && l.in[0] != '.') { // a math delimiter inside
		l.space = true
		return
	}
	l.put(kindSymbol, s)
}

// number reads digits, with thousands set apart by , or ,\! or {,} or a space, and
// the power of ten of 1e3.
func (l *lexer) number() {
	digits := l.digits()
	for first := len(digits) <= 3 && digits != ""; first; {
		rest := ""
		switch {
		case strings.HasPrefix(l.in, `,\!`):
			rest = strings.TrimLeft(l.in[3:], " ")
		case strings.HasPrefix(l.in, `{,}`):
			rest = l.in[3:]
		case strings.HasPrefix(l.in, ",") && l.depth == 0 && l.thousands && digits[0] != '0':
			rest = l.in[1:]
		case digits[0] != '0':
			rest = l.spaced()
		}
		if n := countDigits(rest); n != 3 {
			break
		}
		digits, l.in = digits+rest[:3], rest[3:]
	}
	if strings.HasPrefix(l.in, ".") && (countDigits(l.in[1:]) > 0 || strings.HasPrefix(l.in[1:], `\overline`)) {
		l.in = l.in[1:]
		digits += "." + l.digits()
	}
	if n := countDigits(strings.TrimPrefix(l.in, "e")); strings.HasPrefix(l.in, "e") && n > 0 && n <= 3 && (len(l.in) == n+1 || l.in[n+1] != '.') {
		power := l.in[1 : n+1]
		l.in = "*10^{" + power + "}" + l.in[n+1:]
	}
	l.put(kindNumber, digits)
}

// spaced is what follows a space as it stands between thousands, one that no mixed
// number is read across: 1 234, but 1 234/500.
func (l *lexer) spaced() string {
	for _, space := range []string{`\,`, `\ `, " ", "\u00a0", "\u2009", "\u202f"} {
		if rest, ok := strings.CutPrefix(l.in, space); ok && countDigits(rest) == 3 && !strings.HasPrefix(strings.TrimLeft(rest[3:], " "), "/") {
			return rest
		}
	}
	return ""
}

func (l *lexer) digits() string {
	n := countDigits(l.in)
	s := l.in[:n]
	l.in = l.in[n:]
	return s
}

func countDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// word sorts a run of letters: a function, a unit, variables side by side, text.
func (l *lexer) word(w string) {
	low := strings.ToLower(w)
	switch {
	case len(w) == 1:
		l.put(kindLetter, w)
	case functions[low] != "":
		l.put(kindName, functions[low])
	case low == "and" || low == "or":
		l.put(kindAnd, low)
	case low == "in" && strings.HasPrefix(strings.TrimLeft(l.in, " "), "[") || low == "in" && strings.HasPrefix(strings.TrimLeft(l.in, " "), "("):
		l.put(kindName, "in")
	case len(w) > 2 && functions[low[:len(w)-1]] != "" && strings.ContainsAny(w[len(w)-1:], "xyz"): // sinx
		l.put(kindName, functions[low[:len(w)-1]])
		l.put(kindLetter, w[len(w)-1:])
	case units[low] != unitless && low != "mi", len(w) > 3, stop[low], low == "per":
		l.put(kindWord, w)
	default:
		for i := range len(w) {
			l.put(kindLetter, w[i:i+1])
		}
	}
}
