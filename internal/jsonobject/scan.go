package jsonobject

// scan is one pass over a JSON text. It takes what encoding/json takes, at a fraction of the processor time.
type scan struct {
	in   []byte
	most int  // levels of nested objects and lists
	deep bool // there were more
}

// MostLevels is how deep encoding/json goes.
const MostLevels = 10_000

// Valid reports whether a text is one JSON value.
func Valid(b []byte) bool {
	s := scan{in: b, most: MostLevels}
	end := s.value(s.blank(0), 0)
	return end >= 0 && s.blank(end) == len(b)
}

// Each calls a function with the members of the JSON object that b consists of, in order, keys with their quotes. It
// reports whether b is an object, after all members that come before what is wrong, and else whether it is nested
// deeper than a number of levels. Keys and values are parts of b.
func Each(b []byte, levels int, take func(key, value []byte)) (ok, deep bool) {
	s := scan{in: b, most: levels}
	at := s.blank(0)
	if !s.is(at, '{') {
		return false, false
	}
	at = s.blank(at + 1)
	for more := !s.is(at, '}'); more; {
		key, begin, end := s.member(at, 1)
		if end < 0 {
			return false, s.deep
		}
		take(b[at:key:key], b[begin:end:end])
		at = s.blank(end)
		if more = s.is(at, ','); more {
			at = s.blank(at + 1)
		} else if !s.is(at, '}') {
			return false, false
		}
	}
	return s.blank(at+1) == len(b), false
}

// Only returns the element of a list of one, which is part of b; false where b is no such list.
func Only(b []byte) (element []byte, ok bool) {
	s := scan{in: b, most: MostLevels}
	at := s.blank(0)
	if !s.is(at, '[') {
		return nil, false
	}
	begin := s.blank(at + 1)
	end := s.value(begin, 1)
	if end < 0 {
		return nil, false
	}
	at = s.blank(end)
	return b[begin:end:end], s.is(at, ']') && s.blank(at+1) == len(b)
}

// blank returns where the white space that begins at a byte ends.
func (s *scan) blank(at int) int {
	for at < len(s.in) && (s.in[at] == ' ' || s.in[at] == '\n' || s.in[at] == '\t' || s.in[at] == '\r') {
		at++
	}
	return at
}

// is reports whether a byte is there and the wanted one.
func (s *scan) is(at int, c byte) bool { return at < len(s.in) && s.in[at] == c }

// value returns the end of the value that begins at a byte and is in so many levels; -1: there is none.
func (s *scan) value(at, level int) int {
	if at >= len(s.in) {
		return -1
	}
	switch s.in[at] {
	case '"':
		return s.text(at)
	case '{':
		return s.object(at, level+1)
	case '[':
		return s.list(at, level+1)
	case 't':
		return s.word(at, "true")
	case 'f':
		return s.word(at, "false")
	case 'n':
		return s.word(at, "null")
	}
	return s.number(at)
}

func (s *scan) word(at int, word string) int {
	if end := at + len(word); end <= len(s.in) && string(s.in[at:end]) == word {
		return end
	}
	return -1
}

// enter reports whether a level is allowed.
func (s *scan) enter(level int) bool {
	s.deep = s.deep || level > s.most
	return level <= s.most
}

func (s *scan) object(at, level int) int {
	if !s.enter(level) {
		return -1
	}
	if at = s.blank(at + 1); s.is(at, '}') {
		return at + 1
	}
	for {
		_, _, end := s.member(at, level)
		if end < 0 {
			return -1
		}
		switch at = s.blank(end); {
		case s.is(at, '}'):
			return at + 1
		case !s.is(at, ','):
			return -1
		}
		at = s.blank(at + 1)
	}
}

// member returns where the key that begins at a byte ends, and where its value begins and ends; end -1: there is none.
func (s *scan) member(at, level int) (key, begin, end int) {
	if !s.is(at, '"') {
		return 0, 0, -1
	}
	if key = s.text(at); key < 0 {
		return 0, 0, -1
	}
	colon := s.blank(key)
	if !s.is(colon, ':') {
		return 0, 0, -1
	}
	begin = s.blank(colon + 1)
	return key, begin, s.value(begin, level)
}

func (s *scan) list(at, level int) int {
	if !s.enter(level) {
		return -1
	}
	if at = s.blank(at + 1); s.is(at, ']') {
		return at + 1
	}
	for {
		end := s.value(at, level)
		if end < 0 {
			return -1
		}
		switch at = s.blank(end); {
		case s.is(at, ']'):
			return at + 1
		case !s.is(at, ','):
			return -1
		}
		at = s.blank(at + 1)
	}
}

// text returns the end of the string whose first quote is at a byte.
func (s *scan) text(at int) int {
	for at++; at < len(s.in); at++ {
		switch c := s.in[at]; {
		case bare[c]:
		case c == '"':
			return at + 1
		case c < ' ':
			return -1
		case c == '\\':
			n := escapeLength(s.in[at:])
			if n == 0 {
				return -1
			}
			at += n - 1
		}
	}
	return -1
}

// escapeLength returns how long the escape is that a text begins with; 0: it is none.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hexRune(b[2:6]) >= 0 {
			return 6
		}
	}
	return 0
}

// hexRune reads four hexadecimal digits; -1: they are others.
func hexRune(b []byte) (r rune) {
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// number returns the end of the number that begins at a byte.
func (s *scan) number(at int) int {
	if s.is(at, '-') {
		at++
	}
	if s.is(at, '0') {
		at++
	} else if at = s.digits(at); at < 0 {
		return -1
	}
	if s.is(at, '.') {
		if at = s.digits(at + 1); at < 0 {
			return -1
		}
	}
	if s.is(at, 'e') || s.is(at, 'E') {
		if at++; s.is(at, '+') || s.is(at, '-') {
			at++
		}
		return s.digits(at)
	}
	return at
}

// digits returns the end of the digits that begin at a byte; -1: there is none.
func (s *scan) digits(at int) int {
	begin := at
	for at < len(s.in) && '0' <= s.in[at] && s.in[at] <= '9' {
		at++
	}
	if at == begin {
		return -1
	}
	return at
}
