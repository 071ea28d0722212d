package formula

import (
	"math/big"
	"strings"

	"synod.dev/synod/llm/read/notation"
)

// factor reads an atom with the exponents, factorials, degree and per cent signs after it.
func (p *parser) factor() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	n, err := p.atom()
	for err == nil {
		switch {
		case p.take("^"):
			n, err = p.raised(n)
		case p.take("!"):
			if !n.scalar() {
				return nil, p.fail()
			}
			n = function("factorial", n)
		case p.named("circ"):
			p.at++
			n = mul(n, unit("degree"))
		case p.named("cents"):
			p.at++
			n = mul(n, unit("cent"))
		case p.take("%"):
			n = mul(n, unit("percent"))
		case p.is("_") || p.is("'"):
			return nil, p.fail()
		default:
			return n, nil
		}
		if err == nil && !n.scalar() {
			return nil, p.fail()
		}
	}
	return nil, err
}

// raised reads the exponent of n, or its degree sign.
func (p *parser) raised(n *node) (*node, error) {
	if p.named("circ") {
		p.at++
		return mul(n, unit("degree")), nil
	}
	if p.at+2 < len(p.in) && p.is("{") && p.in[p.at+1].text == "circ" && p.in[p.at+2].text == "}" {
		p.at += 3
		return mul(n, unit("degree")), nil
	}
	e, err := p.exponent()
	if err != nil || !n.scalar() {
		return nil, p.fail()
	}
	return power(n, e), nil
}

// exponent reads the operand of ^: a group, a whole number, or one factor.
func (p *parser) exponent() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	negative := p.take("-")
	if !negative {
		p.take("+")
	}
	n, err := p.single(true)
	if err != nil {
		return nil, err
	}
	if negative {
		n = negate(n)
	}
	return n, nil
}

// single reads the argument of a command or of ^: a group, or the one thing that comes next. Of a number, that
// is the first digit unless whole is set.
func (p *parser) single(whole bool) (*node, error) {
	t := p.peek()
	switch {
	case p.take("{"):
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		if _, err = p.expect("}"); err != nil || !n.scalar() {
			return nil, errUnreadable
		}
		return n, nil
	case t.kind == kindNumber && !whole && len(t.text) > 1:
		rest := t
		rest.text, rest.space = t.text[1:], false
		p.in = append([]token{rest}, p.in[p.at+1:]...)
		p.at = 0
		return digitsOf(t.text[:1])
	}
	n, err := p.atom()
	if err == nil && !n.scalar() {
		return nil, p.fail()
	}
	return n, err
}

// atom reads the smallest parts: numbers, times, letters, commands, words and brackets.
func (p *parser) atom() (*node, error) {
	t := p.peek()
	switch t.kind {
	case kindNumber:
		p.at++
		return p.numeral(t)
	case kindTime:
		p.at++
		return timeOf(t.text), nil
	case kindLetter:
		p.at++
		return p.variable(t.text)
	case kindName:
		p.at++
		return p.command(t.text)
	case kindWord:
		if p.at == 0 || p.in[p.at-1].kind == kindAnd || p.in[p.at-1].text == "," || p.in[p.at-1].text == `\{` ||
			p.in[p.at-1].text == "(" {
			p.at++
			return &node{op: opText, name: strings.ToLower(t.text)}, nil
		}
	case kindSymbol:
		p.at++
		n, err := p.bracketed(t.text)
		if err != nil {
			p.at = min(p.at, len(p.in))
		}
		return n, err
	}
	return nil, p.fail()
}

// variable reads a letter with its index.
func (p *parser) variable(name string) (*node, error) {
	if !p.take("_") {
		return named(name), nil
	}
	index := ""
	switch t := p.peek(); {
	case p.take("{"):
		for !p.is("}") {
			t := p.peek()
			if t.kind == kindEnd || t.text == "{" {
				return nil, p.fail()
			}
			index += t.text
			p.at++
		}
		p.at++
	case t.kind == kindNumber || t.kind == kindLetter:
		index = t.text
		p.at++
	default:
		return nil, p.fail()
	}
	return named(name + "_" + index), nil
}

