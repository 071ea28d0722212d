package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"strings"
	"unicode/utf8"
)

const (
	maxJSON  = 64 << 10 // the longest answer in JSON, in bytes
	maxDepth = 64       // its deepest nesting
)

// readJSON reads one JSON value. Objects with a repeated key are not read, because two readers could read
// different values.
func readJSON(s string) (reading, bool) {
	if len(s) > maxJSON || !utf8.ValidString(s) {
		return reading{}, false
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	v, err := jsonValue(d, 0)
	if err != nil {
		return reading{}, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return reading{}, false
	}
	var flat bytes.Buffer
	if json.Compact(&flat, []byte(s)) != nil {
		return reading{}, false
	}
	return reading{shown: flat.String(), value: v}, true
}

var errJSON = errors.New("not read")

// jsonValue decodes the next value. Equal values are deeply equal: numbers by their value, lists in order, objects in
// any order.
func jsonValue(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil || depth > maxDepth {
		return nil, errJSON
	}
	switch t := t.(type) {
	case json.Number:
		return jsonNumber(string(t))
	case json.Delim:
		if t == '{' {
			return jsonObject(d, depth)
		}
		var all []any
		for d.More() {
			v, err := jsonValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		_, err := d.Token()
		return all, err
	}
	return t, nil
}

func jsonObject(d *json.Decoder, depth int) (any, error) {
	out := map[string]any{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, isString := k.(string)
		if _, again := out[key]; again || !isString {
			return nil, errJSON
		}
		if out[key], err = jsonValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return out, err
}

// jsonNumber refuses huge exponents, which would become huge exact numbers.
func jsonNumber(s string) (any, error) {
	if i := strings.IndexAny(s, "eE"); len(s) > 400 || i >= 0 && len(s)-i > 4 {
		return nil, errJSON
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, errJSON
	}
	return number(r.RatString()), nil
}

// number is a JSON number as a fraction in lowest terms: 1, 1.0 and 10e-1 are the same.
type number string

// outerJSON returns the part of a reply that must be JSON: the fenced block at its end, or the whole reply.
func outerJSON(reply string) string {
	s := strings.TrimSpace(reply)
	if body, fenced := strings.CutSuffix(s, "```"); fenced {
		if i := strings.LastIndex(body, "```"); i >= 0 {
			return strings.TrimPrefix(body[i+3:], "json")
		}
	}
	return s
}

// lastJSON reads the last object or list in a reply. It tries only the last 200 opening brackets.
func lastJSON(reply string) (reading, bool) {
	s := reply[max(0, len(reply)-maxJSON):]
	end := strings.LastIndexAny(s, "}]")
	if end < 0 {
		return reading{}, false
	}
	s = s[:end+1]
	best, found := reading{}, false
	at := len(s)
	for range 200 { // find the longest JSON value that ends there
		if at = strings.LastIndexAny(s[:at], "{["); at < 0 {
			break
		}
		if r, ok := readJSON(s[at:]); ok {
			best, found = r, true
		}
	}
	return best, found
}
