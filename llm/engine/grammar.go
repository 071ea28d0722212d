package engine

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

const (
	defaultLength = 400  // characters of a string whose schema does not say
	maxLength     = 1900 // llama.cpp refuses 2000 repetitions and takes more for "unbounded"
	defaultItems  = 16
	maxRange      = 256 // whole numbers of a bounded number
)

// Grammar makes a GBNF grammar from a JSON schema, for compact JSON whose
// properties come in the order of the schema. Supported are objects, arrays,
// strings (minLength, maxLength), numbers and integers (whole minimum and
// maximum), booleans, enum and const of scalars; anything else is an error.
//
// Everything is bounded, since a small model rambles: a string without
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

// check completes a schema and refuses what cannot be held to.
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

// ref makes a rule of a body, or finds the one it has.
func (g *grammar) ref(body string) string {
	if name, ok := g.shared[body]; ok {
		return name
	}
	name := "r" + strconv.Itoa(len(g.shared))
	g.shared[body] = name
	g.rule(name, body)
	return name
}

// of is a GBNF expression for the values of a schema.
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
	text := "{" // literal text since the last value
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
	raw, _ := json.Marshal(s) // a string always marshals
	return raw
}
