package structured

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"synod.dev/synod/internal/order"
)

// The limits of a schema.
const (
	MaxSchema  = 64 << 10 // bytes
	maxPattern = 1024     // bytes of a regular expression
	maxDepth   = MaxDepth // schemas inside one another
)

// Schema is a JSON schema that was checked. It is safe for concurrent use.
type Schema struct {
	root *node
	text *Value // canonical
	raw  json.RawMessage
	// prose is where a part is merged as prose, as a JSON pointer into the schema; "": nowhere.
	prose string
}

// Combine is the value of the keyword x-merge: how the values of several members become one.
type Combine string

// The ways to combine values.
const (
	ByVote     Combine = "vote"         // the whole value that most members gave
	ByMedian   Combine = "median"       // of numbers: the lower median; the default for numbers, but not for integers
	ByMean     Combine = "trimmed-mean" // of numbers: the mean without the F lowest and the F highest
	ByPosition Combine = "position"     // of arrays: item by item; the default for arrays
	AsSet      Combine = "set"          // of arrays: each item by vote; the default with uniqueItems
	ByProse    Combine = "prose"        // of strings: that of the seat whose answer has the best grades
)

// node is a schema or a part of one.
type node struct {
	at     string // a JSON pointer, for messages
	never  bool   // the schema false
	kinds  [kinds]bool
	typed  bool // kinds is restricted
	whole  bool // of numbers: integers only
	enum   map[string]bool
	enums  []*Value // in the order of the schema; nil: none
	values *Value   // the default; nil: none

	properties []property // in the order of the schema
	required   []string
	additional *node // nil: any value
	open       bool  // additionalProperties is absent
	names      *node // of the names of members; nil: any
	count      span  // of members
	items      *node // nil: any value
	prefix     []*node
	length     span // of arrays
	unique     bool

	low, high, above, below, multiple *big.Rat // nil: none
	tolerance                         *big.Rat // x-tolerance; nil: 0
	runes                             span     // of strings
	pattern                           *regexp.Regexp

	any, one, all []*node
	not           *node
	target        *node // of $ref
	combine       Combine
	asOne         bool        // x-together: true
	together      [][]string  // x-together: names of members that are one part
	key           string      // x-key, of arrays; "": none
	checks        []Condition // x-check
	conditions    []string    // texts of checks, until all members are known
}

type property struct {
	name string
	of   *node
}

// span is the allowed numbers of something; most is -1 where there is no limit.
type span struct{ least, most int }

func (s span) has(n int) bool { return n >= s.least && (s.most < 0 || n <= s.most) }

// Compile checks a JSON schema. It accepts the part of JSON Schema 2020-12 that a merge can follow:
//
//   - type, enum, const, default; annotations such as title and description, which change nothing;
//   - properties, required, additionalProperties, propertyNames, minProperties, maxProperties;
//   - items, prefixItems, minItems, maxItems, uniqueItems;
//   - minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf; minLength, maxLength, pattern (the
//     syntax of Go's regexp, which takes linear time); format, which is not checked;
//   - anyOf, oneOf, allOf, not, and $ref to this schema ("#", "#/$defs/name"). A remote $ref is refused;
//   - x-merge (see Combine) and x-tolerance, the largest distance of numbers that are one in a tool call;
//   - x-together, of objects: true, or lists of names of members that are merged as one part;
//   - x-key, of arrays: the name of the member by which records, which are objects, are told apart;
//   - x-check, of objects: conditions in CEL that every value meets, such as "net + vat == gross".
//
// Any other keyword is an error that names it, because values would not follow it.
//
// conditions compiles the expressions of x-check (internal/compiled). Where it is nil they are not looked at, and no
// value of an object with one is valid.
func Compile(text []byte, conditions Conditions) (*Schema, error) {
	v, err := parse(text, MaxSchema)
	if err != nil {
		return nil, fmt.Errorf("structured: schema: %s", strings.TrimPrefix(err.Error(), "structured: "))
	}
	return compile(v, slices.Clone(text), conditions)
}

func compile(v *Value, raw []byte, conditions Conditions) (*Schema, error) {
	c := compiler{conditions: conditions, root: v, known: map[string]*node{}, order: keyOrder(raw)}
	n, err := c.schema(v, "#", 0)
	if err != nil {
		return nil, err
	}
	if err := c.acyclic(); err != nil {
		return nil, err
	}
	s := &Schema{root: n, text: v, raw: raw}
	for at, n := range c.known {
		if n.combine == ByProse && (s.prose == "" || at < s.prose) {
			s.prose = at
		}
	}
	return s, nil
}

