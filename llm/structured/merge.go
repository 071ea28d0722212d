package structured

import (
	"cmp"
	"fmt"
	"slices"

	"synod.dev/synod/internal/order"
)

// Field is one part of a merged value.
type Field struct {
	Path       string      `json:"path"`       // a JSON pointer into the merged value
	Support    int         `json:"support"`    // voices that gave the value, or whose numbers were combined
	Withstands *Withstands `json:"withstands"` // null if the part is undecided, or chosen by grades
	// How is how the part was decided: whole, together, vote, prose, median, trimmed-mean, set, length, presence or
	// kind.
	How     string `json:"how"`
	Seat    int    `json:"-"`                // with prose, whose text it is
	Author  string `json:"author,omitempty"` // the name of Seat, which this package does not know
	Decided bool   `json:"decided"`
	Absent  bool   `json:"absent,omitempty"` // decided to be left out
	Value   *Value `json:"value,omitempty"`
	Reason  string `json:"reason,omitempty"` // why the part is undecided
}

// Merged is the result of a merge.
type Merged struct {
	Value      *Value     // nil: there is no decision
	Fields     []Field    // in the order of the schema, undecided ones included
	Withstands Withstands // of all decisions together; zero where there is no decision, and with Graded
	Graded     bool       // a part was chosen by grades, so it is not known what the value withstands
	Composed   bool       // no seat gave the value: it is made of parts that several gave
	Reason     string     // why there is no decision
}

// Whole reports whether the value was decided on as a whole, and not part by part.
func (m *Merged) Whole() bool { return len(m.Fields) == 1 && m.Fields[0].How == asWhole }

// Merge makes one value of the values of several seats. Every value must follow the schema, and a seat must not occur
// twice. An object or an array that more than F seats gave, as many as Rule.Need asks for, and more than any other
// value, is the result. Else it is made part by part:
//
//   - A string, an integer, a boolean, null and a value with enum, const or x-merge: vote is the one with the largest
//     weight, if more than F seats and at least as many as Rule.Need asks for gave it.
//   - A string with x-merge: prose is the text of the first seat of Rule.Best that gave one.
//   - A number is the lower median or the trimmed mean (x-merge) of the numbers without the F lowest and the
//     F highest. More than 2F numbers are needed; then it lies between two honest numbers if at most F
//     seats are Byzantine.
//   - An object is merged member by member. Seats vote on whether a member that is not required is present.
//   - An array is merged item by item, and seats vote on whether there is a next item; with uniqueItems or
//     x-merge: set, seats vote on each different item, and the items are sorted.
//   - Members of an object that x-together lists are one part, by vote. An object with x-together: true is one part.
//   - An array with x-key is merged record by record: records with the same value of that member are one.
//   - Of several types or alternatives (anyOf, oneOf), seats vote on which of them applies; each value counts
//     for the first one that it follows. Then the values of that one are merged.
//
// A part without such a decision is undecided. It is left out if it is optional; otherwise what contains it
// is undecided. The merged value follows the schema, with every x-check: if it does not, there is no decision. Nor is
// there one if at least one seat, but no more than F, gave just this combination of parts (numbers that are combined
// apart): these seats may be Byzantine, and no honest one may have meant it. The result does not depend on the order of
// the values.
func (s *Schema) Merge(in []Given, r Rule) Merged {
	in = slices.Clone(in)
	order.Sort(in, func(a, b Given) int { return cmp.Compare(a.Seat, b.Seat) })
	m := &merger{rule: r, checker: checker{map[visited]string{}}, least: certain}
	out := Merged{}
	out.Value, out.Reason = m.decide(s.root, in)
	out.Fields = m.fields
	if out.Value != nil {
		if why := m.check(s.root, out.Value, ""); why != "" {
			out.Value, out.Reason = nil, "the merged value does not follow the schema: "+why
		}
	}
	if out.Value != nil {
		out.Withstands, out.Graded = m.least, m.graded
		out.Composed = !slices.ContainsFunc(in, func(g Given) bool { return g.Value.canon == out.Value.canon })
	}
	return out
}