// command reads what belongs to a command or a function's name.
func (p *parser) command(name string) (*node, error) {
	switch name {
	case "frac", "binom":
		a, err := p.single(false)
		if err != nil {
			return nil, err
		}
		b, err := p.single(false)
		if err != nil {
			return nil, err
		}
		if name == "frac" {
			return div(a, b), nil
		}
		return function("binom", a, b), nil
	case "sqrt", "surd":
		return p.root(name == "surd")
	case "boxed":
		return p.box()
	case "vec", "mathit", "hat", "bar", "overrightarrow", "boldsymbol":
		return p.single(false)
	case "reals":
		return reals(), nil
	case "emptyset":
		return &node{op: opSet}, nil
	case "pounds", "euro":
		return p.money(name)
	case "lfloor", "lceil":
		return p.until("r"+name[1:], name[1:])
	case "log":
		return p.logarithm()
	case "max", "min", "gcd", "lcm":
		return nil, p.fail()
	}
	if strings.HasPrefix(name, "begin:") {
		return p.matrix(name[len("begin:"):])
	}
	if trigonometric[name] || name == "ln" || name == "exp" {
		return p.apply(name)
	}
	if constants[name] || greek[name] {
		return p.variable(name)
	}
	p.at--
	return nil, p.fail()
}

var (
	trigonometric = notation.Set("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh")
	greek         = notation.Set("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma " +
		"tau phi chi psi omega Gamma Delta Theta Lambda Sigma Phi Psi Omega ell")
)

// box reads a \boxed{…}. Two of them side by side are two answers and not a product.
func (p *parser) box() (*node, error) {
	n, err := p.single(true)
	if err == nil && p.named("boxed") {
		return nil, p.fail()
	}
	return n, err
}

// root reads \sqrt[n]{x}, sqrt(x) and √x, which covers a whole number.
func (p *parser) root(bare bool) (*node, error) {
	degree := number(2)
	if p.take("[") {
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		if _, err := p.expect("]"); err != nil || !n.scalar() {
			return nil, errUnreadable
		}
		degree = n
	}
	n, err := p.single(bare)
	if err != nil {
		return nil, err
	}
	return function("root", degree, n), nil
}

// money reads the number after a currency sign.
func (p *parser) money(name string) (*node, error) {
	n, err := p.signed()
	if err != nil || !n.scalar() {
		return nil, p.fail()
	}
	return mul(n, unit(name)), nil
}

// logarithm reads \log_b x.
func (p *parser) logarithm() (*node, error) {
	base := number(10)
	if p.take("_") {
		var err error
		if base, err = p.single(false); err != nil {
			return nil, err
		}
	}
	n, err := p.apply("ln")
	if err != nil {
		return nil, err
	}
	if n.op == opPow { // \log^2 x
		return power(div(n.args[0], function("ln", base)), n.args[1]), nil
	}
	return div(n, function("ln", base)), nil
}

// apply reads the argument of a function: brackets, or factors side by side up to the next sign or function.
// \sin^2 x is (\sin x)^2 and \sin^{-1} x is the inverse.
func (p *parser) apply(name string) (*node, error) {
	var exponent *node
	if p.take("^") {
		e, err := p.exponent()
		if err != nil {
			return nil, err
		}
		exponent = e
	}
	arg, err := p.argument()
	if err != nil {
		return nil, err
	}
	switch inverse := "arc" + name; {
	case exponent == nil:
		return function(name, arg), nil
	case exponent.op == opNum && exponent.num.Cmp(number(-1).num) == 0 && trigonometric[inverse]:
		return function(inverse, arg), nil
	}
	return power(function(name, arg), exponent), nil
}

func (p *parser) argument() (*node, error) {
	if p.is("(") {
		n, err := p.factor()
		if err == nil && !n.scalar() {
			return nil, p.fail()
		}
		return n, err
	}
	n, err := p.signed()
	for err == nil {
		t := p.peek()
		if !p.starts(t) || t.kind == kindName && (functions[t.text] != "" || t.text == "frac") &&
			!constants[t.text] && !greek[t.text] || t.text == "(" {
			break
		}
		n, err = p.times(n, p.factor)
	}
	if err == nil && !n.scalar() {
		return nil, p.fail()
	}
	return n, err
}

