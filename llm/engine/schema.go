package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"synod.dev/synod/internal/jsonobject"
)

// schema is the supported part of JSON Schema.
type schema struct {
	kind     string
	props    []property // in the order of the text, which is that of the output
	items    *schema
	enum     []string // JSON texts
	minLen   int      // of a string, in characters, or of an array, in items
	maxLen   int      // 0: not given
	min, max *int64

	any     []*schema // alternatives; nil: none
	target  *schema   // of $ref; nil: none
	pattern string    // of a string, in GBNF; "": none
}

// ends reports whether there is a value of a schema that is not infinite. above are the schemas that contain it.
func (s *schema) ends(above []*schema) bool {
	if slices.Contains(above, s) {
		return false
	}
	above = append(above, s)
	switch {
	case s.target != nil:
		return s.target.ends(above)
	case s.any != nil:
		return slices.ContainsFunc(s.any, func(of *schema) bool { return of.ends(above) })
	case s.kind == "array":
		return s.minLen == 0 || s.items.ends(above)
	}
	return !slices.ContainsFunc(s.props, func(p property) bool { return !p.of.ends(above) })
}

type property struct {
	name string
	of   *schema
}

// annotations are keywords that do not restrict values.
var annotations = []string{"$schema", "$id", "$comment", "title", "description", "default", "examples",
	"$defs", "definitions", "deprecated", "readOnly", "writeOnly"}

const maxDepth = 12

// parser reads a schema and those that its references name.
type parser struct {
	root  json.RawMessage
	known map[string]*schema // targets of $ref, by JSON pointer
}

// onlyFor has the keywords that concern one type of values.
var onlyFor = map[string][]string{"properties": {"object"}, "required": {"object"}, "additionalProperties": {"object"},
	"items": {"array"}, "minItems": {"array"}, "maxItems": {"array"}, "minLength": {"string"}, "maxLength": {"string"},
	"pattern": {"string"}, "minimum": {"number", "integer"}, "maximum": {"number", "integer"}}

func (c *parser) schema(raw json.RawMessage, path string, depth int) (*schema, error) {
	fail := func(format string, args ...any) (*schema, error) {
		return nil, fmt.Errorf("engine: schema at %s: %s", path, fmt.Sprintf(format, args...))
	}
	if depth > maxDepth {
		return fail("nested deeper than %d", maxDepth)
	}
	ms, err := jsonobject.Members(raw)
	if err != nil {
		return fail("%v", err)
	}
	var types []string
	for _, m := range ms { // the meaning of the other keywords depends on the type
		var one string
		switch {
		case m.Key != "type":
		case json.Unmarshal(m.Value, &one) == nil:
			types = []string{one}
		case json.Unmarshal(m.Value, &types) != nil || len(types) == 0:
			return fail("type is %s; it must be a string or a list of strings", m.Value)
		}
	}
	if len(types) < 2 {
		return c.typed(ms, strings.Join(types, ""), path, depth)
	}
	if slices.ContainsFunc(ms, func(m jsonobject.Member) bool { return m.Key == "enum" || m.Key == "const" }) {
		return c.typed(ms, "", path, depth)
	}
	all := &schema{}
	for _, kind := range types {
		of, err := c.typed(slices.DeleteFunc(slices.Clone(ms), func(m jsonobject.Member) bool {
			kinds := onlyFor[m.Key]
			return kinds != nil && !slices.Contains(kinds, kind)
		}), kind, path, depth)
		if err != nil {
			return nil, err
		}
		all.any = append(all.any, of)
	}
	return all, nil
}

// typed reads a schema whose values have one type; "": the type is not given.
func (c *parser) typed(ms []jsonobject.Member, kind, path string, depth int) (*schema, error) {
	s := &schema{kind: kind}
	for _, m := range ms {
		if m.Key == "type" || slices.Contains(annotations, m.Key) {
			continue
		}
		if err := c.keyword(s, m, path, depth); err != nil {
			return nil, err
		}
	}
	if (s.any != nil || s.target != nil) && (kind != "" || len(s.enum) > 0 || s.any != nil && s.target != nil) {
		return nil, fmt.Errorf("engine: schema at %s: anyOf, oneOf and $ref must stand alone, without type, enum or "+
			"one another", path)
	}
	if s.target != nil {
		return s, nil
	}
	return s, s.check(path)
}

// reference reads the schema that $ref names.
func (c *parser) reference(m jsonobject.Member, path string, depth int) (*schema, error) {
	var ref string
	if json.Unmarshal(m.Value, &ref) != nil || ref != "#" && !strings.HasPrefix(ref, "#/") {
		return nil, fmt.Errorf("engine: schema at %s: $ref is %s; it must be # or begin with #/", path, m.Value)
	}
	if s, ok := c.known[ref]; ok {
		return s, nil
	}
	raw := c.root
	for _, token := range strings.Split(ref, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		ms, err := jsonobject.Members(raw)
		at := slices.IndexFunc(ms, func(m jsonobject.Member) bool { return m.Key == token })
		if err != nil || at < 0 {
			return nil, fmt.Errorf("engine: schema at %s: $ref is %s, and nothing is there", path, m.Value)
		}
		raw = ms[at].Value
	}
	s := &schema{}
	c.known[ref] = s
	of, err := c.schema(raw, ref, depth+1)
	if err == nil {
		*s = *of
	}
	return s, err
}

