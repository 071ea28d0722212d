package structured

import (
	"fmt"
	"math/big"
	"slices"
)

// Tool is something that can be called.
type Tool struct {
	Name       string
	Parameters *Schema // of the arguments, which are an object
}

// Tools are what may be called in one question.
type Tools []Tool

// Call reads a call: {"name": …, "arguments": {…}}, without arguments where there are none, or with a string
// that holds them. It returns the call in canonical form: defaults of the schema are filled in, and the items
// of sets are sorted. It returns an error if there is no such tool, or if the arguments do not follow its
// schema.
func (t Tools) Call(v *Value) (*Value, error) {
	if v == nil || v.kind != Object {
		return nil, fmt.Errorf(`structured: a call is an object: {"name": …, "arguments": {…}}`)
	}
	name, arguments := v.Member("name"), v.Member("arguments")
	for _, m := range v.members {
		if m.Key != "name" && m.Key != "arguments" {
			return nil, fmt.Errorf("structured: a call has name and arguments, and no %q", shorten(m.Key))
		}
	}
	if name == nil || name.kind != String {
		return nil, fmt.Errorf("structured: the call names no tool")
	}
	tool := t.find(name.text)
	if tool == nil {
		return nil, fmt.Errorf("structured: there is no tool %q", shorten(name.text))
	}
	switch {
	case arguments == nil:
		arguments, _ = newObject(nil)
	case arguments.kind == String: // as OpenAI's API writes them
		inner, err := Parse([]byte(arguments.text))
		if err != nil {
			return nil, err
		}
		arguments = inner
	}
	if err := tool.Parameters.Validate(arguments); err != nil {
		return nil, fmt.Errorf("structured: arguments of %s: %w", tool.Name, err)
	}
	filled := tool.Parameters.Canonical(arguments, true)
	if err := tool.Parameters.Validate(filled); err != nil { // a default that does not follow its own schema
		filled = tool.Parameters.Canonical(arguments, false)
	}
	return NewCall(tool.Name, filled), nil
}

// NewCall returns a call of a tool. It is not checked.
func NewCall(name string, arguments *Value) *Value {
	v, _ := newObject([]Member{{"name", newString(name)}, {"arguments", arguments}}) // no key is repeated
	return v
}

