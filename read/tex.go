package read

import (
	"strings"
	"unicode/utf8"

	"synod.dev/synod/clean"
)

// control copies a control sequence.
func (w *texWriter) control(depth int) bool {
	name := w.in[1:]
	name = name[:len(name)-len(strings.TrimLeft(name, letters))]
	if name == "" {
		return w.symbol()
	}
	w.in = w.in[1+len(name):]
	if same, ok := texSame[name]; ok {
		name = same
	}
	switch {
	case texSilent[name]:
		w.gap = w.gap || texSpace[name]
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
	case name == "boxed" || name == "fbox":
		w.in = strings.TrimLeft(w.in, " ")
		return strings.HasPrefix(w.in, "{") && w.braces(depth)
	case texText[name]:
		return w.text(name)
	case name == "begin" || name == "end":
		return w.text(name)
	default:
		w.command(name)
	}
	return true
}

// symbol copies a backslash with what is no letter: \{ \} \\ \% stay, spacing and
// math delimiters go.
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

// root copies a root with its degree. After the bare root sign a number or a
// bracket is covered as a whole.
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

// text copies \text{…} and the name of an environment as they are, but for
// outer and repeated spaces.
func (w *texWriter) text(name string) bool {
	inner, rest, ok := cutGroup(strings.TrimLeft(w.in, " "))
	if !ok {
		return false
	}
	w.in = rest
	w.put(`\` + name + "{" + clean.Collapse(inner) + "}")
	return true
}

// texName names the characters that have a command.
var texName = map[rune]string{
	'\u00d7': "times", '\u00b7': "cdot", '\u22c5': "cdot", '\u00f7': "div", '\u00b1': "pm", '\u2213': "mp",
	'\u2264': "le", '\u2265': "ge", '\u2260': "ne", '\u221e': "infty", '\u222a': "cup", '\u2229': "cap",
	'\u2208': "in", '\u2205': "emptyset", '\u03b1': "alpha", '\u03b2': "beta", '\u03b3': "gamma",
	'\u03b4': "delta", '\u03b5': "epsilon", '\u03b8': "theta", '\u03bb': "lambda", '\u03bc': "mu",
	'\u03c0': "pi", '\u03c1': "rho", '\u03c3': "sigma", '\u03c4': "tau", '\u03c6': "phi", '\u03c9': "omega",
	'\u2192': "to", '\u221a': "surd",
}

// texSame maps commands onto the one that prints the same.
var texSame = map[string]string{
	"dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "leq": "le", "leqslant": "le", "geq": "ge",
	"geqslant": "ge", "neq": "ne", "rightarrow": "to", "mbox": "text", "textrm": "text", "textnormal": "text",
	"dbinom": "binom", "tbinom": "binom",
	"varnothing": "emptyset", "dots": "ldots", "cdots": "ldots",
}

// texSilent are commands that only size or space; texSpace those that space.
var (
	texSilent = set(`big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle textstyle limits
		quad qquad thinspace enspace space`)
	texSpace = set(`quad qquad thinspace enspace space`)
	texText  = set(`text mathrm mathbf textbf mathit textit mathcal mathbb operatorname`)
)
