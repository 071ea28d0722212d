package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	defaultLength = 400  // characters of a string without maxLength
	maxLength     = 1900 // llama.cpp returns an error for 2000 repetitions and treats more as unbounded
	defaultItems  = 16
	maxRange      = 256 // size of the range of a number with minimum and maximum
)

// Grammar makes a GBNF grammar from a JSON schema, for compact JSON with the properties
// in the order of the schema. Supported are objects, arrays,
// strings (minLength, maxLength, or pattern), numbers and integers (whole minimum and
// maximum), booleans, null, enum and const of scalars, a list of types, anyOf and oneOf
// (as any of the alternatives), and $ref within the schema; anything else is an error.
//
// Everything is limited, because small models do not stop by themselves: a string without
// maxLength has at most 400 characters, an array without maxItems at most 16
// items, numbers at most 9 digits before and 4 after the point. All listed
// properties are always written. Strings contain no control characters, not
// even escaped ones.
func Grammar(schemaJSON []byte) (string, error) {
	p := parser{root: schemaJSON, known: map[string]*schema{}}
	s, err := p.schema(json.RawMessage(schemaJSON), "root", 0)
	if err != nil {
		return "", err
	}
	for _, at := range slices.Sorted(maps.Keys(p.known)) {
		if !p.known[at].ends(nil) {
			return "", fmt.Errorf("engine: schema at %s: it contains itself without an end, because a reply has all "+
				"listed properties; put it into an array, or into anyOf beside null", at)
		}
	}
	g := grammar{shared: map[string]string{}, named: map[*schema]string{}}
	g.rule("root", g.of(s))
	return strings.Join(g.rules, "\n") + "\n", nil
}

// check fills in defaults and returns an error for limits that are not supported.
func (s *schema) check(path string) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("engine: schema at %s: %s", path, fmt.Sprintf(format, args...))
	}
	if len(s.enum) > 0 || s.any != nil || s.pattern != "" {
		return nil
	}
	limit, usual := maxLength, defaultLength
	switch s.kind {
	case "boolean", "object", "null":
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
	shared map[string]string  // body to name
	named  map[*schema]string // targets of $ref
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
	switch {
	case s.target != nil:
		return g.target(s.target)
	case s.any != nil:
		var alts []string
		for _, of := range s.any {
			alts = append(alts, g.of(of))
		}
		return "(" + strings.Join(alts, " | ") + ")"
	case s.pattern != "":
		return g.ref(`"\"" ` + s.pattern + ` "\""`)
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
	case "null":
		return `"null"`
	}
	return g.ref(number(s))
}

// target returns the name of the rule of a schema that $ref names. It may be used in the rule itself.
func (g *grammar) target(s *schema) string {
	name, ok := g.named[s]
	if !ok {
		name = "ref" + strconv.Itoa(len(g.named))
		g.named[s] = name
		g.rule(name, g.of(s))
	}
	return name
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
