// Package notation knows how people and models write numbers, units and LaTeX in answers. Package read, which
// brings answers to one spelling, and package llm/read/formula, which compares what formulas mean, share it.
//
// It is pure, and ranks with package read, to which it belongs.
package notation

import "strings"

// Letters are the letters of which LaTeX commands consist.
const Letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Set returns the set of the words in a text.
func Set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// CutName splits s after its leading letters, which name a command if a backslash stands before them.
func CutName(s string) (name, rest string) {
	rest = strings.TrimLeft(s, Letters)
	return s[:len(s)-len(rest)], rest
}

// CutGroup cuts a balanced {…} from the start of s.
func CutGroup(s string) (inner, rest string, ok bool) {
	if s == "" || s[0] != '{' {
		return "", "", false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:], true
			}
		}
	}
	return "", "", false
}

// CutBox cuts a \boxed{…} or \fbox{…} from the start of s.
func CutBox(s string) (inner, rest string, ok bool) {
	t, found := strings.CutPrefix(s, `\boxed`)
	if !found {
		if t, found = strings.CutPrefix(s, `\fbox`); !found {
			return "", "", false
		}
	}
	return CutGroup(strings.TrimLeft(t, " "))
}

// Delimiters are the pairs that enclose a formula in a text, the longer ones first.
var Delimiters = [][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}}

// quotes are the pairs that emphasise or quote an answer.
var quotes = [][2]string{
	{"**", "**"}, {"__", "__"}, {"*", "*"}, {"```", "```"}, {"`", "`"}, {`"`, `"`}, {"'", "'"},
	{"\u201c", "\u201d"}, {"\u2018", "\u2019"}, {"\u00ab", "\u00bb"},
}

var wrappers = append(append([][2]string(nil), Delimiters...), quotes...)

// Unwrap removes what only presents an answer: emphasis, code marks, quotation marks, math delimiters, a box,
// a command that sets text, and one full stop, comma or semicolon at the end.
func Unwrap(s string) string {
	for {
		t := strings.TrimSpace(s)
		for _, w := range wrappers {
			if len(t) > len(w[0])+len(w[1]) && strings.HasPrefix(t, w[0]) && strings.HasSuffix(t, w[1]) {
				inner := t[len(w[0]) : len(t)-len(w[1])]
				if !strings.Contains(inner, w[1]) {
					t = inner
				}
				break
			}
		}
		if n := len(t); n > 1 && (t[n-1] == '.' || t[n-1] == ',' || t[n-1] == ';') && t[n-2] != '.' && t[n-2] != '\\' {
			t = t[:n-1]
		}
		if inner, ok := wholeArgument(t); ok {
			t = inner
		}
		if t == s {
			return s
		}
		s = t // shorter than before
	}
}

// wholeArgument returns the argument of the box or of the text command that s consists of.
func wholeArgument(s string) (string, bool) {
	if inner, rest, ok := CutBox(s); ok {
		return inner, rest == ""
	}
	for _, name := range TextCommands {
		if t, found := strings.CutPrefix(s, name); found {
			if inner, rest, ok := CutGroup(t); ok {
				return inner, rest == ""
			}
		}
	}
	return "", false
}

// TextCommands set their argument in some type and change nothing about what it says. Unlike Textual, the list
// leaves out commands that may change a letter's meaning, such as \mathbb.
var TextCommands = []string{`\text`, `\textrm`, `\mathrm`, `\mbox`, `\textbf`, `\mathbf`}

// Textual are the names of all commands that set their argument in some type.
var Textual = Set("text textrm textbf textit textnormal mathrm mathbf mathit mbox operatorname mathbb mathcal")

// Sizing are commands that change only sizes; Spacing print white space.
var (
	Sizing = Set(`big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr
		displaystyle textstyle limits nolimits mathstrut`)
	Spacing = Set(`quad qquad thinspace enspace space`)
)

// Synonyms maps commands onto the one that prints the same or means the same.
var Synonyms = map[string]string{
	"dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "dbinom": "binom", "tbinom": "binom", "fbox": "boxed",
	"leq": "le", "leqslant": "le", "geq": "ge", "geqslant": "ge", "neq": "ne", "rightarrow": "to",
	"mbox": "text", "textrm": "text", "textnormal": "text",
	"varnothing": "emptyset", "dots": "ldots", "cdots": "ldots", "degrees": "degree",
}

// Characters names the command for characters that have one.
var Characters = map[rune]string{
	'\u00d7': "times", '\u00b7': "cdot", '\u22c5': "cdot", '\u00f7': "div", '\u00b1': "pm", '\u2213': "mp",
	'\u2264': "le", '\u2265': "ge", '\u2260': "ne", '\u221e': "infty", '\u222a': "cup", '\u2229': "cap",
	'\u2216': "setminus",
	'\u2208': "in", '\u2205': "emptyset", '\u03b1': "alpha", '\u03b2': "beta", '\u03b3': "gamma",
	'\u03b4': "delta", '\u03b5': "epsilon", '\u03b8': "theta", '\u03bb': "lambda", '\u03bc': "mu",
	'\u03c0': "pi", '\u03c1': "rho", '\u03c3': "sigma", '\u03c4': "tau", '\u03c6': "phi", '\u03c9': "omega",
	'\u2192': "to", '\u221a': "surd",
}