// decide merges whole values, or their parts.
func (m *merger) decide(root *node, in []Given) (*Value, string) {
	if m.rule.Parts {
		return m.merge([]*node{root}, in, "", certain)
	}
	best, w, others := m.whole(in)
	v, why := m.merge([]*node{root}, in, "", certain)
	if best != nil {
		return m.elected(best, w, others, v), ""
	}
	if v == nil {
		return nil, why
	}
	why, alone := m.compose(v, in)
	if why != "" {
		return nil, why
	}
	if m.least = m.least.and(alone); v.kind == Object || v.kind == Array {
		m.least = m.least.and(w)
	}
	return v, ""
}

// merger is one merge.
type merger struct {
	checker
	rule   Rule
	fields []Field
	least  Withstands // of all decisions so far
	graded bool       // a part was chosen by grades
}

// merge merges the values at a path under all schemas that apply there. It returns nil and the reason if the
// part is undecided. outer is what the decisions withstand that led to the part.
func (m *merger) merge(nodes []*node, in []Given, path string, outer Withstands) (*Value, string) {
	enough := spare(len(in), m.rule.least)
	if enough.Changed < 0 {
		whole := options(in, func(Given) string { return "" })
		return m.open(path, "presence", whole, fmt.Sprintf("%d seats gave it, and %d are needed", len(in),
			m.rule.least(0)))
	}
	outer = outer.and(enough)
	nodes, in, outer, why := m.alternatives(nodes, in, path, outer)
	if why != "" {
		return nil, why
	}
	kinds := options(in, func(g Given) string { return g.Value.kind.String() })
	best, w, why := m.rule.elect(kinds)
	if why != "" {
		return m.open(path, "kind", kinds, why)
	}
	in, outer = best.votes, outer.and(w)
	switch p := planOf(nodes, in[0].Value.kind); p {
	case ByMedian, ByMean:
		return m.number(nodes, p, in, path, outer)
	case AsSet:
		return m.set(in, path, outer)
	case ByPosition:
		return m.list(nodes, in, path, outer)
	case ByProse:
		return m.prose(in, path)
	case byRecord:
		return m.records(nodes, keyOf(nodes), in, path, outer)
	case byMember:
		return m.object(nodes, in, path, outer)
	}
	return m.vote(in, path, outer)
}

// How objects are merged, and arrays with x-key.
const (
	byMember Combine = "members"
	byRecord Combine = "records"
)

// planOf returns how values of a kind are merged under some schemas.
func planOf(nodes []*node, kind Kind) Combine {
	var wish Combine
	var counted, whole, unique, keyed, parts bool
	for _, n := range nodes {
		switch {
		case n.enum != nil || n.combine == ByVote || n.asOne:
			return ByVote
		case n.combine == ByProse && kind == String:
			return ByProse
		}
		wish = cmp.Or(wish, n.combine)
		counted = counted || n.typed && n.kinds[Number]
		whole = whole || n.typed && n.whole
		unique = unique || n.unique
		keyed = keyed || n.key != ""
		parts = parts || kind == Array && (n.items != nil || n.prefix != nil) ||
			kind == Object && (n.properties != nil || n.additional != nil)
	}
	switch {
	case kind == Number && counted && wish == ByMean:
		return ByMean
	case kind == Number && counted && (wish == ByMedian || !whole):
		return ByMedian
	case kind == Array && keyed:
		return byRecord
	case kind == Array && (wish == AsSet || unique && wish != ByPosition):
		return AsSet
	case kind == Array && (parts || wish == ByPosition):
		return ByPosition
	case kind == Object && parts:
		return byMember
	}
	return ByVote
}

