package structured

import (
	"cmp"
	"fmt"
	"slices"
)

// parts reads the keywords that say which parts belong together.
func (c *compiler) parts(n *node, m Member, _ int) (bool, error) {
	switch m.Key {
	case "x-together":
		return true, n.groups(m.Value)
	case "x-key":
		if n.key = m.Value.Text(); m.Value.kind != String || n.key == "" {
			return true, wrong(n.at, "x-key must be the name of a member, such as \"id\"")
		}
		return true, nil
	case "x-check":
		all := []*Value{m.Value}
		if m.Value.kind == Array {
			all = m.Value.items
		}
		for _, v := range all {
			if v.kind != String {
				return true, wrong(n.at, "x-check must be an expression in CEL, or a list of them")
			}
			n.conditions = append(n.conditions, v.text)
		}
		return true, nil
	}
	return false, nil
}

// groups reads x-together.
func (n *node) groups(v *Value) error {
	if n.asOne = v.kind == Boolean && v.text == "true"; n.asOne {
		return nil
	}
	fault := wrong(n.at, "x-together must be true, or a list of lists of two names or more, such as "+
		`[["net", "vat"]]`)
	if v.kind != Array {
		return fault
	}
	for _, group := range v.items {
		if group.kind != Array || len(group.items) < 2 {
			return fault
		}
		var names []string
		for _, name := range group.items {
			if name.kind != String {
				return fault
			}
			names = append(names, name.text)
		}
		n.together = append(n.together, names)
	}
	return nil
}

// checkParts reports keywords about parts that contradict the rest of the schema, and compiles x-check.
func (c *compiler) checkParts(n *node) error {
	known := map[string]bool{}
	for _, name := range slices.Concat(n.together...) {
		if _, declared := n.property(name); !declared {
			return wrong(n.at, "x-together names %q, which is not among the properties", shorten(name))
		}
		if known[name] {
			return wrong(n.at, "x-together names %q twice", shorten(name))
		}
		known[name] = true
	}
	switch {
	case n.key != "" && !(n.typed && n.kinds[Array]):
		return wrong(n.at, "x-key stands where the type is not array")
	case n.key != "" && n.combine != "":
		return wrong(n.at, "x-key and x-merge both say how the array is merged; leave one out")
	case len(n.conditions) > 0 && !(n.typed && n.kinds[Object]) && n.properties == nil:
		return wrong(n.at, "x-check stands where the type is not object")
	}
	var members []string
	for _, p := range n.properties {
		members = append(members, p.name)
	}
	for _, text := range n.conditions {
		x, err := c.conditions.compile(text, members)
		if err != nil {
			return wrong(n.at, "x-check %q: %v", shorten(text), err)
		}
		n.checks = append(n.checks, x)
	}
	return nil
}

// Condition is one condition of x-check.
type Condition interface {
	// Fault says why an object does not meet the condition; "" if it does.
	Fault(object *Value) string
}

// Conditions compiles an expression over an object whose schema names some members.
type Conditions func(text string, members []string) (Condition, error)

func (c Conditions) compile(text string, members []string) (Condition, error) {
	if c == nil {
		return unknown{}, nil
	}
	return c(text, members)
}

// unknown is a condition that nothing here can evaluate.
type unknown struct{}

func (unknown) Fault(*Value) string { return "has an x-check, which is not evaluated here" }

// unkeyed says why the items of an array are not records that differ in a member; "" if they are.
func unkeyed(key string, v *Value) string {
	seen := map[string]bool{}
	for i, x := range v.items {
		id := x.Member(key)
		switch {
		case x.kind != Object || id == nil:
			return fmt.Sprintf("has the item %d without the member %q, by which records are told apart", i,
				shorten(key))
		case seen[id.canon]:
			return fmt.Sprintf("has two records whose %q is %s", shorten(key), shorten(id.canon))
		}
		seen[id.canon] = true
	}
	return ""
}

// keyOf returns the x-key that applies to an array; "": none.
func keyOf(nodes []*node) (key string) {
	for _, n := range nodes {
		key = cmp.Or(key, n.key)
	}
	return key
}

// records merges arrays record by record. Whether a record is present is decided like the presence of a member; records
// that are present are merged among the seats that have them, and sorted by key.
func (m *merger) records(nodes []*node, key string, in []Given, path string, outer Withstands) (*Value, string) {
	of := map[string][]Given{} // by the canonical text of the key
	var keys []string
	for _, g := range in {
		for _, x := range g.Value.items {
			id := x.Member(key).canon
			if of[id] == nil {
				keys = append(keys, id)
			}
			of[id] = append(of[id], Given{g.Seat, x, g.Weight})
		}
	}
	slices.Sort(keys)
	var items []*Value
	outer = outer.and(m.rule.nothingElse(in))
	for _, id := range keys {
		yes := of[id]
		_, no := split(in, func(g Given) bool {
			return slices.ContainsFunc(yes, func(y Given) bool { return y.Seat == g.Seat })
		})
		present, _, w := m.rule.include(yes, no)
		if outer = outer.and(w); !present {
			continue
		}
		v, why := m.merge(itemsOf(nodes), yes, pointer(path, fmt.Sprint(len(items))), outer)
		if v == nil {
			return nil, why
		}
		items = append(items, v)
	}
	v := newArray(items)
	if len(items) == 0 {
		m.decided(Field{Path: path, Support: m.rule.Count(in), How: "length", Value: v}, outer)
	}
	m.least = m.least.and(outer)
	return v, ""
}

// itemsOf returns the schemas of the items of arrays that have no prefixItems.
func itemsOf(nodes []*node) (of []*node) {
	for _, n := range nodes {
		if n.items != nil {
			of = append(of, n.items)
		}
	}
	return of
}

// groupOf returns the members that are one part with a member, itself included; nil if there is none.
func groupOf(nodes []*node, name string) []string {
	for _, n := range nodes {
		for _, group := range n.together {
			if slices.Contains(group, name) {
				return group
			}
		}
	}
	return nil
}

// group decides on members that belong together, by vote on all of them at once. A seat without any of them votes for
// none. It returns the reason if nothing is decided.
func (m *merger) group(names []string, in []Given, path string, outer Withstands) (members []Member, why string) {
	cut := make([]Given, len(in))
	for i, g := range in {
		v, err := newObject(g.Value.only(names))
		if err != nil {
			return nil, err.Error()
		}
		cut[i] = Given{g.Seat, v, g.Weight}
	}
	all := options(cut, func(g Given) string { return g.Value.canon })
	best, w, why := m.rule.elect(all)
	if w = w.and(outer); why != "" {
		for _, name := range names {
			m.fields = append(m.fields, Field{Path: pointer(path, name), How: asTogether,
				Support: m.rule.Count(all[0].votes),
				Reason:  why})
		}
		return nil, named(pointer(path, names[0])) + " and what belongs to it: " + why
	}
	for _, name := range names {
		f := Field{Path: pointer(path, name), Support: m.rule.Count(best.votes), How: asTogether,
			Value: best.value.Member(name)}
		f.Absent = f.Value == nil
		m.decided(f, w)
	}
	return best.value.members, ""
}

// only returns the members of an object with some names.
func (v *Value) only(names []string) (some []Member) {
	for _, m := range v.members {
		if slices.Contains(names, m.Key) {
			some = append(some, m)
		}
	}
	return some
}
