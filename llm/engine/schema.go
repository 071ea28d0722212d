package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that a grammar can be made from.
type schema struct {
	kind     string
	props    []property // in the order of the text: it is the order of the output
	items    *schema
	enum     []string // JSON texts
	minLen   int      // of a string, in characters, or of an array, in items
	maxLen   int      // 0: not said
	min, max *int64
}

type property struct {
	name string
	of   *schema
}

// member is a key of a JSON object with its value, in the order of the text,
// which encoding/json's maps lose.
type member struct {
	key   string
	value json.RawMessage
}

func members(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("want a JSON object")
	}
	var out []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: t.(string)} // a decoder gives nothing else here
		if slices.ContainsFunc(out, func(o member) bool { return o.key == m.key }) {
			return nil, fmt.Errorf("key %q twice", m.key)
		}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the object")
	}
	return out, nil
}

// annotations say nothing about which values are valid.
var annotations = []string{"$schema", "$id", "$comment", "title", "description", "default", "examples"}

const maxDepth = 8

func parseSchema(raw json.RawMessage, path string, depth int) (*schema, error) {
	fail := func(format string, args ...any) (*schema, error) {
		return nil, fmt.Errorf("engine: schema at %s: %s", path, fmt.Sprintf(format, args...))
	}
	if depth > maxDepth {
		return fail("nested deeper than %d", maxDepth)
	}
	ms, err := members(raw)
	if err != nil {
		return fail("%v", err)
	}
	s := &schema{}
	for _, m := range ms { // the type decides what the other words mean
		if m.key == "type" && json.Unmarshal(m.value, &s.kind) != nil {
			return fail("type must be one word, is %s", m.value)
		}
	}
	for _, m := range ms {
		if m.key == "type" || slices.Contains(annotations, m.key) {
			continue
		}
		if err := s.keyword(m, path, depth); err != nil {
			return nil, err
		}
	}
	return s, s.check(path)
}

// keyword takes up one word of a schema; an unknown one is an error, because
// output that ignores it would not be what was asked for.
func (s *schema) keyword(m member, path string, depth int) error {
	var err error
	switch s.kind + " " + m.key {
	case "object properties":
		return s.properties(m.value, path, depth)
	case "object required", "object additionalProperties": // we write all listed properties and no other
		return s.closed(m, path)
	case "array items":
		s.items, err = parseSchema(m.value, path+"[]", depth+1)
		return err
	case "array minItems", "string minLength":
		err = json.Unmarshal(m.value, &s.minLen)
	case "array maxItems", "string maxLength":
		if err = json.Unmarshal(m.value, &s.maxLen); err == nil && s.maxLen < 1 {
			err = errors.New("must be at least 1")
		}
	case "integer minimum", "number minimum":
		err = json.Unmarshal(m.value, &s.min)
	case "integer maximum", "number maximum":
		err = json.Unmarshal(m.value, &s.max)
	default:
		if m.key == "enum" || m.key == "const" {
			return s.choices(m, path)
		}
		return fmt.Errorf("engine: schema at %s: %q is not supported for type %q", path, m.key, s.kind)
	}
	if err != nil {
		return fmt.Errorf("engine: schema at %s: %s: want a whole number, have %s", path, m.key, m.value)
	}
	return nil
}

func (s *schema) properties(raw json.RawMessage, path string, depth int) error {
	ms, err := members(raw)
	if err != nil {
		return fmt.Errorf("engine: schema at %s: properties: %w", path, err)
	}
	for _, m := range ms {
		of, err := parseSchema(m.value, path+"."+m.key, depth+1)
		if err != nil {
			return err
		}
		s.props = append(s.props, property{m.key, of})
	}
	return nil
}

// closed checks that writing exactly the listed properties is valid.
func (s *schema) closed(m member, path string) error {
	if m.key == "additionalProperties" {
		var b bool
		if json.Unmarshal(m.value, &b) != nil {
			return fmt.Errorf("engine: schema at %s: additionalProperties must be true or false", path)
		}
		return nil
	}
	var names []string
	if err := json.Unmarshal(m.value, &names); err != nil {
		return fmt.Errorf("engine: schema at %s: required: %w", path, err)
	}
	return nil
}

// choices reads enum or const: strings, numbers and booleans.
func (s *schema) choices(m member, path string) error {
	var values []json.RawMessage
	if m.key == "const" {
		values = []json.RawMessage{m.value}
	} else if err := json.Unmarshal(m.value, &values); err != nil || len(values) == 0 {
		return fmt.Errorf("engine: schema at %s: enum must be a list with something in it", path)
	}
	for _, v := range values {
		text, kind, err := scalar(v)
		if err != nil {
			return fmt.Errorf("engine: schema at %s: %s: %w", path, m.key, err)
		}
		if s.kind != "" && s.kind != kind && (s.kind != "integer" || kind != "number" || strings.ContainsAny(text, ".eE")) {
			return fmt.Errorf("engine: schema at %s: %s is not of type %s", path, text, s.kind)
		}
		if !slices.Contains(s.enum, text) {
			s.enum = append(s.enum, text)
		}
	}
	return nil
}

// scalar writes a value compactly and says of which type it is.
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
