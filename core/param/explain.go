package param

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"synod.dev/synod"
)

// NotYAML begins the reason of an *Error for a text that is not YAML.
const NotYAML = "this cannot be read as YAML"

// Explain turns the error of UnmarshalAny for a text into an *Error: it names the key with its path, the value, what
// the key takes, and an example. It returns nil for a nil error.
func Explain(err error, text []byte, into any) error {
	var known *Error
	var unknown *yaml.UnknownFieldError
	var at yaml.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &unknown):
		key := unknown.Token.Value
		return &Error{unknown.Token.Position.Line, key, stray(key, text, reflect.TypeOf(into))}
	}
	line := 0
	if errors.As(err, &at) {
		line = lineOf(at)
	}
	var tree any
	if UnmarshalAny(text, &tree) == nil {
		if key, reason := mismatch("", tree, reflect.TypeOf(into), ""); reason != "" {
			return &Error{cmp.Or(line, lineOfKey(text, key)), "", strings.TrimPrefix(key+": "+reason, ": ")}
		}
	}
	if at != nil {
		return &Error{line, "", NotYAML + ": " + at.GetMessage()}
	}
	return &Error{0, "", strings.TrimSpace(err.Error())}
}

// stray says where a text has a key that is unknown there, and names the key that was meant: one of the same group, the
// same key of another group, or any similar one.
func stray(key string, text []byte, t reflect.Type) string {
	var tree any
	where, near := "", []string(nil)
	if len(text) <= maxShown && UnmarshalAny(text, &tree) == nil {
		where, near, _ = group(key, "", tree, t)
	}
	all := slices.DeleteFunc(Keys(reflect.New(t).Elem().Interface()), func(other string) bool { return other == key })
	advice := cmp.Or(translated(key, near), hint(key, near))
	if other := pathOf(key, "", t, nil); advice == "" && other != "" {
		advice = fmt.Sprintf(" (did you mean %q?)", other)
	}
	if len(key) > 2 { // to one or two letters, something unrelated is always near
		advice = cmp.Or(advice, hint(key, all))
	}
	reason := fmt.Sprintf("unknown key %q%s", key, advice)
	if where != "" {
		return where + ": " + reason
	}
	return reason
}

// group returns the path of the group of keys that has a key which its type does not, and the keys that the type has.
func group(key, path string, v any, t reflect.Type) (where string, known []string, found bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
				break
			}
			if where, known, found = group(key, fmt.Sprintf("%s[%d]", path, i), item, t.Elem()); found {
				return where, known, true
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			item, ok := typeOf(name, t)
			if !ok && t.Kind() == reflect.Struct && name == key {
				return path, keysOf(t), true
			}
			if !ok {
				continue
			}
			if where, known, found = group(key, strings.TrimPrefix(path+"."+name, "."), v[name], item); found {
				return where, known, true
			}
		}
	}
	return "", nil, false
}

// keysOf returns the keys of a struct's own fields.
func keysOf(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			names = append(names, keysOf(f.Type)...)
		case f.IsExported() && name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}

// pathOf returns the path of a key in the groups of keys of a struct, such as rule.support; "" if none has it.
func pathOf(key, path string, t reflect.Type, above []reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(above, t) {
		return ""
	}
	for _, name := range keysOf(t) {
		f, _ := fieldOf(name, t)
		at := strings.TrimPrefix(path+"."+name, ".")
		if name == key {
			return at
		}
		if found := pathOf(key, at, f.Type, append(above, t)); found != "" {
			return found
		}
	}
	return ""
}

const ofServer = "; the address of a server is url under its model: models: {NAME: {provider: openai, url: …}}"

// foreign are keys that other programs have, and what a council file has instead: keys, of
// which the group that has the foreign one has at most one, or advice.
var foreign = map[string]struct{ keys, advice string }{
	"base_url": {"url", ofServer}, "api_base": {"url", ofServer}, "endpoint": {"url", ofServer},
	"api_url": {"url", ofServer}, "baseurl": {"url", ofServer},
	"members": {"seats", ""}, "agents": {"seats", ""}, "budget": {"limits usd", ""}, "max_budget": {"limits usd", ""},
	"system_prompt": {"", "; a council file has no system message: give one with synod ask --system FILE or in the " +
		"request; prompts: FOLDER has the instructions of the members"},
	"judge": {"", "; there is no judge: rule says how the answers of the members are counted, and protocol: {name: " +
		"decentllms} has evaluators"},
}

