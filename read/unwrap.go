package read

import "strings"

// unwrap takes away what only dresses an answer: emphasis, code marks, quotes,
// math delimiters, a box, one trailing full stop. Each step shortens s.
func unwrap(s string) string {
	for {
		t := strings.TrimSpace(s)
		for _, w := range wrappers {
			if len(t) > len(w.open)+len(w.shut) && strings.HasPrefix(t, w.open) && strings.HasSuffix(t, w.shut) {
				inner := t[len(w.open) : len(t)-len(w.shut)]
				if !strings.Contains(inner, w.shut) {
					t = inner
				}
				break
			}
		}
		if n := len(t); n > 1 && (t[n-1] == '.' || t[n-1] == ',' || t[n-1] == ';') && t[n-2] != '.' && t[n-2] != '\\' {
			t = t[:n-1]
		}
		if inner, ok := boxedWhole(t); ok {
			t = inner
		}
		if t == s {
			return s
		}
		s = t
	}
}

var wrappers = []struct{ open, shut string }{
	{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}, {"**", "**"}, {"__", "__"}, {"*", "*"},
	{"```", "```"}, {"`", "`"}, {`"`, `"`}, {"'", "'"}, {"\u201c", "\u201d"}, {"\u2018", "\u2019"}, {"\u00ab", "\u00bb"},
}

// boxedWhole returns what is in the box if s is nothing but a \boxed{…}, or a
// \text{…} and its like.
func boxedWhole(s string) (string, bool) {
	if inner, rest, ok := cutBox(s); ok {
		return inner, rest == ""
	}
	for _, name := range textual {
		if t, found := strings.CutPrefix(s, name); found {
			if inner, rest, ok := cutGroup(t); ok {
				return inner, rest == ""
			}
		}
	}
	return "", false
}

// textual are the commands that only set their argument in some type.
var textual = []string{`\text`, `\textrm`, `\mathrm`, `\mbox`, `\textbf`, `\mathbf`}

// cutBox cuts a \boxed{…} or \fbox{…} from the start of s.
func cutBox(s string) (inner, rest string, ok bool) {
	t, found := strings.CutPrefix(s, `\boxed`)
	if !found {
		if t, found = strings.CutPrefix(s, `\fbox`); !found {
			return "", "", false
		}
	}
	return cutGroup(strings.TrimLeft(t, " "))
}

// cutGroup cuts a balanced {…} from the start of s.
func cutGroup(s string) (inner, rest string, ok bool) {
	if s == "" || s[0] != '{' {
		return "", "", false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[1:i], s[i+1:], true
			}
		}
	}
	return "", "", false
}