// alternatives adds the schemas that $ref and allOf apply, and those of the alternatives of anyOf and oneOf
// that win. It keeps the values that follow them.
func (m *merger) alternatives(nodes []*node, in []Given, path string, outer Withstands) ([]*node, []Given,
	Withstands, string) {
	nodes = expand(nil, nodes...)
	for i := 0; i < len(nodes); i++ {
		for _, of := range [][]*node{nodes[i].any, nodes[i].one} {
			if of == nil {
				continue
			}
			all := options(in, func(g Given) string { return fmt.Sprintf("%04d", m.branch(of, g.Value)) })
			best, w, why := m.rule.elect(all)
			if why != "" {
				_, why = m.open(path, "kind", all, why)
				return nil, nil, outer, why
			}
			in, outer = best.votes, outer.and(w)
			nodes = expand(nodes, of[m.branch(of, best.value)])
		}
	}
	return nodes, in, outer, ""
}

// expand adds schemas, and those that they apply to the same value in any case.
func expand(nodes []*node, more ...*node) []*node {
	for _, n := range more {
		if slices.Contains(nodes, n) {
			continue
		}
		nodes = append(nodes, n)
		if n.target != nil {
			nodes = expand(nodes, n.target)
		}
		nodes = expand(nodes, n.all...)
	}
	return nodes
}

// decided records a part with a decision.
func (m *merger) decided(f Field, w Withstands) {
	f.Decided, f.Withstands = true, &w
	m.fields = append(m.fields, f)
	m.least = m.least.and(w)
}

// open records a part without a decision, and returns the reason.
func (m *merger) open(path, how string, all []option, why string) (*Value, string) {
	support := 0
	if len(all) > 0 {
		support = m.rule.Count(all[0].votes)
	}
	m.fields = append(m.fields, Field{Path: path, How: how, Support: support, Reason: why})
	return nil, named(path) + ": " + why
}

// named names a part for people.
func named(path string) string {
	if path == "" {
		return "the value"
	}
	return shorten(path)
}

// vote decides on whole values.
func (m *merger) vote(in []Given, path string, outer Withstands) (*Value, string) {
	all := options(in, func(g Given) string { return g.Value.canon })
	best, w, why := m.rule.elect(all)
	if why != "" {
		return m.open(path, "vote", all, why)
	}
	m.decided(Field{Path: path, Support: m.rule.Count(best.votes), How: "vote", Value: best.value}, outer.and(w))
	return best.value, ""
}

// prose takes the text of the seat whose answer has the best grades. Texts are never blended.
func (m *merger) prose(in []Given, path string) (*Value, string) {
	for _, seat := range m.rule.Best {
		at := slices.IndexFunc(in, func(g Given) bool { return g.Seat == seat })
		if at < 0 {
			continue
		}
		m.fields = append(m.fields, Field{Path: path, Support: m.rule.Count(in), How: string(ByProse), Seat: seat,
			Decided: true, Value: in[at].Value})
		m.least, m.graded = Withstands{}, true
		return in[at].Value, ""
	}
	return m.open(path, string(ByProse), options(in, func(Given) string { return "" }),
		"no answer with this text has the grades that are needed")
}

// object merges objects member by member.
func (m *merger) object(nodes []*node, in []Given, path string, outer Withstands) (*Value, string) {
	var members []Member
	failed, done := "", map[string]bool{}
	for _, name := range names(nodes, in) {
		var some []Member
		var why string
		if group := groupOf(nodes, name); group == nil {
			some, why = m.member(nodes, name, in, path, outer)
		} else if !done[group[0]] {
			done[group[0]] = true
			some, why = m.together(nodes, group, in, path, outer)
		}
		members = append(members, some...)
		failed = cmp.Or(failed, why)
	}
	if failed != "" {
		return nil, failed
	}
	v, err := newObject(members)
	if err != nil {
		return nil, err.Error()
	}
	outer = outer.and(m.rule.nothingElse(in))
	if len(members) == 0 {
		m.decided(Field{Path: path, Support: m.rule.Count(in), How: "presence", Value: v}, outer)
	}
	m.least = m.least.and(outer)
	return v, ""
}

