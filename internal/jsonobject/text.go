package jsonobject

import (
	"unicode/utf16"
	"unicode/utf8"
)

// bare are the bytes that stand for themselves in the JSON strings that this program writes.
var bare = func() (all [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		all[c] = c != '"' && c != '\\'
	}
	return all
}()

// AppendQuoted appends a text as JSON.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		begin := i
		for i < len(s) && bare[s[i]] {
			i++
		}
		if b = append(b, s[begin:i]...); i < len(s) {
			r, size := utf8.DecodeRuneInString(s[i:])
			b, i = appendRune(b, r), i+size
		}
	}
	return append(b, '"')
}

// AppendText appends a valid JSON string, of which raw is what stands between the quotes, as it is read.
func AppendText(b, raw []byte) []byte {
	b = append(b, '"')
	for i := 0; i < len(raw); {
		begin := i
		for i < len(raw) && bare[raw[i]] {
			i++
		}
		if b = append(b, raw[begin:i]...); i < len(raw) {
			r, size := nextRune(raw[i:])
			b, i = appendRune(b, r), i+size
		}
	}
	return append(b, '"')
}

// Unquote reads a valid JSON string.
func Unquote(b []byte) string {
	raw := b[1 : len(b)-1]
	plain := 0
	for plain < len(raw) && bare[raw[plain]] {
		plain++
	}
	if plain == len(raw) {
		return string(raw)
	}
	out := append(make([]byte, 0, len(raw)), raw[:plain]...)
	for i := plain; i < len(raw); {
		if c := raw[i]; bare[c] {
			out, i = append(out, c), i+1
			continue
		}
		r, size := nextRune(raw[i:])
		out, i = utf8.AppendRune(out, r), i+size
	}
	return string(out)
}

// String returns the text of the JSON string that b consists of; false if b is another value or none.
func String(b []byte) (text string, ok bool) {
	if s := (scan{in: b}); len(b) < 2 || b[0] != '"' || s.text(0) != len(b) {
		return "", false
	}
	return Unquote(b), true
}

// nextRune reads the character with which a part of a valid JSON string begins. What is no character is U+FFFD, as
// encoding/json reads it.
func nextRune(raw []byte) (r rune, size int) {
	if raw[0] != '\\' {
		return utf8.DecodeRune(raw)
	}
	switch raw[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r = hexRune(raw[2:6])
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
			if r = utf16.DecodeRune(r, hexRune(raw[8:12])); r != utf8.RuneError {
				return r, 12
			}
		}
		return utf8.RuneError, 6
	}
	return rune(raw[1]), 2
}

// appendRune appends a character of a JSON string. The line separators are escaped, because they end a line in
// JavaScript.
func appendRune(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case 0x2028, 0x2029:
		return append(b, '\\', 'u', '2', '0', '2', digits[r&0xf])
	}
	if r < ' ' {
		return append(b, '\\', 'u', '0', '0', digits[r>>4], digits[r&0xf])
	}
	return utf8.AppendRune(b, r)
}
