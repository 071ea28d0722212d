package param

import (
	"fmt"
	"math"
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
	if limits, ok := tag.Lookup("range"); ok && value.Type() != reflect.TypeFor[time.Duration]() {
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

// Verify returns an *Error for the first number or time of the struct that v points to, at any depth, which is outside
// the range in its tag, or is no finite number, and for the first text that is none of the values in its tag enum. An
// empty text is accepted: it stands for the default.
func Verify(v any) error { return verify("", reflect.Indirect(reflect.ValueOf(v)), false) }

// VerifySet is Verify of a struct that has all defaults, in which no text with a tag enum may be empty.
func VerifySet(v any) error { return verify("", reflect.Indirect(reflect.ValueOf(v)), true) }

func verify(path string, v reflect.Value, set bool) error {
	for f, value := range v.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		var err error
		switch {
		case options == "inline":
			err = verify(path, value, set)
		case f.IsExported() && key != "" && key != "-":
			err = verifyField(path+key, f.Tag, value, set)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func verifyField(key string, tag reflect.StructTag, v reflect.Value, set bool) error {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct:
		return verify(key+".", v, set)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			if err := verify(fmt.Sprintf("%s[%d].", key, i), v.Index(i), set); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() == reflect.String:
		list := strings.Split(tag.Get("enum"), "|")
		if s := v.String(); tag.Get("enum") != "" && (s != "" || set) && !slices.Contains(list, s) {
			return &Error{0, "", fmt.Sprintf("%s is %q; it must be one of %s%s", key, s, strings.Join(list, ", "),
				synod.Hint(s, list))}
		}
		return nil
	}
	return verifyNumber(key, tag, v)
}

// verifyNumber checks a number or a time.
func verifyNumber(key string, tag reflect.StructTag, v reflect.Value) error {
	number := 0.0
	switch {
	case v.CanInt():
		number = float64(v.Int())
	case v.CanUint():
		number = float64(v.Uint())
	case v.CanFloat():
		number = v.Float()
	default:
		return nil
	}
	low, high, _ := strings.Cut(tag.Get("range"), ":")
	unit := tag.Get("unit")
	if unit != "" {
		unit = " " + unit
	}
	var allowed string
	switch {
	case (low == "" || number >= bound(v, low)) && (high == "" || number <= bound(v, high)) &&
		!math.IsNaN(number) && !math.IsInf(number, 0):
		return nil
	case low != "" && high != "":
		allowed = fmt.Sprintf("between %s and %s%s", low, high, unit)
	case low != "":
		allowed = fmt.Sprintf("at least %s%s", low, unit)
	default:
		allowed = "a finite number"
	}
	if example := tag.Get("example"); example != "" {
		allowed += ", such as " + example
	}
	return &Error{0, "", fmt.Sprintf("%s is %v; it must be %s", key, v, allowed)}
}

// bound reads one end of a range, which is a time for a time.
func bound(v reflect.Value, text string) float64 {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		if err != nil {
			panic(fmt.Sprintf("param: the range of a time has the end %q", text))
		}
		return float64(d)
	}
	return *limit(text, text)
}
