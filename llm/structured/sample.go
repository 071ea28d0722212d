package structured

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
)

// Sample draws a value that follows the schema. It returns false if it finds none, for example because a
// pattern must match.
func (s *Schema) Sample(r *rand.Rand) (*Value, bool) {
	for range 24 {
		d := drawer{rand: r, left: 256}
		if v := d.draw([]*node{s.root}, 0); v != nil && s.Validate(v) == nil {
			return v, true
		}
	}
	return nil, false
}

// Vary draws a value that follows the schema and differs from v in one part, or in all of them if no part
// can differ. It returns false if it finds none.
func (s *Schema) Vary(v *Value, r *rand.Rand) (*Value, bool) {
	for range 24 {
		d := drawer{rand: r, left: 256, checker: checker{map[visited]string{}}}
		if w := d.vary([]*node{s.root}, v); w != nil && w.canon != v.canon && s.Validate(w) == nil {
			return w, true
		}
	}
	for range 8 {
		if w, ok := s.Sample(r); ok && w.canon != v.canon {
			return w, true
		}
	}
	return nil, false
}

// drawer draws values.
type drawer struct {
	checker
	rand *rand.Rand
	left int // values that may still be drawn
}

// draw draws a value for some schemas; nil if it finds none.
func (d *drawer) draw(nodes []*node, depth int) *Value {
	if d.left--; d.left < 0 || depth > MaxDepth {
		return nil
	}
	nodes = expand(nil, nodes...)
	for i := 0; i < len(nodes); i++ {
		for _, of := range [][]*node{nodes[i].any, nodes[i].one} {
			if len(of) > 0 {
				nodes = expand(nodes, of[d.rand.IntN(len(of))])
			}
		}
	}
	for _, n := range nodes {
		if len(n.enums) > 0 {
			return n.enums[d.rand.IntN(len(n.enums))]
		}
	}
	switch d.kind(nodes) {
	case Null:
		return &Value{kind: Null, canon: "null"}
	case Boolean:
		return newBool(d.rand.IntN(2) == 0)
	case Number:
		return d.number(nodes)
	case Array:
		return d.array(nodes, depth)
	case Object:
		return d.object(nodes, depth)
	}
	return d.text(nodes)
}

// kind draws a kind that all schemas allow, String if they allow any.
func (d *drawer) kind(nodes []*node) Kind {
	var allowed []Kind
	for k := range kinds {
		fits, typed := true, false
		for _, n := range nodes {
			fits = fits && (!n.typed || n.kinds[k])
			typed = typed || n.typed
		}
		if fits && typed {
			allowed = append(allowed, k)
		}
	}
	if len(allowed) > 0 {
		return allowed[d.rand.IntN(len(allowed))]
	}
	for _, n := range nodes {
		if n.properties != nil || n.required != nil {
			return Object
		}
	}
	return String
}

// number draws a number within the bounds, or from 0 to 100.
func (d *drawer) number(nodes []*node) *Value {
	low, high, whole := new(big.Rat), big.NewRat(100, 1), false
	var bounded, capped bool
	step := big.NewRat(1, 2)
	for _, n := range nodes {
		for _, b := range []*big.Rat{n.low, n.above} {
			if b != nil && (!bounded || b.Cmp(low) > 0) {
				low, bounded = b, true
			}
		}
		for _, b := range []*big.Rat{n.high, n.below} {
			if b != nil && (!capped || b.Cmp(high) < 0) {
				high, capped = b, true
			}
		}
		whole = whole || n.whole && n.typed
		if n.multiple != nil {
			step = n.multiple
		}
	}
	switch {
	case bounded && !capped:
		high = new(big.Rat).Add(low, big.NewRat(100, 1))
	case capped && !bounded:
		low = new(big.Rat).Sub(high, big.NewRat(100, 1))
	}
	if whole && !step.IsInt() {
		step = big.NewRat(1, 1)
	}
	x := new(big.Rat).Sub(high, low)
	x.Mul(x, big.NewRat(int64(d.rand.IntN(1001)), 1000))
	x.Add(x, low).Quo(x, step)
	return decimal(x.Mul(round(x, 0), step))
}

func (d *drawer) text(nodes []*node) *Value {
	least, most := 0, -1
	for _, n := range nodes {
		least = max(least, n.runes.least)
		if m := n.runes.most; m >= 0 && (most < 0 || m < most) {
			most = m
		}
	}
	s := fmt.Sprintf("value %d", 1+d.rand.IntN(9))
	if most >= 0 && len(s) > most {
		s = s[len(s)-most:]
	}
	if short := least - len(s); short > 0 && short < MaxBytes {
		s += strings.Repeat("x", short)
	}
	return newString(s)
}

func (d *drawer) array(nodes []*node, depth int) *Value {
	least, most := 0, 3
	for _, n := range nodes {
		least = max(least, n.length.least, len(n.prefix))
		if n.length.most >= 0 {
			most = min(most, n.length.most)
		}
	}
	var items []*Value
	for i := range least + d.rand.IntN(max(most-least, 0)+1) {
		var of []*node
		for _, n := range nodes {
			if at := n.itemAt(i); at != nil {
				of = append(of, at)
			}
		}
		v := d.draw(of, depth+1)
		if v == nil {
			return nil
		}
		items = append(items, v)
	}
	return newArray(items)
}

func (d *drawer) object(nodes []*node, depth int) *Value {
	var members []Member
	have := map[string]bool{}
	add := func(name string) bool {
		if have[name] {
			return true
		}
		v := d.draw(schemasOf(nodes, name), depth+1)
		if v != nil {
			have[name], members = true, append(members, Member{name, v})
		}
		return v != nil
	}
	for _, n := range nodes {
		for _, name := range n.required {
			if !add(name) {
				return nil
			}
		}
	}
	for _, n := range nodes {
		for _, p := range n.properties {
			if d.rand.IntN(2) == 0 {
				add(p.name)
			}
		}
	}
	v, err := newObject(members)
	if err != nil {
		return nil
	}
	return v
}

// vary returns a value with one part drawn again.
func (d *drawer) vary(nodes []*node, v *Value) *Value {
	c := canonicalizer{checker: d.checker}
	nodes = c.applied(nodes, v)
	switch n := len(v.members); {
	case v.kind == Object && n > 0 && d.rand.IntN(8) > 0:
		members := make([]Member, n)
		copy(members, v.members)
		m := &members[d.rand.IntN(n)]
		if m.Value = d.vary(schemasOf(nodes, m.Key), m.Value); m.Value == nil {
			return nil
		}
		out, _ := newObject(members)
		return out
	}
	return d.draw(nodes, 0)
}
