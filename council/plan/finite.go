package plan

import (
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml"
	"synod.dev/synod/core/param"
)

// notFinite returns a *ConfigError for the first number of a spec that is infinite or not
// a number; nil if there is none. JSON has no such numbers.
func notFinite(spec *Spec) error {
	text, err := yaml.Marshal(spec)
	if err != nil {
		return nil
	}
	tree := map[string]any{}
	if err := param.UnmarshalAny(text, &tree); err != nil {
		return nil
	}
	path, value, found := findNotFinite("", tree)
	if !found {
		return nil
	}
	section, key, _ := strings.Cut(path, ".")
	return &ConfigError{Section: section, Err: fmt.Errorf("%s is %v; it must be a finite number, such as 0.5", key,
		value)}
}

func findNotFinite(path string, v any) (at string, value float64, found bool) {
	switch v := v.(type) {
	case float64:
		return strings.TrimPrefix(path, "."), v, math.IsNaN(v) || math.IsInf(v, 0)
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if at, value, found = findNotFinite(path+"."+key, v[key]); found {
				return at, value, true
			}
		}
	case []any:
		for i, item := range v {
			if at, value, found = findNotFinite(fmt.Sprintf("%s[%d]", path, i), item); found {
				return at, value, true
			}
		}
	}
	return "", 0, false
}
