package formula

import (
	"fmt"
	"strings"
)

// command reads a backslash and what belongs to it.
func (l *lexer) command() error {
	rest := l.in[1:]
	name := rest[:len(rest)-len(strings.TrimLeft(rest, letters))]
	if name == "" {
		return l.escaped(rest)
	}
	l.in = rest[len(name):]
	switch {
	case name == "mathbb" && strings.HasPrefix(strings.TrimLeft(l.in, " "), "R"): // \mathbb R
		l.in = strings.TrimLeft(l.in, " ")[1:]
		l.put(kindName, "reals")
	case name == "left" || name == "right":
		if t := strings.TrimLeft(l.in, " "); strings.HasPrefix(t, ".") {
			l.in = t[1:]
		}
	case silent[name]:
		l.space = true
	case textual[name] || name == "begin" || name == "end":
		return l.argument(name)
	case same[name] != "":
		l.in = same[name] + l.in
	default:
		l.put(kindName, name)
	}
	return nil
}

// escaped reads a backslash before a character that is no letter.
func (l *lexer) escaped(rest string) error {
	if rest == "" {
		return errUnreadable
	}
	l.in = rest[1:]
	switch c := rest[0]; c {
	case '!', ',', ';', ':', ' ', '>', '(', ')', '[', ']', '\n':
		l.space = l.space || c != '!'
	case '{', '}', '\\':
		l.symbol(`\` + string(c))
	case '|':
		l.put(kindSymbol, "|")
	case '%', '&':
		l.put(kindSymbol, string(c))
	case '$':
		l.put(kindSymbol, "$")
	default:
		return fmt.Errorf(`formula: \%c is not understood`, c)
	}
	return nil
}

// argument reads \text{…} and \begin{…}.
func (l *lexer) argument(name string) error {
	t := strings.TrimLeft(l.in, " ")
	end := strings.IndexByte(t, '}')
	if !strings.HasPrefix(t, "{") || end < 0 || strings.Contains(t[1:end], "{") {
		return fmt.Errorf(`formula: what \%s is about is not understood`, name)
	}
	inner := strings.TrimSpace(t[1:end])
	l.in = t[end+1:]
	low := strings.ToLower(inner)
	switch {
	case name == "mathbb" && inner == "R":
		l.put(kindName, "reals")
	case name == "begin" || name == "end":
		l.put(kindName, name+":"+inner)
		if name == "begin" && inner == "array" { // its column letters say nothing
			if u := strings.TrimLeft(l.in, " "); strings.HasPrefix(u, "{") {
				if _, after, ok := strings.Cut(u, "}"); ok {
					l.in = after
				}
			}
		}
	case inner == "":
		l.space = true
	case low == "and" || low == "or":
		l.put(kindAnd, low)
	case functions[inner] != "":
		l.put(kindName, functions[inner])
	case len(inner) == 1 && name != "text" && name != "mbox" && name != "textrm" && strings.Contains(letters, inner):
		l.put(kindLetter, inner)
	case strings.Trim(inner, letters+" -'./") == "":
		l.put(kindWord, inner)
	case strings.Trim(inner, letters+" ,") == "" && len(inner) > 4: // a list of words
		for i, part := range strings.Split(inner, ",") {
			if i > 0 {
				l.put(kindSymbol, ",")
			}
			l.put(kindWord, strings.TrimSpace(part))
		}
	default:
		l.in = " " + inner + " " + l.in
	}
	return nil
}