// translated names what a council file has for a key that other programs have; "" for other keys.
func translated(key string, known []string) string {
	x := foreign[strings.ToLower(key)]
	for own := range strings.FieldsSeq(x.keys) {
		if slices.Contains(known, own) {
			return fmt.Sprintf(" (did you mean %q?)", own)
		}
	}
	return x.advice
}

// secrets are keys under which people write a secret.
var secrets = []string{"api_key", "apikey", "api-key", "key", "token", "secret", "password"}

// hint names the key that was meant.
func hint(key string, known []string) string {
	if slices.Contains(known, "key_env") && slices.Contains(secrets, strings.ToLower(key)) {
		return "; put the key into an environment variable and name it here, as in key_env: OPENAI_API_KEY"
	}
	return synod.Hint(key, known)
}

// lineOfKey returns the line of a key such as limits.deadline; 0 if it is not found.
func lineOfKey(text []byte, key string) int {
	path, err := yaml.PathString("$." + key)
	if err != nil {
		return 0
	}
	node, err := path.ReadNode(strings.NewReader(string(text)))
	if err != nil || node.GetToken() == nil {
		return 0
	}
	return node.GetToken().Position.Line
}

// mismatch returns the first key whose value a type cannot take, and why; "" if there is none.
func mismatch(key string, v any, t reflect.Type, example string) (where, reason string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if own, ok := reflect.New(t).Interface().(interface{ UnmarshalYAML([]byte) error }); ok && v != nil {
		if err := own.UnmarshalYAML(fmt.Append(nil, v)); err != nil {
			return key, err.Error()
		}
		return "", ""
	}
	what, usual := wanted(t)
	if what == "" || v == nil {
		return "", ""
	}
	ok := fits(v, t)
	if !ok {
		shown := fmt.Sprintf("%.60q", fmt.Sprint(v))
		switch v.(type) {
		case []any:
			shown = "a list"
		case map[string]any:
			shown = "a group of keys"
		}
		return key, fmt.Sprintf("%s is not %s (example: %s)", shown, what, cmp.Or(example, usual))
	}
	return within(key, v, t)
}

// within is mismatch for the items of a list and the values of a group.
func within(key string, v any, t reflect.Type) (where, reason string) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if where, reason = mismatch(fmt.Sprintf("%s[%d]", key, i), item, t.Elem(), ""); reason != "" {
				return where, reason
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			item, example := t, ""
			if t.Kind() == reflect.Map {
				item = t.Elem()
			} else if f, ok := fieldOf(name, t); ok {
				item, example = f.Type, cmp.Or(f.Tag.Get("example"), f.Tag.Get("default"))
			} else {
				continue
			}
			path := strings.TrimPrefix(key+"."+name, ".")
			if where, reason = mismatch(path, v[name], item, example); reason != "" {
				return where, reason
			}
		}
	}
	return "", ""
}

// wanted describes the values that a type takes, with an example; "" if it takes any.
func wanted(t reflect.Type) (what, example string) {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration", "10s"
	case k == reflect.Bool:
		return "true or false", "true"
	case k >= reflect.Int && k <= reflect.Uint64:
		return "a whole number", "3"
	case k == reflect.Float32, k == reflect.Float64:
		return "a number", "0.5"
	case k == reflect.String:
		return "a text", "name"
	case k == reflect.Slice, k == reflect.Array:
		return "a list", "[a, b]"
	case k == reflect.Map, k == reflect.Struct:
		return "a group of keys", "{key: value}"
	}
	return "", ""
}

// fits reports whether the decoder takes a value for a type, without what is in it.
func fits(v any, t reflect.Type) bool {
	_, list := v.([]any)
	_, group := v.(map[string]any)
	text := fmt.Sprint(v)
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Duration]():
		_, err := time.ParseDuration(text)
		return err == nil && !list && !group
	case k == reflect.Bool:
		_, ok := v.(bool)
		return ok
	case k >= reflect.Int && k <= reflect.Uint64:
		f, err := strconv.ParseFloat(text, 64)
		return err == nil && f == float64(int64(f)) && (f >= 0 || k <= reflect.Int64)
	case k == reflect.Float32, k == reflect.Float64:
		_, err := strconv.ParseFloat(text, 64)
		return err == nil
	case k == reflect.String:
		return !list && !group
	case k == reflect.Slice, k == reflect.Array:
		return list
	}
	return group
}
