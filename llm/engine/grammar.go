package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"synod.dev/synod/internal/jsonobject"
)

const (
	defaultLength = 400  // characters of a string without maxLength
	maxLength     = 1900 // llama.cpp returns an error for 2000 repetitions and treats more as unbounded
	defaultItems  = 16
	maxRange      = 256 // size of the range of a number with minimum and maximum
)

// Grammar makes a GBNF grammar from a JSON schema, for compact JSON with the properties
// in the order of the schema. Supported are objects, arrays,
// strings (minLength, maxLength), numbers and integers (whole minimum and
// maximum), booleans, enum and const of scalars; anything else is an error.
//
// Everything is limited, because small models do not stop by themselves: a string without
// maxLength has at most 400 characters, an array without maxItems at most 16
// items, numbers at most 9 digits before and 4 after the point. All listed
// properties are always written. Strings contain no control characters, not
// even escaped ones.
func Grammar(schemaJSON []byte) (string, error) {
	s, err := parseSchema(json.RawMessage(schemaJSON), "root", 0)
	if err != nil {
		return "", err
	}
	g := grammar{shared: map[string]string{}}
	g.rule("root", g.of(s))
	return strings.Join(g.rules, "\n") + "\n", nil
}

// check fills in defaults and returns an error for limits that are not supported.
func (s *schema) check(path string) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("engine: schema at %s: %s", path, fmt.Sprintf(format, args...))
	}
	if len(s.enum) > 0 {
		return nil
	}
	limit, usual := maxLength, defaultLength
	switch s.kind {
	case "boolean", "object":
		return nil
	case "number", "integer":
		return s.checkRange(bad)
	case "array":
		if s.items == nil {
			return bad("an array needs items")
		}
		usual = defaultItems
	case "string":
	case "":
		return bad("no type")
	default:
		return bad("type %q is not supported", s.kind)
	}
	if s.maxLen == 0 {
		s.maxLen = max(usual, s.minLen)
	}
	if s.minLen < 0 || s.minLen > s.maxLen || s.maxLen > limit {
		return bad("length from %d to %d, want 0 to %d", s.minLen, s.maxLen, limit)
	}
	return nil
}

func (s *schema) checkRange(bad func(string, ...any) error) error {
	switch {
	case s.min == nil && s.max == nil, s.max == nil && *s.min == 0:
		return nil
	case s.min == nil || s.max == nil:
		return bad("a bounded number needs both bounds, or minimum 0 alone")
	case *s.min > *s.max || *s.max-*s.min > maxRange:
		return bad("range %d to %d, want at most %d wide", *s.min, *s.max, maxRange)
	case s.kind == "number" && *s.min < 0:
		return bad("a bounded number that is not an integer cannot be negative")
	}
	return nil
}

// grammar collects rules.
type grammar struct {
	rules  []string
	shared map[string]string // body to name
}

func (g *grammar) rule(name, body string) { g.rules = append(g.rules, name+" ::= "+body) }

// ref returns the name of the rule with a body, and adds the rule if there is none.
func (g *grammar) ref(body string) string {
	if name, ok := g.shared[body]; ok {
		return name
	}
	name := "r" + strconv.Itoa(len(g.shared))
	g.shared[body] = name
	g.rule(name, body)
	return name
}

// of returns a GBNF expression for the values of a schema.
func (g *grammar) of(s *schema) string {
	if len(s.enum) > 0 {
		var alts []string
		for _, text := range s.enum {
			alts = append(alts, literal(text))
		}
		return "(" + strings.Join(alts, " | ") + ")"
	}
	switch s.kind {
	case "object":
		return g.object(s)
	case "array":
		item := g.ref(g.of(s.items))
		rest := fmt.Sprintf(`("," %s){%d,%d}`, item, max(0, s.minLen-1), s.maxLen-1)
		list := item + " " + rest
		if s.minLen == 0 {
			list = "(" + list + ")?"
		}
		return g.ref(`"[" ` + list + ` "]"`)
	case "string":
		// no control characters (C0, DEL, C1, line separators), and only those
		// escapes that do not decode to one
		char := g.ref(`[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029] | "\\" ["\\]`)
		return g.ref(fmt.Sprintf(`"\"" %s{%d,%d} "\""`, char, s.minLen, s.maxLen))
	case "boolean":
		return `("true" | "false")`
	}
	return g.ref(number(s))
}

