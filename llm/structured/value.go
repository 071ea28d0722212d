package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"synod.dev/synod/internal/order"
)

// The limits of a JSON text.
const (
	MaxBytes = 64 << 10 // of a value, before and after it is canonical
	MaxDepth = 32       // arrays and objects inside one another
	MaxNodes = 4096     // values in all
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of value.
const (
	Null Kind = iota
	Boolean
	Number
	String
	Array
	Object
	kinds // how many there are
)

var kindNames = [kinds]string{"null", "boolean", "number", "string", "array", "object"}

// String returns the name of the kind in JSON Schema.
func (k Kind) String() string { return kindNames[k] }

// Value is a JSON value. It must not be changed.
type Value struct {
	kind    Kind
	number  *big.Rat
	text    string // of a string, or "true" or "false"
	items   []*Value
	members []Member // ascending by key, in the order of RFC 8785
	canon   string   // the canonical text
}

// Member is a key of an object and its value.
type Member struct {
	Key   string
	Value *Value
}

// Kind returns the kind of the value.
func (v *Value) Kind() Kind { return v.kind }

// String returns the canonical text: the JSON Canonicalization Scheme of RFC 8785, except that numbers are
// exact and not rounded to 64 bits. Two values are equal if and only if their canonical texts are.
func (v *Value) String() string { return v.canon }

// MarshalJSON returns the canonical text.
func (v *Value) MarshalJSON() ([]byte, error) { return []byte(v.canon), nil }

// Member returns the value of a key of an object; nil if there is none.
func (v *Value) Member(key string) *Value {
	i, found := slices.BinarySearchFunc(v.members, key, func(m Member, k string) int { return compareKeys(m.Key, k) })
	if !found {
		return nil
	}
	return v.members[i].Value
}

// Items returns the items of an array; nil for other values.
func (v *Value) Items() []*Value { return v.items }

// Members returns the members of an object in canonical order; nil for other values.
func (v *Value) Members() []Member { return v.members }

// Text returns the characters of a string; "" for other values.
func (v *Value) Text() string {
	if v.kind != String {
		return ""
	}
	return v.text
}

// compareKeys compares keys by their UTF-16 code units (RFC 8785, section 3.2.3).
func compareKeys(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// Parse reads one JSON value. It returns an error for text that is not JSON or not UTF-8, that has a key
// twice in one object, or that exceeds a limit: MaxBytes, MaxDepth, MaxNodes, or a number of more than 256
// digits or with an exponent beyond ±400.
func Parse(text []byte) (*Value, error) { return parse(text, MaxBytes) }

func parse(text []byte, most int) (*Value, error) {
	switch {
	case len(text) > most:
		return nil, fmt.Errorf("structured: the JSON has %d bytes; at most %d are read", len(text), most)
	case !utf8.Valid(text):
		return nil, errors.New("structured: the JSON is not valid UTF-8")
	}
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(text))}
	d.UseNumber()
	v, err := d.value(0)
	if err != nil {
		return nil, fmt.Errorf("structured: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("structured: there is text after the JSON value")
	}
	if len(v.canon) > most { // 1e20 is written out
		return nil, fmt.Errorf("structured: the JSON has %d bytes; at most %d are read", len(v.canon), most)
	}
	return v, nil
}

type decoder struct {
	*json.Decoder
	nodes int
}

func (d *decoder) value(depth int) (*Value, error) {
	t, err := d.Token()
	switch {
	case err == io.EOF:
		return nil, errors.New("the JSON is incomplete")
	case err != nil:
		return nil, fmt.Errorf("broken JSON: %w", err)
	}
	if d.nodes++; d.nodes > MaxNodes {
		return nil, fmt.Errorf("the JSON has more than %d values", MaxNodes)
	}
	switch t := t.(type) {
	case nil:
		return &Value{kind: Null, canon: "null"}, nil
	case bool:
		return newBool(t), nil
	case string:
		return newString(t), nil
	case json.Number:
		return newNumber(string(t))
	}
	if depth == MaxDepth {
		return nil, fmt.Errorf("the JSON is nested deeper than %d", MaxDepth)
	}
	if t == json.Delim('[') {
		return d.array(depth)
	}
	return d.object(depth)
}

func (d *decoder) array(depth int) (*Value, error) {
	var items []*Value
	for d.More() {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("broken JSON: %w", err)
	}
	return newArray(items), nil
}

func (d *decoder) object(depth int) (*Value, error) {
	var members []Member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("broken JSON: %w", err)
		}
		key := t.(string) // the decoder accepts nothing else here
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		members = append(members, Member{key, v})
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("broken JSON: %w", err)
	}
	return newObject(members)
}

func newBool(b bool) *Value {
	s := strconv.FormatBool(b)
	return &Value{kind: Boolean, text: s, canon: s}
}

func newString(s string) *Value { return &Value{kind: String, text: s, canon: quote(s)} }

func newArray(items []*Value) *Value {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v.canon)
	}
	b.WriteByte(']')
	return &Value{kind: Array, items: items, canon: b.String()}
}

// newObject sorts the members. It returns an error if a key is repeated.
func newObject(members []Member) (*Value, error) {
	order.Stable(members, func(a, b Member) int { return compareKeys(a.Key, b.Key) })
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			if members[i-1].Key == m.Key {
				return nil, fmt.Errorf("the key %q is repeated", shorten(m.Key))
			}
			b.WriteByte(',')
		}
		b.WriteString(quote(m.Key))
		b.WriteByte(':')
		b.WriteString(m.Value.canon)
	}
	b.WriteByte('}')
	return &Value{kind: Object, members: members, canon: b.String()}, nil
}

// quote writes a string as RFC 8785 does: only what must be escaped is.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ':
			b.WriteRune(r)
		default:
			if i := strings.IndexByte("\b\t\n\f\r", byte(r)); i >= 0 {
				b.WriteByte('\\')
				b.WriteByte("btnfr"[i])
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// shorten cuts untrusted text for an error message.
func shorten(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
