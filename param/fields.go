package param

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"synod.dev/synod"
)

// Field describes a parameter. Fields makes it from the tags of a struct's field:
//
//	Rounds int    `yaml:"rounds" doc:"rounds after the first answers" range:"0:1000" unit:"rounds"`
//	Score  string `yaml:"score" doc:"how an answer is scored" enum:"stated|likelihood"`
//
// Other tags: default, where an absent key means something else than the value in the struct; example; names, the
// name of a catalogue whose entries are the values.
type Field struct {
	Key     string
	Type    string   // string, bool, integer, number, duration, multiple, list, table, any
	Doc     string   // one sentence without a full stop
	Unit    string   // of a number; "" if it has none
	Default string   // as in YAML; "" if there is none
	Example string   // as in YAML; "" if there is none
	Enum    []string // the allowed values; nil: not listed
	Names   string   // the catalogue with the allowed values; "" if there is none
	Low     *float64 // smallest value; nil: none
	High    *float64 // largest value; nil: none
	Fields  []Field  // of a table, or of the tables in a list
}

// Fields describes the parameters in the struct that v points to, in its order. The values in the struct are the
// defaults. Fields without a yaml key, or with the key "-", are left out. It panics for a tag that cannot be read.
func Fields(v any) []Field {
	if v == nil {
		return nil
	}
	return fieldsOf(reflect.Indirect(reflect.ValueOf(v)))
}

func fieldsOf(v reflect.Value) (all []Field) {
	for f, value := range v.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			all = append(all, fieldsOf(value)...)
		case f.IsExported() && key != "" && key != "-":
			all = append(all, describe(key, f.Tag, value))
		}
	}
	return all
}

func describe(key string, tag reflect.StructTag, value reflect.Value) Field {
	f := Field{Key: key, Doc: tag.Get("doc"), Unit: tag.Get("unit"), Example: tag.Get("example"),
		Names: tag.Get("names")}
	f.Type, f.Fields = typeName(value)
	if list, ok := tag.Lookup("enum"); ok {
		f.Enum = strings.Split(list, "|")
	}
	if limits, ok := tag.Lookup("range"); ok {
		low, high, _ := strings.Cut(limits, ":")
		f.Low, f.High = limit(limits, low), limit(limits, high)
	}
	var given bool
	if f.Default, given = tag.Lookup("default"); !given {
		f.Default = yamlText(value)
	}
	return f
}

func limit(tag, s string) *float64 {
	if s == "" {
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("param: the tag range:%q is not LOW:HIGH", tag))
	}
	return &v
}

// typeName returns the name of a value's type and, for a table or a list of tables, their fields.
func typeName(v reflect.Value) (string, []Field) {
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		v = reflect.Zero(t)
	}
	if t == reflect.TypeFor[time.Duration]() {
		return "duration", nil
	}
	if _, ok := reflect.Zero(t).Interface().(interface{ MarshalText() ([]byte, error) }); ok {
		return "multiple", nil
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return "string", nil
	case k == reflect.Bool:
		return "bool", nil
	case k >= reflect.Int && k <= reflect.Uint64:
		return "integer", nil
	case k == reflect.Float32, k == reflect.Float64:
		return "number", nil
	case k == reflect.Slice, k == reflect.Array:
		if e := t.Elem(); e.Kind() == reflect.Struct {
			return "list", fieldsOf(reflect.Zero(e))
		}
		return "list", nil
	case k == reflect.Struct:
		return "table", fieldsOf(v)
	case k == reflect.Map:
		return "table", nil
	}
	return "any", nil
}

// yamlText returns a value as it is written in YAML; "" for nothing: an absent pointer, an empty text, list or table,
// or no time.
func yamlText(v reflect.Value) string {
	switch k := v.Kind(); {
	case k == reflect.Pointer, k == reflect.Interface:
		if v.IsNil() {
			return ""
		}
		return yamlText(v.Elem())
	case k == reflect.Map, k == reflect.Struct, k == reflect.Slice && v.Len() == 0:
		return ""
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return durationText(d)
	}
	return fmt.Sprint(v.Interface())
}

// durationText returns 1m for 1m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Verify returns an *Error for the first number of the struct that v points to which is outside the range in its tag,
// and for the first text that is none of the values in its tag enum. An empty text is accepted: it stands for the
// default.
func Verify(v any) error { return verify(reflect.Indirect(reflect.ValueOf(v))) }

func verify(v reflect.Value) error {
	for f, value := range v.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		var err error
		switch {
		case options == "inline":
			err = verify(value)
		case f.IsExported() && key != "" && key != "-":
			err = verifyField(describe(key, f.Tag, value), value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func verifyField(f Field, v reflect.Value) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	number := 0.0
	switch {
	case f.Enum != nil && v.Kind() == reflect.String:
		if s := v.String(); s != "" && !slices.Contains(f.Enum, s) {
			return &Error{0, "", fmt.Sprintf("%s is %q; it must be one of %s%s", f.Key, s, strings.Join(f.Enum, ", "),
				synod.Hint(s, f.Enum))}
		}
		return nil
	case v.CanInt():
		number = float64(v.Int())
	case v.CanUint():
		number = float64(v.Uint())
	case v.CanFloat():
		number = v.Float()
	default:
		return nil
	}
	switch {
	case f.Low != nil && f.High != nil && !(number >= *f.Low && number <= *f.High):
		return &Error{0, "", fmt.Sprintf("%s is %v; it must be between %v and %v", f.Key, v, *f.Low, *f.High)}
	case f.Low != nil && !(number >= *f.Low):
		return &Error{0, "", fmt.Sprintf("%s is %v; it must be at least %v", f.Key, v, *f.Low)}
	}
	return nil
}
