package structured

import (
	"fmt"
	"math/big"
	"unicode/utf8"
)

// Validate returns an error if the value does not follow the schema. The error names the place in the value.
// It takes time in proportion to the number of values times the number of schemas, because each schema is
// applied to each value once.
func (s *Schema) Validate(v *Value) error {
	if v == nil {
		return errNoValue
	}
	c := checker{map[visited]string{}}
	if why := c.check(s.root, v, ""); why != "" {
		return fmt.Errorf("structured: %s", why)
	}
	return nil
}

// checker remembers why values do not follow schemas; "": they do.
type checker struct{ known map[visited]string }

type visited struct {
	n *node
	v *Value
}

func (c *checker) valid(n *node, v *Value) bool { return c.check(n, v, "") == "" }

// check returns why a value does not follow a schema; "" if it does.
func (c *checker) check(n *node, v *Value, at string) string {
	key := visited{n, v}
	if why, ok := c.known[key]; ok {
		return why
	}
	why := c.find(n, v, at)
	c.known[key] = why
	return why
}

func (c *checker) find(n *node, v *Value, at string) string {
	why := n.scalarFault(v)
	if why != "" {
		return place(at) + why
	}
	switch v.kind {
	case Array:
		why = c.array(n, v, at)
	case Object:
		why = c.object(n, v, at)
	}
	if why == "" {
		why = c.applied(n, v, at)
	}
	return why
}

// place begins a message about a part of a value.
func place(at string) string {
	if at == "" {
		return "the value "
	}
	return "the value at " + shorten(at) + " "
}

// scalarFault checks the keywords that concern one value by itself.
func (n *node) scalarFault(v *Value) string {
	switch {
	case n.never:
		return "is not allowed"
	case n.typed && !n.kinds[v.kind]:
		return fmt.Sprintf("is of type %s, and must be %s", v.kind, n.allowed())
	case n.enum != nil && !n.enum[v.canon]:
		return fmt.Sprintf("is %s, which is not one of the allowed values", shorten(v.canon))
	case v.kind == Number:
		return n.numberFault(v.number)
	case v.kind == String && !n.runes.has(utf8.RuneCountInString(v.text)):
		return fmt.Sprintf("has %d characters, and %s", utf8.RuneCountInString(v.text), n.runes)
	case v.kind == String && n.pattern != nil && !n.pattern.MatchString(v.text):
		return fmt.Sprintf("does not match the pattern %q", shorten(n.pattern.String()))
	}
	return ""
}

// allowed names the types of a schema.
func (n *node) allowed() (names string) {
	for k, ok := range n.kinds {
		if !ok {
			continue
		}
		if names != "" {
			names += " or "
		}
		if Kind(k) == Number && n.whole {
			names += "integer"
		} else {
			names += Kind(k).String()
		}
	}
	return names
}

// String describes the allowed numbers.
func (s span) String() string {
	if s.most < 0 {
		return fmt.Sprintf("at least %d are needed", s.least)
	}
	return fmt.Sprintf("%d to %d are allowed", s.least, s.most)
}

func (n *node) numberFault(x *big.Rat) string {
	switch {
	case n.typed && n.whole && !x.IsInt():
		return "is not an integer"
	case n.low != nil && x.Cmp(n.low) < 0:
		return "is below the minimum " + spell(n.low)
	case n.high != nil && x.Cmp(n.high) > 0:
		return "is above the maximum " + spell(n.high)
	case n.above != nil && x.Cmp(n.above) <= 0:
		return "is not above " + spell(n.above)
	case n.below != nil && x.Cmp(n.below) >= 0:
		return "is not below " + spell(n.below)
	case n.multiple != nil && !new(big.Rat).Quo(x, n.multiple).IsInt():
		return "is not a multiple of " + spell(n.multiple)
	}
	return ""
}

func (c *checker) array(n *node, v *Value, at string) string {
	if !n.length.has(len(v.items)) {
		return fmt.Sprintf("%shas %d items, and %s", place(at), len(v.items), n.length)
	}
	if n.unique {
		seen := map[string]bool{}
		for _, x := range v.items {
			if seen[x.canon] {
				return fmt.Sprintf("%shas the item %s twice", place(at), shorten(x.canon))
			}
			seen[x.canon] = true
		}
	}
	if n.key != "" {
		if why := unkeyed(n.key, v); why != "" {
			return place(at) + why
		}
	}
	for i, x := range v.items {
		of := n.itemAt(i)
		if of == nil {
			continue
		}
		if why := c.check(of, x, pointer(at, fmt.Sprint(i))); why != "" {
			return why
		}
	}
	return ""
}

// itemAt returns the schema of an item; nil if any value is allowed.
func (n *node) itemAt(i int) *node {
	if i < len(n.prefix) {
		return n.prefix[i]
	}
	return n.items
}

func (c *checker) object(n *node, v *Value, at string) string {
	if !n.count.has(len(v.members)) {
		return fmt.Sprintf("%shas %d members, and %s", place(at), len(v.members), n.count)
	}
	for _, name := range n.required {
		if v.Member(name) == nil {
			return fmt.Sprintf("%shas no %q, which is required", place(at), shorten(name))
		}
	}
	for _, m := range v.members {
		if n.names != nil && !c.valid(n.names, newString(m.Key)) {
			return fmt.Sprintf("%shas the member %q, and the schema allows no such name", place(at), shorten(m.Key))
		}
		of, declared := n.property(m.Key)
		if of == nil {
			continue
		}
		if of.never && !declared {
			return fmt.Sprintf("%shas the member %q, which the schema does not have", place(at), shorten(m.Key))
		}
		if why := c.check(of, m.Value, pointer(at, m.Key)); why != "" {
			return why
		}
	}
	for _, x := range n.checks {
		if why := x.Fault(v); why != "" {
			return place(at) + why
		}
	}
	return ""
}

// property returns the schema of a member, nil if any value is allowed, and whether the schema names it.
func (n *node) property(name string) (of *node, declared bool) {
	for _, p := range n.properties {
		if p.name == name {
			return p.of, true
		}
	}
	return n.additional, false
}

// applied checks the schemas that a schema applies to the same value.
func (c *checker) applied(n *node, v *Value, at string) string {
	if n.target != nil {
		if why := c.check(n.target, v, at); why != "" {
			return why
		}
	}
	for _, of := range n.all {
		if why := c.check(of, v, at); why != "" {
			return why
		}
	}
	if n.not != nil && c.valid(n.not, v) {
		return place(at) + "is what the schema excludes with not"
	}
	if n.any != nil && c.branch(n.any, v) < 0 {
		return fmt.Sprintf("%sfits none of the %d alternatives", place(at), len(n.any))
	}
	if n.one != nil {
		fits := 0
		for _, of := range n.one {
			if c.valid(of, v) {
				fits++
			}
		}
		if fits != 1 {
			return fmt.Sprintf("%sfits %d of the %d alternatives, and must fit one", place(at), fits, len(n.one))
		}
	}
	return ""
}

// branch returns the first schema that a value follows, -1 if there is none.
func (c *checker) branch(of []*node, v *Value) int {
	for i, n := range of {
		if c.valid(n, v) {
			return i
		}
	}
	return -1
}