// alternatives reads anyOf or oneOf.
func (c *parser) alternatives(m jsonobject.Member, path string, depth int) (all []*schema, err error) {
	var list []json.RawMessage
	if json.Unmarshal(m.Value, &list) != nil || len(list) == 0 {
		return nil, fmt.Errorf("engine: schema at %s: %s must be a list that is not empty", path, m.Key)
	}
	for i, raw := range list {
		of, err := c.schema(raw, fmt.Sprintf("%s.%s[%d]", path, m.Key, i), depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, of)
	}
	return all, nil
}

// keyword reads one keyword of a schema. An unknown one is an error, because the output
// would not follow it.
func (c *parser) keyword(s *schema, m jsonobject.Member, path string, depth int) error {
	var err error
	switch m.Key {
	case "$ref":
		s.target, err = c.reference(m, path, depth)
		return err
	case "anyOf", "oneOf":
		if s.any != nil {
			return fmt.Errorf("engine: schema at %s: anyOf and oneOf cannot stand together", path)
		}
		s.any, err = c.alternatives(m, path, depth)
		return err
	}
	switch s.kind + " " + m.Key {
	case "object properties":
		return c.properties(s, m.Value, path, depth)
	case "string pattern":
		return s.patterned(m, path)
	case "object required", "object additionalProperties": // the output has all listed properties and no other
		return s.closed(m, path)
	case "array items":
		s.items, err = c.schema(m.Value, path+"[]", depth+1)
		return err
	}
	if m.Key == "enum" || m.Key == "const" {
		return s.choices(m, path)
	}
	return s.bound(m, path)
}

// bound reads a keyword that bounds a length or a number.
func (s *schema) bound(m jsonobject.Member, path string) error {
	var err error
	switch s.kind + " " + m.Key {
	case "array minItems", "string minLength":
		err = json.Unmarshal(m.Value, &s.minLen)
	case "array maxItems", "string maxLength":
		if err = json.Unmarshal(m.Value, &s.maxLen); err == nil && s.maxLen < 1 {
			err = errors.New("must be at least 1")
		}
	case "integer minimum", "number minimum":
		err = json.Unmarshal(m.Value, &s.min)
	case "integer maximum", "number maximum":
		err = json.Unmarshal(m.Value, &s.max)
	default:
		return fmt.Errorf("engine: schema at %s: %q is not supported for type %q", path, m.Key, s.kind)
	}
	if err != nil {
		return fmt.Errorf("engine: schema at %s: %s is %s; it must be a whole number", path, m.Key, m.Value)
	}
	return nil
}

// patterned reads the keyword pattern.
func (s *schema) patterned(m jsonobject.Member, path string) error {
	var text string
	if json.Unmarshal(m.Value, &text) != nil {
		return fmt.Errorf("engine: schema at %s: pattern is %s; it must be a string", path, m.Value)
	}
	var err error
	if s.pattern, err = patternRule(text); err != nil {
		return fmt.Errorf("engine: schema at %s: %w", path, err)
	}
	return nil
}

func (c *parser) properties(s *schema, raw json.RawMessage, path string, depth int) error {
	ms, err := jsonobject.Members(raw)
	if err != nil {
		return fmt.Errorf("engine: schema at %s: properties: %w", path, err)
	}
	for _, m := range ms {
		of, err := c.schema(m.Value, path+"."+m.Key, depth+1)
		if err != nil {
			return err
		}
		s.props = append(s.props, property{m.Key, of})
	}
	return nil
}

// closed checks the keywords required and additionalProperties.
func (s *schema) closed(m jsonobject.Member, path string) error {
	if m.Key == "additionalProperties" {
		var b bool
		if json.Unmarshal(m.Value, &b) != nil {
			return fmt.Errorf("engine: schema at %s: additionalProperties must be true or false", path)
		}
		return nil
	}
	var names []string
	if err := json.Unmarshal(m.Value, &names); err != nil {
		return fmt.Errorf("engine: schema at %s: required: %w", path, err)
	}
	return nil
}

// choices reads enum or const: strings, numbers, booleans and null.
func (s *schema) choices(m jsonobject.Member, path string) error {
	var values []json.RawMessage
	if m.Key == "const" {
		values = []json.RawMessage{m.Value}
	} else if err := json.Unmarshal(m.Value, &values); err != nil || len(values) == 0 {
		return fmt.Errorf("engine: schema at %s: enum must be a list that is not empty", path)
	}
	for _, v := range values {
		text, kind, err := scalar(v)
		if err != nil {
			return fmt.Errorf("engine: schema at %s: %s: %w", path, m.Key, err)
		}
		if s.kind != "" && s.kind != kind && (s.kind != "integer" || kind != "number" ||
			strings.ContainsAny(text, ".eE")) {
			return fmt.Errorf("engine: schema at %s: %s is not of type %s", path, text, s.kind)
		}
		if !slices.Contains(s.enum, text) {
			s.enum = append(s.enum, text)
		}
	}
	return nil
}

// scalar returns a value as compact JSON, and its type.
func scalar(raw json.RawMessage) (text, kind string, err error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", "", err
	}
	switch v := v.(type) {
	case string:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err = e.Encode(v)
		return strings.TrimSuffix(b.String(), "\n"), "string", err
	case json.Number:
		return v.String(), "number", nil
	case bool:
		return fmt.Sprint(v), "boolean", nil
	case nil:
		return "null", "null", nil
	}
	return "", "", fmt.Errorf("%s is not a string, number, boolean or null", raw)
}
