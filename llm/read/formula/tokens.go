package formula

import "fmt"

// tokens are read from the left.
type tokens struct {
	in []token
	at int
}

func (t *tokens) peek() token {
	if t.at < len(t.in) {
		return t.in[t.at]
	}
	return token{}
}

func (t *tokens) is(symbol string) bool {
	next := t.peek()
	return next.kind == kindSymbol && next.text == symbol
}

func (t *tokens) named(name string) bool {
	next := t.peek()
	return next.kind == kindName && next.text == name
}

// take consumes a symbol if it comes next.
func (t *tokens) take(symbol string) bool {
	if t.is(symbol) {
		t.at++
		return true
	}
	return false
}

func (t *tokens) fail() error {
	next := t.peek()
	if next.kind == kindEnd {
		return fmt.Errorf("formula: the text ends too early")
	}
	return fmt.Errorf("formula: %q is not understood here", next.text)
}

func (t *tokens) expect(symbols ...string) (string, error) {
	for _, s := range symbols {
		if t.take(s) {
			return s, nil
		}
	}
	return "", t.fail()
}
