package formula

import "strings"

// functions are the names of functions and constants as people write them, with
// the name that stands for them here.
var functions = func() map[string]string {
	m := map[string]string{"infinity": "infty", "arcsine": "arcsin", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}
	for _, n := range strings.Fields("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp sqrt pi infty theta alpha beta lambda phi omega") {
		m[n] = n
	}
	m["sqrt"] = "surd" // without braces it covers a whole number
	return m
}()

// textual are the commands that set words.
var textual = set("text textrm textbf textit textnormal mathrm mathbf mathit mbox operatorname mathbb mathcal rm")

// silent are commands that only size or space.
var silent = set(`big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle textstyle limits quad qquad
	thinspace enspace space hspace mathstrut nolimits bf`)

// same are commands with what stands for them.
var same = map[string]string{
	"dfrac": `\frac`, "tfrac": `\frac`, "cfrac": `\frac`, "dbinom": `\binom`, "tbinom": `\binom`, "fbox": `\boxed`,
	"cdot": "*", "times": "*", "ast": "*", "div": "/", "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
	"lt": "<", "gt": ">", "colon": ":",
	"langle": "(", "rangle": ")", "lvert": "|", "rvert": "|", "vert": "|", "lbrace": `\{`, "rbrace": `\}`, "lbrack": "[", "rbrack": "]",
	"varnothing": `\emptyset`, "degree": `\circ `, "degrees": `\circ `, "lg": `\log_{10}`,
	"varphi": `\phi `, "varepsilon": `\epsilon `, "vartheta": `\theta `,
}

// runes are characters with what stands for them.
var runes = map[rune]string{
	'\u2212': "-", '\u2013': "-", '\u2010': "-", '\u00d7': "*", '\u00b7': "*", '\u22c5': "*", '\u00f7': "/", '\u2044': "/", '\u2215': "/",
	'\u00b1': `\pm `, '\u2213': `\mp `, '\u2264': "<=", '\u2265': ">=", '\u221e': `\infty `, '\u222a': `\cup `, '\u2229': `\cap `,
	'\u2208': `\in `, '\u2260': `\ne `, '\u2216': `\setminus `, '\u211d': `\mathbb R`, '\u2205': `\emptyset `, '\u03c0': `\pi `, '\u03b8': `\theta `, '\u03b1': `\alpha `, '\u03b2': `\beta `, '\u03bb': `\lambda `,
	'\u221a': `\surd `, '\u00b0': `\circ `, '\u00b2': "^{2}", '\u00b3': "^{3}", '\u2074': "^{4}", '\u2075': "^{5}", '\u00a0': " ",
	'\u2019': "'", '\u00a3': `\pounds `, '\u20ac': `\euro `, '\u00a2': `\cents `,
}

// stop are short words that are no variables side by side.
var stop = set(`the are is was it its of to so we for has not but be by if as at an on no all any yes you our my one two six ten sum set`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