func (t Tools) find(name string) *Tool {
	i := slices.IndexFunc(t, func(x Tool) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &t[i]
}

// Canonical returns the form of a value in which equal values are equal texts: the items of arrays with
// uniqueItems or x-merge: set are sorted, and so are records with x-key, by it. With fill, absent members that have a
// default get it. The value must follow the schema.
func (s *Schema) Canonical(v *Value, fill bool) *Value {
	c := canonicalizer{checker{map[visited]string{}}, fill}
	return c.value([]*node{s.root}, v)
}

type canonicalizer struct {
	checker
	fill bool
}

func (c *canonicalizer) value(nodes []*node, v *Value) *Value {
	nodes = c.applied(nodes, v)
	switch v.kind {
	case Array:
		return c.array(nodes, v)
	case Object:
		return c.object(nodes, v)
	}
	return v
}

// applied adds the schemas that apply to a value, of alternatives the first that it follows.
func (c *canonicalizer) applied(nodes []*node, v *Value) []*node {
	nodes = expand(nil, nodes...)
	for i := 0; i < len(nodes); i++ {
		for _, of := range [][]*node{nodes[i].any, nodes[i].one} {
			if k := c.branch(of, v); k >= 0 {
				nodes = expand(nodes, of[k])
			}
		}
	}
	return nodes
}

func (c *canonicalizer) array(nodes []*node, v *Value) *Value {
	items := make([]*Value, len(v.items))
	for i, x := range v.items {
		var of []*node
		for _, n := range nodes {
			if at := n.itemAt(i); at != nil {
				of = append(of, at)
			}
		}
		items[i] = c.value(of, x)
	}
	switch planOf(nodes, Array) {
	case AsSet:
		slices.SortFunc(items, compareTexts)
		items = slices.CompactFunc(items, func(a, b *Value) bool { return a.canon == b.canon })
	case byRecord:
		key := keyOf(nodes)
		slices.SortFunc(items, func(a, b *Value) int { return compareTexts(a.Member(key), b.Member(key)) })
	}
	return newArray(items)
}

func compareTexts(a, b *Value) int {
	switch {
	case a.canon < b.canon:
		return -1
	case a.canon > b.canon:
		return 1
	}
	return 0
}

func (c *canonicalizer) object(nodes []*node, v *Value) *Value {
	var members []Member
	for _, m := range v.members {
		members = append(members, Member{m.Key, c.value(schemasOf(nodes, m.Key), m.Value)})
	}
	for _, n := range nodes {
		for _, p := range n.properties {
			has := slices.ContainsFunc(members, func(m Member) bool { return m.Key == p.name })
			if d := defaultOf(p.of); c.fill && !has && d != nil {
				members = append(members, Member{p.name, d})
			}
		}
	}
	out, err := newObject(members)
	if err != nil {
		return v // cannot happen: no name is added twice
	}
	return out
}

// defaultOf returns the default of a schema; nil if it has none.
func defaultOf(n *node) *Value {
	for _, x := range expand(nil, n) {
		if x.values != nil {
			return x.values
		}
	}
	return nil
}

// Join returns, for each of some canonical calls (or nil), the call that stands for it and all that equal it
// within the tolerances of the schemas. Two calls are one if they differ in nothing but numbers with
// x-tolerance, and in each of these by at most the tolerance, or if a chain of such calls connects them; so
// being one is transitive, and does not depend on the order of the calls. The call that stands for several
// has the lower median of each such number. A group whose medians do not follow the schema is not joined.
func (t Tools) Join(calls []*Value) []*Value {
	group := make([]int, len(calls)) // the least index of its group
	near := make([]numeric, len(calls))
	for i, v := range calls {
		if group[i] = i; v != nil {
			near[i] = t.numeric(v)
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range calls {
			for k := range i {
				if calls[i] == nil || calls[k] == nil || group[i] == group[k] || !near[i].close(near[k]) {
					continue
				}
				a, b := min(group[i], group[k]), max(group[i], group[k])
				for x := range group {
					if group[x] == b {
						group[x] = a
					}
				}
				changed = true
			}
		}
	}
	out := make([]*Value, len(calls))
	for i := range calls {
		if calls[i] != nil && group[i] == i {
			t.represent(calls, near, group, i, out)
		}
	}
	return out
}

// represent sets the call that stands for a group.
func (t Tools) represent(calls []*Value, near []numeric, group []int, first int, out []*Value) {
	var members []int
	for i, g := range group {
		if g == first && calls[i] != nil {
			members = append(members, i)
			out[i] = calls[i]
		}
	}
	medians := map[string]*Value{}
	for at := range near[first].numbers {
		var all []*Value
		for _, i := range members {
			all = append(all, near[i].numbers[at])
		}
		slices.SortFunc(all, func(a, b *Value) int { return a.number.Cmp(b.number) })
		medians[at] = all[(len(all)-1)/2]
	}
	if len(medians) == 0 {
		return
	}
	joined := replaced(calls[first], "", medians)
	if _, err := t.Call(joined); err != nil {
		return
	}
	for _, i := range members {
		out[i] = joined
	}
}

// numeric is a call with its numbers that have a tolerance taken out.
type numeric struct {
	rest    string // the canonical text with null for these numbers
	numbers map[string]*Value
	within  map[string]*big.Rat
}

func (a numeric) close(b numeric) bool {
	if a.rest != b.rest || len(a.numbers) != len(b.numbers) {
		return false
	}
	for at, x := range a.numbers {
		y, ok := b.numbers[at]
		if !ok {
			return false
		}
		d := new(big.Rat).Sub(x.number, y.number)
		if d.Abs(d).Cmp(a.within[at]) > 0 {
			return false
		}
	}
	return true
}

func (t Tools) numeric(call *Value) numeric {
	out := numeric{rest: call.canon, numbers: map[string]*Value{}, within: map[string]*big.Rat{}}
	tool := t.find(call.Member("name").Text())
	if tool == nil {
		return out
	}
	c := canonicalizer{checker: checker{map[visited]string{}}}
	c.tolerant([]*node{tool.Parameters.root}, call.Member("arguments"), "/arguments", &out)
	if len(out.numbers) > 0 {
		absent := map[string]*Value{}
		for at := range out.numbers {
			absent[at] = &Value{kind: Null, canon: "null"}
		}
		out.rest = replaced(call, "", absent).canon
	}
	return out
}

// tolerant collects the numbers with a tolerance. It does not look into sets, whose items have no place.
func (c *canonicalizer) tolerant(nodes []*node, v *Value, at string, out *numeric) {
	nodes = c.applied(nodes, v)
	switch {
	case v.kind == Number:
		for _, n := range nodes {
			if n.tolerance != nil {
				out.numbers[at], out.within[at] = v, n.tolerance
			}
		}
	case v.kind == Object:
		for _, m := range v.members {
			c.tolerant(schemasOf(nodes, m.Key), m.Value, pointer(at, m.Key), out)
		}
	case v.kind == Array && planOf(nodes, Array) != AsSet:
		for i, x := range v.items {
			for _, n := range nodes {
				if of := n.itemAt(i); of != nil {
					c.tolerant([]*node{of}, x, pointer(at, fmt.Sprint(i)), out)
				}
			}
		}
	}
}

// replaced returns a value with other values at some pointers.
func replaced(v *Value, at string, with map[string]*Value) *Value {
	if x, ok := with[at]; ok {
		return x
	}
	switch v.kind {
	case Array:
		items := make([]*Value, len(v.items))
		for i, x := range v.items {
			items[i] = replaced(x, pointer(at, fmt.Sprint(i)), with)
		}
		return newArray(items)
	case Object:
		members := make([]Member, len(v.members))
		for i, m := range v.members {
			members[i] = Member{m.Key, replaced(m.Value, pointer(at, m.Key), with)}
		}
		if out, err := newObject(members); err == nil {
			return out
		}
	}
	return v
}