// Prose returns where a part of a value is merged as prose, as a JSON pointer into the schema; "": nowhere.
func (s *Schema) Prose() string { return s.prose }

// String returns the canonical text of the schema.
func (s *Schema) String() string { return s.text.canon }

// compiler compiles one schema.
type compiler struct {
	conditions Conditions
	root       *Value
	known      map[string]*node // by pointer
	order      map[string]int   // where a key first stands in the text
}

func wrong(at, format string, args ...any) error {
	return fmt.Errorf("structured: schema at %s: %s", at, fmt.Sprintf(format, args...))
}

// schema compiles the schema at a pointer, once.
func (c *compiler) schema(v *Value, at string, depth int) (*node, error) {
	if n, ok := c.known[at]; ok {
		return n, nil
	}
	n := &node{at: at, open: true, count: span{0, -1}, length: span{0, -1}, runes: span{0, -1}}
	c.known[at] = n
	switch {
	case depth > maxDepth:
		return nil, wrong(at, "schemas are nested deeper than %d", maxDepth)
	case v.kind == Boolean:
		n.never = v.text == "false"
		return n, nil
	case v.kind != Object:
		return nil, wrong(at, "a schema is an object, true or false, and not %s", shorten(v.canon))
	}
	for _, m := range v.members {
		if err := c.keyword(n, m, depth); err != nil {
			return nil, err
		}
	}
	return n, c.check(n)
}

// annotations change nothing.
var annotations = []string{"$schema", "$comment", "$defs", "definitions", "title", "description", "examples", "format",
	"deprecated", "readOnly", "writeOnly"}

// keyword reads one keyword of a schema.
func (c *compiler) keyword(n *node, m Member, depth int) error {
	if slices.Contains(annotations, m.Key) {
		return nil
	}
	for _, read := range []func(*compiler, *node, Member, int) (bool, error){
		(*compiler).scalar, (*compiler).bound, (*compiler).container, (*compiler).applicator, (*compiler).parts,
	} {
		if found, err := read(c, n, m, depth); found {
			return err
		}
	}
	return wrong(n.at, "the keyword %q is not supported%s; supported: %s", shorten(m.Key), alternative(m.Key),
		strings.Join(supported, ", "))
}

// supported lists the keywords for messages.
var supported = []string{"type", "enum", "const", "default", "properties", "required", "additionalProperties",
	"propertyNames", "minProperties", "maxProperties", "items", "prefixItems", "minItems", "maxItems",
	"uniqueItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
	"maxLength", "pattern", "format", "anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "x-merge",
	"x-tolerance", "x-together", "x-key", "x-check"}

// alternative says what to write in place of a keyword.
func alternative(key string) string {
	switch key {
	case "nullable":
		return ` (write "type": ["string", "null"])`
	case "additionalItems":
		return " (write prefixItems and items)"
	case "if", "then", "else", "dependentSchemas", "dependencies":
		return " (write anyOf with an object for each case)"
	case "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef":
		return ` (write "$ref": "#/$defs/name")`
	}
	return ""
}

// scalar reads the keywords that concern one value by itself.
func (c *compiler) scalar(n *node, m Member, _ int) (bool, error) {
	switch m.Key {
	case "type":
		return true, n.types(m.Value)
	case "enum":
		if m.Value.kind != Array || len(m.Value.items) == 0 {
			return true, wrong(n.at, "enum must be a list that is not empty")
		}
		return true, n.choices(m.Value.items)
	case "const":
		return true, n.choices([]*Value{m.Value})
	case "default":
		n.values = m.Value
		return true, nil
	case "pattern":
		if m.Value.kind != String || len(m.Value.text) > maxPattern {
			return true, wrong(n.at, "pattern must be a string of at most %d bytes", maxPattern)
		}
		p, err := regexp.Compile(m.Value.text)
		if n.pattern = p; err != nil {
			return true, wrong(n.at, "the pattern cannot be read: %v; the syntax is that of Go's regexp, without "+
				"look-around and back-references", err)
		}
		return true, nil
	case "x-merge":
		n.combine = Combine(m.Value.Text())
		if !slices.Contains([]Combine{ByVote, ByMedian, ByMean, ByPosition, AsSet, ByProse}, n.combine) {
			return true, wrong(n.at, "x-merge is %s; it must be vote, median, trimmed-mean, position, set or prose",
				shorten(m.Value.canon))
		}
		return true, nil
	}
	return false, nil
}