// together merges members of objects that are one part. why is not "" if the objects are undecided without them.
func (m *merger) together(nodes []*node, group []string, in []Given, path string, outer Withstands) (some []Member,
	why string) {
	some, why = m.group(group, in, path, outer)
	if why != "" && !requiresAny(nodes, group) {
		m.least = Withstands{}
		return some, ""
	}
	return some, why
}

// member merges a member of objects, if there is to be one. why is not "" if the objects are undecided without it.
func (m *merger) member(nodes []*node, name string, in []Given, path string, outer Withstands) (one []Member,
	why string) {
	yes, no := split(in, func(g Given) bool { return g.Value.Member(name) != nil })
	if len(yes) == 0 {
		return nil, ""
	}
	at := pointer(path, name)
	needed := requiresAny(nodes, []string{name})
	if !needed {
		var present bool
		if present, outer = m.presence(nodes, name, at, yes, no, outer); !present {
			return nil, ""
		}
	}
	of, values := schemasOf(nodes, name), make([]Given, len(yes))
	for i, g := range yes {
		values[i] = Given{g.Seat, g.Value.Member(name), g.Weight}
	}
	from := len(m.fields)
	v, why := m.merge(of, values, at, outer)
	switch {
	case v != nil:
		return []Member{{name, v}}, ""
	case needed:
		return nil, why
	}
	m.drop(m.fields[from:], why)
	return nil, ""
}

// requiresAny reports whether some schema requires one of some members.
func requiresAny(nodes []*node, names []string) bool {
	return slices.ContainsFunc(nodes, func(n *node) bool {
		return slices.ContainsFunc(n.required, func(name string) bool { return slices.Contains(names, name) })
	})
}

// drop marks the parts of an optional part that is left out because one of them is undecided.
func (m *merger) drop(fields []Field, why string) {
	m.least = Withstands{}
	for i := range fields {
		if f := &fields[i]; f.Decided {
			f.Decided, f.Absent, f.Withstands, f.Value, f.Reason = false, false, nil, nil, why
		}
	}
}

// presence decides whether an optional member is present. A member that no schema names is reported only
// if it is: members could otherwise fill the report with names.
func (m *merger) presence(nodes []*node, name, at string, yes, no []Given, outer Withstands) (bool, Withstands) {
	in, open, w := m.rule.include(yes, no)
	if w = w.and(outer); in {
		return true, w
	}
	m.least = m.least.and(w)
	if !slices.ContainsFunc(nodes, func(n *node) bool { _, named := n.property(name); return named }) {
		return false, w
	}
	f := Field{Path: at, How: "presence"}
	if open {
		f.Support = m.rule.Count(yes)
		f.Reason = fmt.Sprintf("%d seats gave it and %d did not; %d are needed", len(yes), len(no), m.rule.least(0))
	} else {
		f.Support, f.Decided, f.Absent, f.Withstands = m.rule.Count(no), true, true, &w
	}
	m.fields = append(m.fields, f)
	return false, w
}

// names returns the members that occur: those of the schemas in their order, then others sorted.
func names(nodes []*node, in []Given) (all []string) {
	known := map[string]bool{}
	for _, n := range nodes {
		for _, p := range n.properties {
			if !known[p.name] {
				known[p.name] = true
				all = append(all, p.name)
			}
		}
	}
	at := len(all)
	for _, g := range in {
		for _, x := range g.Value.members {
			if !known[x.Key] {
				known[x.Key] = true
				all = append(all, x.Key)
			}
		}
	}
	slices.Sort(all[at:])
	return all
}

// schemasOf returns the schemas that apply to a member.
func schemasOf(nodes []*node, name string) (all []*node) {
	for _, n := range nodes {
		if of, _ := n.property(name); of != nil {
			all = append(all, of)
		}
	}
	return all
}

// split divides values by a condition.
func split(in []Given, is func(Given) bool) (yes, no []Given) {
	for _, g := range in {
		if is(g) {
			yes = append(yes, g)
		} else {
			no = append(no, g)
		}
	}
	return yes, no
}
