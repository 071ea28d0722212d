package formula

import (
	"fmt"
)

// maxNesting bounds how deep brackets and powers go.
const maxNesting = 40

// parser reads tokens from the left.
type parser struct {
	in    []token
	at    int
	depth int
	bars  int // absolute values that are open
}

func (p *parser) peek() token {
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return token{}
}

func (p *parser) is(symbol string) bool {
	t := p.peek()
	return t.kind == kindSymbol && t.text == symbol
}

func (p *parser) named(name string) bool {
	t := p.peek()
	return t.kind == kindName && t.text == name
}

// take consumes a symbol if it comes next.
func (p *parser) take(symbol string) bool {
	if p.is(symbol) {
		p.at++
		return true
	}
	return false
}

func (p *parser) fail() error {
	t := p.peek()
	if t.kind == kindEnd {
		return fmt.Errorf("formula: it ends too early")
	}
	return fmt.Errorf("formula: %q is not understood here", t.text)
}

func (p *parser) expect(symbols ...string) (string, error) {
	for _, s := range symbols {
		if p.take(s) {
			return s, nil
		}
	}
	return "", p.fail()
}

// enter counts nesting.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxNesting {
		return fmt.Errorf("formula: nested more than %d deep", maxNesting)
	}
	return nil
}