func (n *node) types(v *Value) error {
	names := []*Value{v}
	if v.kind == Array {
		names = v.items
	}
	n.typed, n.whole = true, true
	for _, name := range names {
		i := slices.Index(kindNames[:], name.Text())
		switch {
		case name.Text() == "integer":
			i = int(Number)
		case i < 0:
			return wrong(n.at, "type is %s; it must be null, boolean, number, integer, string, array or object",
				shorten(name.canon))
		case Kind(i) == Number:
			n.whole = false
		}
		n.kinds[i] = true
	}
	n.whole = n.whole && n.kinds[Number]
	if len(names) == 0 {
		return wrong(n.at, "type is an empty list")
	}
	return nil
}

// choices restricts the values. With both enum and const, a value must be in both.
func (n *node) choices(values []*Value) error {
	allowed := map[string]bool{}
	var list []*Value
	for _, v := range values {
		if (n.enum == nil || n.enum[v.canon]) && !allowed[v.canon] {
			allowed[v.canon] = true
			list = append(list, v)
		}
	}
	n.enum, n.enums = allowed, list
	return nil
}

// bound reads the keywords whose value is a number.
func (c *compiler) bound(n *node, m Member, _ int) (bool, error) {
	numbers := map[string]**big.Rat{"minimum": &n.low, "maximum": &n.high, "exclusiveMinimum": &n.above,
		"exclusiveMaximum": &n.below, "multipleOf": &n.multiple, "x-tolerance": &n.tolerance}
	if into, ok := numbers[m.Key]; ok {
		positive := m.Key == "multipleOf" || m.Key == "x-tolerance"
		if m.Value.kind != Number || positive && m.Value.number.Sign() <= 0 {
			kind := "number"
			if positive {
				kind = "number above 0"
			}
			return true, wrong(n.at, "%s is %s; it must be a %s", m.Key, shorten(m.Value.canon), kind)
		}
		*into = m.Value.number
		return true, nil
	}
	counts := map[string]*int{"minLength": &n.runes.least, "maxLength": &n.runes.most, "minItems": &n.length.least,
		"maxItems": &n.length.most, "minProperties": &n.count.least, "maxProperties": &n.count.most}
	into, ok := counts[m.Key]
	if !ok {
		return false, nil
	}
	if m.Value.kind != Number || !m.Value.number.IsInt() || m.Value.number.Sign() < 0 || len(m.Value.canon) > 9 {
		return true, wrong(n.at, "%s is %s; it must be a whole number from 0 to 999999999", m.Key,
			shorten(m.Value.canon))
	}
	*into = int(m.Value.number.Num().Int64())
	return true, nil
}

// container reads the keywords of objects and arrays.
func (c *compiler) container(n *node, m Member, depth int) (bool, error) {
	var err error
	switch m.Key {
	case "properties":
		return true, c.properties(n, m.Value, depth)
	case "required":
		if m.Value.kind != Array {
			return true, wrong(n.at, "required must be a list of names")
		}
		for _, name := range m.Value.items {
			if name.kind != String {
				return true, wrong(n.at, "required must be a list of names")
			}
			n.required = append(n.required, name.text)
		}
	case "additionalProperties":
		n.open = false
		n.additional, err = c.schema(m.Value, pointer(n.at, m.Key), depth+1)
	case "propertyNames":
		n.names, err = c.schema(m.Value, pointer(n.at, m.Key), depth+1)
	case "items":
		if m.Value.kind == Array {
			return true, wrong(n.at, "items is a list; write prefixItems")
		}
		n.items, err = c.schema(m.Value, pointer(n.at, m.Key), depth+1)
	case "prefixItems":
		n.prefix, err = c.list(n, m, depth)
	case "uniqueItems":
		if m.Value.kind != Boolean {
			return true, wrong(n.at, "uniqueItems must be true or false")
		}
		n.unique = m.Value.text == "true"
	default:
		return false, nil
	}
	return true, err
}

func (c *compiler) properties(n *node, v *Value, depth int) error {
	if v.kind != Object {
		return wrong(n.at, "properties must be an object")
	}
	for _, m := range v.members {
		of, err := c.schema(m.Value, pointer(pointer(n.at, "properties"), m.Key), depth+1)
		if err != nil {
			return err
		}
		n.properties = append(n.properties, property{m.Key, of})
	}
	order.Stable(n.properties, func(a, b property) int { return c.order[a.name] - c.order[b.name] })
	return nil
}

