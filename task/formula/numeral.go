package formula

import (
	"math/big"
	"strings"
)

func digitsOf(s string) (*node, error) {
	r, ok := new(big.Rat).SetString(s)
	if !ok || len(s) > maxDigits {
		return nil, errUnreadable
	}
	return &node{op: opNum, num: r}, nil
}

// maxDigits is how many digits a number may have.
const maxDigits = 400

// numeral reads a number with its base, its repeating part or the fraction that
// makes it a mixed number.
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

// mixed reads the fraction of 1\frac{4}{5} or 1 4/5, if one stands here.
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

// repeating reads the digits under \overline that go on for ever.
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
	return &node{op: opBased, name: strings.TrimLeft(digits[:len(digits)-1], "0") + digits[len(digits)-1:], base: base, num: new(big.Rat).SetInt(value)}, nil
}

var baseNames = map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "sixteen": 16}
