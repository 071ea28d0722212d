package task

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// pythonText is a string expression of a Python file: one literal, or several that stand beside each other.
type pythonText struct {
	pieces  []pythonPiece
	printed bool // a paper prints it: one piece, in which braces may also be those of JSON
}

// pythonPiece is one literal without its quotes and escapes. In a format the text has {expressions}.
type pythonPiece struct {
	text   string
	format bool // an f-string
}

// pythonTexts are the string expressions of a file by where they stand: Class.function/name#k.i is the i-th text of
// the k-th statement of the function that assigns to the name, or of the k-th return statement with the name return.
type pythonTexts map[string]pythonText

// maxPython bounds the length of a Python file in bytes.
const maxPython = 4 << 20

// readPython finds the string expressions of a Python file.
func readPython(path string) (pythonTexts, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) > maxPython || !utf8.Valid(data) {
		return nil, fmt.Errorf("task: %s is not a Python file of at most %d bytes in UTF-8", path, maxPython)
	}
	p := pythonReader{text: strings.ReplaceAll(string(data), "\r\n", "\n"), texts: pythonTexts{},
		counts: map[string]int{}, begins: true}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("task: %s: %w", path, err)
	}
	return p.texts, nil
}

// pythonReader reads a file from its beginning to its end.
type pythonReader struct {
	text   string
	at     int
	depth  int  // open brackets
	begins bool // a statement begins at the next line
	scopes []pythonScope
	where  string         // function and name of the statement
	count  int            // texts of the statement so far
	counts map[string]int // statements by where
	last   string         // key of the text that the next literal continues; "": none
	texts  pythonTexts
}

type pythonScope struct {
	indent int
	name   string
	class  bool
}

var (
	pythonDefinition = regexp.MustCompile(`^(?:async\s+)?(def|class)\s+(\w+)`)
	pythonAssignment = regexp.MustCompile(`^((?:self\.)?\w+)\s*(?::[^=\n]*)?=[^=]`)
	pythonReturn     = regexp.MustCompile(`^return\b`)
	pythonLiteral    = regexp.MustCompile(`^(?i:[rbuf]|rb|br|fr|rf)?("""|'''|"|')`)
	pythonWord       = regexp.MustCompile(`^\w+`)
)

func (p *pythonReader) read() error {
	for p.at < len(p.text) {
		if p.begins {
			p.statement()
		}
		rest := p.text[p.at:]
		switch c := rest[0]; {
		case c == '#':
			p.at += strings.IndexByte(rest+"\n", '\n')
		case c == '\n':
			p.begins = p.depth == 0
			p.at++
		case c == '\\' && strings.HasPrefix(rest, "\\\n"):
			p.at += 2
		case c == ' ' || c == '\t':
			p.at++
		case pythonLiteral.MatchString(rest):
			if err := p.literal(rest); err != nil {
				return err
			}
		default:
			p.other(rest)
		}
	}
	return nil
}

// other skips a word or a sign, which ends a text.
func (p *pythonReader) other(rest string) {
	p.last = ""
	switch rest[0] {
	case '(', '[', '{':
		p.depth++
	case ')', ']', '}':
		p.depth = max(p.depth-1, 0)
	}
	p.at += max(1, len(pythonWord.FindString(rest)))
}

// statement notes in which function a statement is, and to which name it assigns.
func (p *pythonReader) statement() {
	line := strings.TrimLeft(p.text[p.at:], " \t")
	if strings.HasPrefix(line, "\n") || strings.HasPrefix(line, "#") {
		return
	}
	indent := len(p.text[p.at:]) - len(line)
	for len(p.scopes) > 0 && indent <= p.scopes[len(p.scopes)-1].indent && line != "" {
		p.scopes = p.scopes[:len(p.scopes)-1]
	}
	if m := pythonDefinition.FindStringSubmatch(line); m != nil {
		p.scopes = append(p.scopes, pythonScope{indent, m[2], m[1] == "class"})
	}
	name := ""
	if m := pythonAssignment.FindStringSubmatch(line); m != nil {
		name = m[1]
	} else if pythonReturn.MatchString(line) {
		name = "return"
	}
	p.where, p.count, p.last, p.begins = p.scope()+"/"+name, 0, "", false
	p.counts[p.where]++
}

// scope names the function, with its class.
func (p *pythonReader) scope() string {
	var names []string
	for _, s := range p.scopes {
		names = append(names, s.name)
	}
	return strings.Join(names, ".")
}

// literal reads one literal and adds it to its text.
func (p *pythonReader) literal(rest string) error {
	m := pythonLiteral.FindStringSubmatch(rest)
	quote, prefix := m[1], strings.ToLower(m[0][:len(m[0])-len(m[1])])
	raw := strings.Contains(prefix, "r")
	i := len(m[0])
	for ; ; i++ {
		switch {
		case i >= len(rest), rest[i] == '\n' && len(quote) == 1:
			return fmt.Errorf("a text at byte %d has no end", p.at)
		case rest[i] == '\\':
			i++
			continue
		}
		if strings.HasPrefix(rest[i:], quote) {
			break
		}
	}
	text := rest[len(m[0]):i]
	if !raw {
		var err error
		if text, err = unescapePython(text); err != nil {
			return fmt.Errorf("a text at byte %d: %w", p.at, err)
		}
	}
	p.at += i + len(quote)
	piece := pythonPiece{text, strings.Contains(prefix, "f")}
	if p.last == "" {
		p.last = fmt.Sprintf("%s#%d.%d", p.where, p.counts[p.where]-1, p.count)
		p.count++
	}
	of := p.texts[p.last]
	of.pieces = append(of.pieces, piece)
	p.texts[p.last] = of
	return nil
}

// unescapePython replaces the escapes of a literal.
func unescapePython(s string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]
		switch simple := strings.IndexByte(`ntr\'"`, s[i]); {
		case s[i] == '\n':
		case simple >= 0:
			out.WriteByte("\n\t\r\\'\""[simple])
		case width > 0:
			if i+width >= len(s) {
				return "", fmt.Errorf("the escape \\%s is not complete", s[i:])
			}
			n, err := strconv.ParseUint(s[i+1:i+1+width], 16, 32)
			if err != nil {
				return "", fmt.Errorf("the escape \\%s is not a number", s[i:i+1+width])
			}
			out.WriteRune(rune(n))
			i += width
		default: // Python keeps an unknown escape
			out.WriteString(`\` + s[i:i+1])
		}
	}
	return out.String(), nil
}

// formatted is a part of a format: a text or an expression.
type formatted struct {
	text       string
	expression bool
}

// splitFormat splits a format into texts and expressions. An expression keeps its format, as in "score:.2f".
func splitFormat(s string) (parts []formatted, err error) {
	text := ""
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "{{"), strings.HasPrefix(s[i:], "}}"):
			text += s[i : i+1]
			i++
		case s[i] == '{':
			end := closing(s[i:])
			if end < 0 {
				return nil, fmt.Errorf("a brace has no end in %q", s[i:min(len(s), i+40)])
			}
			parts = append(parts, formatted{text, false}, formatted{strings.TrimSpace(s[i+1 : i+end]), true})
			text = ""
			i += end
		default:
			text += s[i : i+1]
		}
	}
	return append(parts, formatted{text, false}), nil
}

// closing returns the index of the brace that ends the expression at the beginning of s; -1 if there is none.
func closing(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