func digitsOf(s string) (*node, error) {
	r, ok := new(big.Rat).SetString(s)
	if !ok || len(s) > maxDigits {
		return nil, errUnreadable
	}
	return &node{op: opNum, num: r}, nil
}

// maxDigits is how many digits a number may have.
const maxDigits = 400

// numeral reads a number with its base, its repeating part, or the fraction of a mixed number.
func (p *parser) numeral(t token) (*node, error) {
	if p.named("overline") {
		return p.repeating(t.text)
	}
	n, err := digitsOf(t.text)
	if err != nil {
		return nil, err
	}
	if p.take("_") {
		return p.based(t.text)
	}
	if strings.Contains(t.text, ".") {
		return n, nil
	}
	if part, ok := p.mixed(); ok {
		return &node{op: opNum, num: new(big.Rat).Add(n.num, part)}, nil
	}
	return n, nil
}

// mixed reads the fraction of 1\frac{4}{5} or 1 4/5 if one begins here.
func (p *parser) mixed() (*big.Rat, bool) {
	var parts []string
	at := p.at
	next := func() token {
		at++
		if at <= len(p.in) {
			return p.in[at-1]
		}
		return token{}
	}
	switch {
	case p.named("frac"):
		at++
		for range 2 {
			t := next()
			if t.text == "{" {
				t = next()
				if next().text != "}" {
					return nil, false
				}
			} else if len(t.text) != 1 { // \frac45 keeps its two digits in one token
				if len(parts) == 0 && len(t.text) == 2 && t.kind == kindNumber {
					parts = []string{t.text[:1], t.text[1:]}
					break
				}
				return nil, false
			}
			if t.kind != kindNumber {
				return nil, false
			}
			parts = append(parts, t.text)
		}
	case p.peek().kind == kindNumber && p.peek().space:
		above, slash, below := next(), next(), next()
		if slash.text != "/" || below.kind != kindNumber {
			return nil, false
		}
		parts = []string{above.text, below.text}
	default:
		return nil, false
	}
	r, ok := new(big.Rat).SetString(parts[0] + "/" + parts[1])
	if !ok || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 {
		return nil, false
	}
	p.at = at
	return r, true
}

// repeating reads the repeating digits under \overline.
func (p *parser) repeating(head string) (*node, error) {
	p.at++
	if !p.take("{") || p.peek().kind != kindNumber || strings.Contains(p.peek().text, ".") {
		return nil, p.fail()
	}
	loop := p.peek().text
	p.at++
	if _, err := p.expect("}"); err != nil || !strings.Contains(head, ".") || len(head)+len(loop) > maxDigits {
		return nil, errUnreadable
	}
	_, places, _ := strings.Cut(head, ".")
	n, ok := new(big.Rat).SetString(strings.TrimSuffix(head, "."))
	tail, fine := new(big.Rat).SetString(loop + "/" + strings.Repeat("9", len(loop)) + strings.Repeat("0", len(places)))
	if !ok || !fine {
		return nil, errUnreadable
	}
	return &node{op: opNum, num: n.Add(n, tail)}, nil
}

// based reads the base of a number: 52_8.
func (p *parser) based(digits string) (*node, error) {
	braced := p.take("{")
	t := p.peek()
	base := baseNames[strings.ToLower(t.text)]
	if t.kind == kindNumber && len(t.text) <= 2 {
		for _, c := range []byte(t.text) {
			base = 10*base + int(c-'0')
		}
	}
	p.at++
	if braced && !p.take("}") || base < 2 || base > 36 {
		return nil, errUnreadable
	}
	value, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return nil, errUnreadable
	}
	return &node{op: opBased, name: strings.TrimLeft(digits[:len(digits)-1], "0") + digits[len(digits)-1:],
		base: base, num: new(big.Rat).SetInt(value)}, nil
}

var baseNames = map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
	"nine": 9, "ten": 10, "twelve": 12, "sixteen": 16}
