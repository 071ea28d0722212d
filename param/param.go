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
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
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
	if err := wholeNumbers(given, into); err != nil {
		return err
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
// field, which the YAML decoder would cut off.
func wholeNumbers(given map[string]any, into any) error {
	t := reflect.TypeOf(into).Elem()
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		v, isFloat := given[key].(float64)
		if isFloat && v != math.Trunc(v) && f.Type.Kind() >= reflect.Int && f.Type.Kind() <= reflect.Uint64 {
			return &Error{0, "", fmt.Sprintf("%s is %v; it must be a whole number", key, v)}
		}
	}
	return nil
}

// Unmarshal reads YAML text into the value that into points to. It returns an
// *Error if the text is not YAML, or has a key or value that into cannot take.
func Unmarshal(text []byte, into any) error {
	return explain(UnmarshalAny(text, into, yaml.Strict()), into)
}

// UnmarshalAny reads YAML text with the given options and returns the decoder's
// own error. A panic of the decoder becomes an error, because the text may come
// from anywhere.
func UnmarshalAny(text []byte, into any, opts ...yaml.DecodeOption) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("this cannot be read as YAML: %v", r)
		}
	}()
	return yaml.UnmarshalWithOptions(text, into, opts...)
}

// explain turns a decoder's error into an *Error.
func explain(err error, into any) error {
	if err == nil {
		return nil
	}
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) {
		key := unknown.Token.Value
		return &Error{unknown.Token.Position.Line, key, fmt.Sprintf("unknown key %q%s", key, synod.Hint(key, Keys(into)))}
	}
	var wrong *yaml.TypeError
	if errors.As(err, &wrong) {
		return &Error{wrong.Token.Position.Line, "", fmt.Sprintf("%q is not what this key takes", wrong.Token.Value)}
	}
	return &Error{0, "", strings.TrimSpace(yaml.FormatError(err, false, false))}
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
