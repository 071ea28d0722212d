package structured

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Embed returns a JSON schema as a part of a larger one, at a JSON pointer of that: references lead to where
// their targets are then, and keywords that no server knows (x-merge, x-tolerance) are removed. The order of
// the properties stays, because models fill in a schema from first to last. Text that is not a schema is
// returned as it is.
func Embed(schema []byte, at string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	e := embedder{d: d, at: at}
	if e.value(inSchema) != nil {
		return bytes.Clone(schema)
	}
	return e.out.Bytes()
}

// context is what an object of a schema is.
type context int

const (
	inSchema context = iota // keywords
	inNames                 // names and their schemas: properties, $defs
	inData                  // a value: enum, const, default, examples
)

type embedder struct {
	d   *json.Decoder
	out bytes.Buffer
	at  string
}

func (e *embedder) value(c context) error {
	t, err := e.d.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return e.object(c)
	case json.Delim('['):
		return e.array(c)
	}
	return e.scalar(t)
}

func (e *embedder) scalar(t json.Token) error {
	encode := json.NewEncoder(&e.out)
	encode.SetEscapeHTML(false)
	err := encode.Encode(t)
	e.out.Truncate(e.out.Len() - 1) // its newline
	return err
}

func (e *embedder) array(c context) error {
	e.out.WriteByte('[')
	for first := true; e.d.More(); first = false {
		if !first {
			e.out.WriteByte(',')
		}
		if err := e.value(c); err != nil {
			return err
		}
	}
	e.out.WriteByte(']')
	_, err := e.d.Token()
	return err
}

func (e *embedder) object(c context) error {
	e.out.WriteByte('{')
	first := true
	for e.d.More() {
		t, err := e.d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if c == inSchema && (strings.HasPrefix(key, "x-") || key == "$schema") {
			var skipped json.RawMessage
			if err := e.d.Decode(&skipped); err != nil {
				return err
			}
			continue
		}
		if !first {
			e.out.WriteByte(',')
		}
		first = false
		if err := e.scalar(key); err != nil {
			return err
		}
		e.out.WriteByte(':')
		if err := e.member(c, key); err != nil {
			return err
		}
	}
	e.out.WriteByte('}')
	_, err := e.d.Token()
	return err
}

// member writes the value of a key.
func (e *embedder) member(c context, key string) error {
	switch {
	case c == inSchema && key == "$ref":
		t, err := e.d.Token()
		if ref, ok := t.(string); ok && strings.HasPrefix(ref, "#") {
			t = "#" + e.at + ref[1:]
		}
		if err != nil {
			return err
		}
		return e.scalar(t)
	case c == inSchema && (key == "properties" || key == "$defs" || key == "definitions"):
		return e.value(inNames)
	case c == inSchema && (key == "enum" || key == "const" || key == "default" || key == "examples"):
		return e.value(inData)
	case c == inNames:
		return e.value(inSchema)
	}
	return e.value(c)
}
