package formula

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"synod.dev/synod/llm/read/notation"
)

// kind is the kind of a token.
type kind int

const (
	kindEnd    kind = iota
	kindNumber      // digits with at most one decimal point
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

// maxTokens bounds the work on one formula.
const maxTokens = 1000

// lexer splits a formula into tokens.
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
	case notation.IsDigit(c) && l.clock():
	case notation.IsDigit(c) || c == '.' && len(l.in) > 1 && notation.IsDigit(l.in[1]):
		l.number()
	case strings.IndexByte(notation.Letters, c) >= 0:
		// word classifies a run of letters: a function, a unit, variables side by side, or text.
		var word string
		word, l.in = notation.CutName(l.in)
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
		tex, ok := characters[r]
		if name, known := notation.Characters[r]; known {
			tex, ok = `\`+name+" ", true
		}
		if !ok {
			return fmt.Errorf("formula: the character %q is not understood", r)
		}
		l.in = tex + l.in[size:]
	}
	return nil
}

// symbol puts a symbol and counts the brackets in which a comma separates members.
func (l *lexer) symbol(s string) {
	switch s {
	case "(", "[", `\{`:
		l.depth++
	case ")", "]", `\}`:
		l.depth--
	}
	if s == "$" && (l.in == "" || !notation.IsDigit(l.in[0]) && l.in[0] != '.') { // a math delimiter inside
		l.space = true
		return
	}
	l.put(kindSymbol, s)
}

// number reads a number and the power of ten of 1e3.
func (l *lexer) number() {
	digits, rest := notation.Numeral(l.in, l.depth == 0 && l.thousands, true)
	if l.in = rest; strings.HasPrefix(l.in, `.\overline`) {
		digits, l.in = digits+".", l.in[1:]
	}
	if n := notation.Digits(strings.TrimPrefix(l.in, "e")); strings.HasPrefix(l.in, "e") && n > 0 && n <= 3 &&
		(len(l.in) == n+1 || l.in[n+1] != '.') {
		power := l.in[1 : n+1]
		l.in = "*10^{" + power + "}" + l.in[n+1:]
	}
	l.put(kindNumber, digits)
}

func (l *lexer) digits() string {
	n := notation.Digits(l.in)
	s := l.in[:n]
	l.in = l.in[n:]
	return s
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
	case low == "in" && strings.HasPrefix(strings.TrimLeft(l.in, " "), "[") || low == "in" &&
		strings.HasPrefix(strings.TrimLeft(l.in, " "), "("):
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

// command reads a backslash and the command after it.
func (l *lexer) command() error {
	rest := l.in[1:]
	name, after := notation.CutName(rest)
	if name == "" {
		return l.escaped(rest)
	}
	l.in = after
	if synonym, ok := notation.Synonyms[name]; ok {
		name = synonym
	}
	switch {
	case name == "mathbb" && strings.HasPrefix(strings.TrimLeft(l.in, " "), "R"): // \mathbb R
		l.in = strings.TrimLeft(l.in, " ")[1:]
		l.put(kindName, "reals")
	case name == "left" || name == "right":
		if t := strings.TrimLeft(l.in, " "); strings.HasPrefix(t, ".") {
			l.in = t[1:]
		}
	case notation.Sizing[name] || notation.Spacing[name] || name == "hspace" || name == "bf":
		l.space = true
	case notation.Textual[name] || name == "rm" || name == "begin" || name == "end":
		return l.argument(name)
	case meanings[name] != "":
		l.in = meanings[name] + l.in
	default:
		l.put(kindName, name)
	}
	return nil
}

// escaped reads a backslash before a character that is no letter.
func (l *lexer) escaped(rest string) error {
	if rest == "" {
		return errUnreadable
	}
	l.in = rest[1:]
	switch c := rest[0]; c {
	case '!', ',', ';', ':', ' ', '>', '(', ')', '[', ']', '\n':
		l.space = l.space || c != '!'
	case '{', '}', '\\':
		l.symbol(`\` + string(c))
	case '|':
		l.put(kindSymbol, "|")
	case '%', '&':
		l.put(kindSymbol, string(c))
	case '$':
		l.put(kindSymbol, "$")
	default:
		return fmt.Errorf(`formula: \%c is not understood`, c)
	}
	return nil
}

// argument reads \text{…} and \begin{…}.
func (l *lexer) argument(name string) error {
	t := strings.TrimLeft(l.in, " ")
	end := strings.IndexByte(t, '}')
	if !strings.HasPrefix(t, "{") || end < 0 || strings.Contains(t[1:end], "{") {
		return fmt.Errorf(`formula: the argument of \%s is not understood`, name)
	}
	inner := strings.TrimSpace(t[1:end])
	l.in = t[end+1:]
	low := strings.ToLower(inner)
	switch {
	case name == "mathbb" && inner == "R":
		l.put(kindName, "reals")
	case name == "begin" || name == "end":
		l.put(kindName, name+":"+inner)
		if name == "begin" && inner == "array" { // skip its column letters
			if u := strings.TrimLeft(l.in, " "); strings.HasPrefix(u, "{") {
				if _, after, ok := strings.Cut(u, "}"); ok {
					l.in = after
				}
			}
		}
	case inner == "":
		l.space = true
	case low == "and" || low == "or":
		l.put(kindAnd, low)
	case functions[inner] != "":
		l.put(kindName, functions[inner])
	case len(inner) == 1 && name != "text" && strings.Contains(notation.Letters, inner):
		l.put(kindLetter, inner)
	case strings.Trim(inner, notation.Letters+" -'./") == "":
		l.put(kindWord, inner)
	case strings.Trim(inner, notation.Letters+" ,") == "" && len(inner) > 4: // a list of words
		for i, part := range strings.Split(inner, ",") {
			if i > 0 {
				l.put(kindSymbol, ",")
			}
			l.put(kindWord, strings.TrimSpace(part))
		}
	default:
		l.in = " " + inner + " " + l.in
	}
	return nil
}

// functions maps the names of functions and constants as people write them to the names used here.
var functions = func() map[string]string {
	m := map[string]string{"infinity": "infty", "arcsine": "arcsin", "asin": "arcsin", "acos": "arccos",
		"atan": "arctan"}
	for _, n := range strings.Fields("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp sqrt pi " +
		"infty theta alpha beta lambda phi omega") {
		m[n] = n
	}
	m["sqrt"] = "surd" // without braces it covers a whole number
	return m
}()

// meanings are commands with what replaces them.
var meanings = map[string]string{
	"cdot": "*", "times": "*", "ast": "*", "div": "/", "le": "<=", "ge": ">=", "lt": "<", "gt": ">", "colon": ":",
	"langle": "(", "rangle": ")", "lvert": "|", "rvert": "|", "vert": "|", "lbrace": `\{`, "rbrace": `\}`,
	"lbrack": "[", "rbrack": "]",
	"degree": `\circ `, "lg": `\log_{10}`, "varphi": `\phi `, "varepsilon": `\epsilon `, "vartheta": `\theta `,
}

// characters are characters with what replaces them, besides those of package notation.
var characters = map[rune]string{
	'\u2212': "-", '\u2013': "-", '\u2010': "-", '\u2044': "/", '\u2215': "/", '\u211d': `\mathbb R`,
	'\u00b0': `\circ `,
	'\u00b2': "^{2}", '\u00b3': "^{3}", '\u2074': "^{4}", '\u2075': "^{5}", '\u00a0': " ", '\u2019': "'",
	'\u00a3': `\pounds `, '\u20ac': `\euro `, '\u00a2': `\cents `,
}

// stop are short words that are not read as variables side by side.
var stop = notation.Set(`the are is was it its of to so we for has not but be by if as at an on no all any yes you our my one two six ten sum set`)

// clock reads a time of day if one begins here: 4:30, 4:30 p.m. and, if nothing else is there, 4 p.m.
func (l *lexer) clock() bool {
	if len(l.out) == 0 && hourOnly.MatchString(l.in) {
		hour := l.digits()
		l.in = hour + ":00" + l.in
	}
	at := clock.FindString(l.in)
	rest := l.in[len(at):]
	hour, _, _ := strings.Cut(at, ":")
	if h, _ := strconv.Atoi(hour); at == "" || h > 24 || rest != "" && (notation.IsDigit(rest[0]) ||
		rest[0] == ':' || rest[0] == '.' && len(rest) > 1 && notation.IsDigit(rest[1])) {
		return false
	}
	text := at
	if m := meridiem.FindStringSubmatch(rest); m != nil {
		text, rest = at+" "+strings.ToLower(m[1])+"m", rest[len(m[0]):]
	}
	l.in = rest
	l.put(kindTime, text)
	return true
}

var errUnreadable = errors.New("formula: not a formula, or not in a notation that is understood")
