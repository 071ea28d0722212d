// Package param decodes the parameters of named things: the keys that stand
// beside a name in a council file, a manifest or a price file.
//
// Decoding is strict. A key that the target struct does not have, or a value of
// the wrong type, is an *Error that names the key, the line if there is one, and
// the nearest known key. Fields that are not given keep the value they had, so a
// caller fills in the defaults first:
//
//	p := SAC{Rounds: 6}
//	err := param.Decode(map[string]any{"rounds": 3}, &p)
//
// The package stands above the root package, whose Hint it uses, and below every
// package that has a catalogue.
package param

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Error says what is wrong with a parameter.
type Error struct {
	Line   int    // line in the YAML text, from 1; 0 if the parameters came from a map
	Key    string // the key that is unknown; "" if the value is wrong
	Reason string // for people, without the line
}

// Error returns the reason, with the line in front of it if there is one.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
	return e.Reason
}

// Decode writes the given parameters into the fields of the struct that into
// points to, by their yaml tags. It returns an *Error for the first key or value
// that the struct cannot take.
func Decode(given map[string]any, into any) error {
	if len(given) == 0 {
		return nil
	}
	text, err := yaml.Marshal(given)
	if err != nil {
		return fmt.Errorf("param: encode: %w", err)
	}
	err = Unmarshal(text, into)
	var bad *Error
	if errors.As(err, &bad) {
		bad.Line = 0 // of a text that nobody wrote
	}
	return err
}

// wholeNumbers returns an error if a number with a fraction is given for an integer
// of type t, at any depth: the YAML decoder would cut the fraction off. key is where
// value stands.
func wholeNumbers(key string, value any, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := value.(type) {
	case float64:
		if v != math.Trunc(v) && t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
			return &Error{0, "", fmt.Sprintf("%s is %v; it must be a whole number", key, v)}
		}
	case []any:
		for _, item := range v {
			if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
				break
			}
			if err := wholeNumbers(key, item, t.Elem()); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if item, ok := typeOf(name, t); ok {
				if err := wholeNumbers(strings.TrimPrefix(key+"."+name, "."), v[name], item); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// typeOf returns the type that a map or a struct has under a YAML key.
func typeOf(key string, t reflect.Type) (reflect.Type, bool) {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), true
	case reflect.Struct:
		f, ok := fieldOf(key, t)
		return f.Type, ok
	}
	return nil, false
}

// fieldOf returns the field that a struct has under a YAML key.
func fieldOf(key string, t reflect.Type) (found reflect.StructField, ok bool) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == key {
			return f, true
		}
		if options == "inline" {
			if found, ok = fieldOf(key, f.Type); ok {
				return found, true
			}
		}
	}
	return found, false
}

// Unmarshal reads YAML text into the value that into points to. It returns an
// *Error if the text is not YAML, or has a key or value that into cannot take.
func Unmarshal(text []byte, into any) error {
	if err := UnmarshalAny(text, into, yaml.Strict()); err != nil {
		return Explain(err, text, into)
	}
	return WholeNumbers(text, into)
}

// WholeNumbers returns an *Error if YAML text that into can take has a number with a
// fraction for an integer, which the decoder cuts off.
func WholeNumbers(text []byte, into any) error {
	if !fraction.Match(text) {
		return nil
	}
	var tree any
	if err := UnmarshalAny(text, &tree); err != nil {
		return Explain(err, text, into)
	}
	return wholeNumbers("", tree, reflect.TypeOf(into))
}

// fraction matches every text that has a number with a fraction.
var fraction = regexp.MustCompile(`[0-9]\.[0-9]*[1-9]|(^|[^0-9])\.[0-9]`)

// UnmarshalAny reads YAML text with the given options and returns the decoder's
// own error. A panic of the decoder becomes an error, and a text that would take
// it too long is one, because the text may come from anywhere.
func UnmarshalAny(text []byte, into any, opts ...yaml.DecodeOption) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", r)
		}
	}()
	if err := checkShape(text); err != nil {
		return err
	}
	err = yaml.UnmarshalWithOptions(text, into, opts...)
	var at yaml.Error
	if len(text) > maxShown && errors.As(err, &at) { // the decoder's own message takes minutes for a long line
		err = &Error{lineOf(at), "", fmt.Sprintf("%.200s", at.GetMessage())}
		var unknown *yaml.UnknownFieldError
		if errors.As(at, &unknown) {
			err = at
		}
	}
	return err
}

// maxShown is the longest text that a decoder's error may show a part of, in bytes.
const maxShown = 16 << 10

func lineOf(err yaml.Error) int {
	if t := err.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// Keys returns the YAML keys that a struct takes, at any depth, sorted.
func Keys(v any) []string {
	names, seen := map[string]bool{}, map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if !f.IsExported() || name == "-" {
				continue
			}
			if name != "" {
				names[name] = true
			}
			visit(f.Type)
		}
	}
	visit(reflect.TypeOf(v))
	return slices.Sorted(maps.Keys(names))
}
