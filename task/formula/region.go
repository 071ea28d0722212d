package formula

import (
	"slices"
	"strings"
)

// plain makes one region of inequalities side by side: x < 2 or x > 3.
func plain(n *node) *node {
	if n.op == opList && len(n.args) > 1 {
		all := make([]*node, len(n.args))
		for i, a := range n.args {
			r, ok := region(a)
			if !ok {
				return n
			}
			all[i] = r
		}
		return &node{op: opUnion, args: all}
	}
	return n
}

// region is the interval that an inequality for one variable describes; of x ≠ a
// it is what is left of the line.
func region(n *node) (*node, bool) {
	if n.op != opRel {
		return nil, false
	}
	if len(n.rels) == 1 && n.rels[0] == "!=" && variable(n.args[0]) && !free(n.args[1]) {
		return &node{op: opLess, args: []*node{reals(), {op: opSet, args: n.args[1:]}}}, true
	}
	args, rels := rising(n)
	if args == nil {
		return nil, false
	}
	i := reals()
	switch {
	case len(args) == 3 && variable(args[1]):
		i.args[0], i.args[1] = args[0], args[2]
		if rels[0] == "<=" {
			i.open = '['
		}
		if rels[1] == "<=" {
			i.shut = ']'
		}
	case len(args) == 2 && variable(args[0]) && !free(args[1]):
		if i.args[1] = args[1]; rels[0] == "<=" {
			i.shut = ']'
		}
	case len(args) == 2 && variable(args[1]) && !free(args[0]):
		if i.args[0] = args[0]; rels[0] == "<=" {
			i.open = '['
		}
	default:
		return nil, false
	}
	return i, true
}

// rising is an inequality written with < and ≤ only; nil for anything else.
func rising(n *node) ([]*node, []string) {
	args, rels := n.args, n.rels
	if rels[0] == ">" || rels[0] == ">=" { // turn it round
		args, rels = slices.Clone(args), slices.Clone(rels)
		slices.Reverse(args)
		slices.Reverse(rels)
		for i, r := range rels {
			rels[i] = strings.Replace(r, ">", "<", 1)
		}
	}
	for _, r := range rels {
		if r != "<" && r != "<=" {
			return nil, nil
		}
	}
	return args, rels
}

func variable(n *node) bool { return n.op == opName && !constants[n.name] }

func free(n *node) bool {
	names := map[string]bool{}
	n.variables(names)
	return len(names) > 0
}