// applicator reads the keywords that apply other schemas to the same value.
func (c *compiler) applicator(n *node, m Member, depth int) (_ bool, err error) {
	switch m.Key {
	case "anyOf":
		n.any, err = c.list(n, m, depth)
	case "oneOf":
		n.one, err = c.list(n, m, depth)
	case "allOf":
		n.all, err = c.list(n, m, depth)
	case "not":
		n.not, err = c.schema(m.Value, pointer(n.at, m.Key), depth+1)
	case "$ref":
		n.target, err = c.reference(n, m.Value, depth)
	default:
		return false, nil
	}
	return true, err
}

func (c *compiler) list(n *node, m Member, depth int) (all []*node, err error) {
	if m.Value.kind != Array || len(m.Value.items) == 0 {
		return nil, wrong(n.at, "%s must be a list of schemas that is not empty", m.Key)
	}
	for i, v := range m.Value.items {
		of, err := c.schema(v, pointer(pointer(n.at, m.Key), fmt.Sprint(i)), depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	return all, nil
}

// reference finds the schema that a $ref points to.
func (c *compiler) reference(n *node, v *Value, depth int) (*node, error) {
	ref := v.Text()
	if ref != "#" && !strings.HasPrefix(ref, "#/") {
		return nil, wrong(n.at, `$ref is %s; only references within the schema are followed, such as "#/$defs/name"`,
			shorten(v.canon))
	}
	to := c.root
	for _, token := range strings.Split(ref, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch to.kind {
		case Object:
			to = to.Member(token)
		case Array:
			to = item(to, token)
		default:
			to = nil
		}
		if to == nil {
			return nil, wrong(n.at, "$ref is %s, and the schema has nothing there", shorten(v.canon))
		}
	}
	return c.schema(to, ref, depth+1)
}

func item(v *Value, token string) *Value {
	for i, x := range v.items {
		if fmt.Sprint(i) == token {
			return x
		}
	}
	return nil
}

// check reports keywords that contradict one another.
func (c *compiler) check(n *node) error {
	numeric := n.combine == ByMedian || n.combine == ByMean
	listed := n.combine == ByPosition || n.combine == AsSet
	switch {
	case numeric && !(n.typed && n.kinds[Number]):
		return wrong(n.at, "x-merge is %s, and the type is not number or integer", n.combine)
	case listed && !(n.typed && n.kinds[Array]):
		return wrong(n.at, "x-merge is %s, and the type is not array", n.combine)
	case n.combine == ByProse && !(n.typed && n.kinds[String] && n.enum == nil):
		return wrong(n.at, "x-merge is prose, and the type is not string, or the strings are an enum")
	case n.combine == ByMean && n.multiple != nil:
		return wrong(n.at, "x-merge is trimmed-mean, which multipleOf does not allow; use median")
	case n.tolerance != nil && !(n.typed && n.kinds[Number]):
		return wrong(n.at, "x-tolerance stands where the type is not number or integer")
	}
	return c.checkParts(n)
}

// acyclic refuses schemas that apply themselves to the same value for ever.
func (c *compiler) acyclic() error {
	state := map[*node]int{} // 1: being visited, 2: done
	var visit func(n *node) error
	visit = func(n *node) error {
		switch state[n] {
		case 1:
			return wrong(n.at, "the schema refers to itself without a property or an item between")
		case 2:
			return nil
		}
		state[n] = 1
		for _, next := range n.same() {
			if err := visit(next); err != nil {
				return err
			}
		}
		state[n] = 2
		return nil
	}
	names := make([]string, 0, len(c.known))
	for at := range c.known {
		names = append(names, at)
	}
	slices.Sort(names)
	for _, at := range names {
		if err := visit(c.known[at]); err != nil {
			return err
		}
	}
	return nil
}

// same returns the schemas that a schema applies to the same value.
func (n *node) same() []*node {
	all := slices.Concat(n.any, n.one, n.all)
	for _, one := range []*node{n.not, n.target} {
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}

// pointer appends a token to a JSON pointer (RFC 6901).
func pointer(at, token string) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// keyOrder returns where each key first stands in a JSON text.
func keyOrder(text []byte) map[string]int {
	order := map[string]int{}
	d := json.NewDecoder(strings.NewReader(string(text)))
	for {
		t, err := d.Token()
		if err != nil {
			return order
		}
		if s, ok := t.(string); ok {
			if _, known := order[s]; !known {
				order[s] = len(order)
			}
		}
	}
}

// errNoValue is the error of a value that is nil.
var errNoValue = errors.New("structured: there is no value")
