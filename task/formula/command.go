package formula

import (
	"strings"
)

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
	trigonometric = set("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh")
	greek         = set("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau phi chi psi omega Gamma Delta Theta Lambda Sigma Phi Psi Omega ell")
)

// box reads a \boxed{…}. Two of them side by side are no product, but an answer and
// another one.
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

// apply reads the argument of a function: brackets, or factors side by side up to
// the next sign or function. \sin^2 x is (\sin x)^2 and \sin^{-1} x the inverse.
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
		if !p.starts(t) || t.kind == kindName && (functions[t.text] != "" || t.text == "frac") && !constants[t.text] && !greek[t.text] || t.text == "(" {
			break
		}
		n, err = p.times(n, p.factor)
	}
	if err == nil && !n.scalar() {
		return nil, p.fail()
	}
	return n, err
}