func (g *grammar) object(s *schema) string {
	parts := []string{}
	text := "{" // text after the last value
	for i, p := range s.props {
		if i > 0 {
			text += ","
		}
		name, _, _ := scalar(mustJSON(p.name))
		parts = append(parts, literal(text+name+":"), g.of(p.of))
		text = ""
	}
	parts = append(parts, literal(text+"}"))
	return g.ref(strings.Join(parts, " "))
}

func number(s *schema) string {
	whole, fraction := `("0" | [1-9] [0-9]{0,8})`, ` ("." [0-9]{1,4})?`
	if s.kind == "integer" {
		fraction = ""
	}
	switch {
	case s.min == nil && s.max == nil:
		return `"-"? ` + whole + fraction
	case s.max == nil:
		return whole + fraction
	}
	var alts []string
	for v := *s.min; v <= *s.max; v++ {
		alt := literal(strconv.FormatInt(v, 10))
		if v < *s.max {
			alt += fraction
		}
		alts = append(alts, alt)
	}
	return strings.Join(alts, " | ")
}

// literal quotes text for GBNF.
func literal(text string) string {
	r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\x00`)
	return `"` + r.Replace(text) + `"`
}

func mustJSON(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // a string can always be encoded
	return raw
}

// schema is the supported part of JSON Schema.
type schema struct {
	kind     string
	props    []property // in the order of the text, which is that of the output
	items    *schema
	enum     []string // JSON texts
	minLen   int      // of a string, in characters, or of an array, in items
	maxLen   int      // 0: not given
	min, max *int64
}

type property struct {
	name string
	of   *schema
}

// annotations are keywords that do not restrict values.
var annotations = []string{"$schema", "$id", "$comment", "title", "description", "default", "examples"}

const maxDepth = 8

func parseSchema(raw json.RawMessage, path string, depth int) (*schema, error) {
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
	s := &schema{}
	for _, m := range ms { // the meaning of the other keywords depends on the type
		if m.Key == "type" && json.Unmarshal(m.Value, &s.kind) != nil {
			return fail("type is %s; it must be a string", m.Value)
		}
	}
	for _, m := range ms {
		if m.Key == "type" || slices.Contains(annotations, m.Key) {
			continue
		}
		if err := s.keyword(m, path, depth); err != nil {
			return nil, err
		}
	}
	return s, s.check(path)
}

// keyword reads one keyword of a schema. An unknown one is an error, because the output
// would not follow it.
func (s *schema) keyword(m jsonobject.Member, path string, depth int) error {
	var err error
	switch s.kind + " " + m.Key {
	case "object properties":
		return s.properties(m.Value, path, depth)
	case "object required", "object additionalProperties": // the output has all listed properties and no other
		return s.closed(m, path)
	case "array items":
		s.items, err = parseSchema(m.Value, path+"[]", depth+1)
		return err
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
		if m.Key == "enum" || m.Key == "const" {
			return s.choices(m, path)
		}
		return fmt.Errorf("engine: schema at %s: %q is not supported for type %q", path, m.Key, s.kind)
	}
	if err != nil {
		return fmt.Errorf("engine: schema at %s: %s is %s; it must be a whole number", path, m.Key, m.Value)
	}
	return nil
}

func (s *schema) properties(raw json.RawMessage, path string, depth int) error {
	ms, err := jsonobject.Members(raw)
	if err != nil {
		return fmt.Errorf("engine: schema at %s: properties: %w", path, err)
	}
	for _, m := range ms {
		of, err := parseSchema(m.Value, path+"."+m.Key, depth+1)
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

// choices reads enum or const: strings, numbers and booleans.
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
	}
	return "", "", fmt.Errorf("%s is not a string, number or boolean", raw)
}
