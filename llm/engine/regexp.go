package engine

import (
	"fmt"
	"regexp"
	"strings"
)

// maxRegexp is the longest regular expression that Regexp returns, in bytes.
const maxRegexp = 64 << 10

// The parts of a GBNF rule, and a rule: literals and character classes, names of rules, and the rest.
var (
	grammarPart = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[a-z][a-z0-9-]*|\{[0-9,]*\}|[()|?*+ ]`)
	grammarRule = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*) ::= (.*)$`)
)

// Regexp returns a regular expression for the texts of a grammar, for engines that read no GBNF. It fails for a
// grammar whose rules contain themselves. The syntax is that of Python and Perl: Go's has no \u.
func Regexp(grammar string) (string, error) {
	rules := map[string]string{}
	for _, m := range grammarRule.FindAllStringSubmatch(grammar, -1) {
		rules[m[1]] = m[2]
	}
	var out strings.Builder
	if err := expand(&out, rules, "root", len(rules)); err != nil {
		return "", err
	}
	return out.String(), nil
}

// expand writes a rule. It may go through so many more rules.
func expand(out *strings.Builder, rules map[string]string, name string, more int) error {
	parts := grammarPart.FindAllString(rules[name], -1)
	if len(parts) == 0 || strings.Join(parts, "") != rules[name] || more == 0 || out.Len() > maxRegexp {
		return fmt.Errorf("engine: the grammar's rule %s is unknown, contains itself or is too long", name)
	}
	out.WriteString("(?:")
	for _, part := range parts {
		switch c := part[0]; {
		case c == ' ':
		case c == '"':
			out.WriteString("(?:" + literalRegexp(part[1:len(part)-1]) + ")")
		case 'a' <= c && c <= 'z':
			if err := expand(out, rules, part, more-1); err != nil {
				return err
			}
		case c == '(':
			out.WriteString("(?:")
		default:
			out.WriteString(part)
		}
	}
	out.WriteString(")")
	return nil
}

// literalRegexp quotes a literal of a grammar. Its escapes mean the same in a regular expression, but for that of a
// quote.
func literalRegexp(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\' || i+1 == len(text):
			out.WriteString(regexp.QuoteMeta(text[i : i+1]))
		case text[i+1] == '"':
			out.WriteByte('"')
			i++
		default:
			out.WriteString(text[i : i+2])
			i++
		}
	}
	return out.String()
}
