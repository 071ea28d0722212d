package graph

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"synod.dev/synod"
)

func keysOf(m map[string]any) iter.Seq[string] { return maps.Keys(m) }

// resolve lays params over the family's defaults, strictly: unknown keys and wrong types are errors.
func (f Family) resolve(params map[string]any, seed uint64) (map[string]any, uint64, error) {
	resolved, keys := map[string]any{}, []string{"seed"}
	for _, p := range f.Params {
		resolved[p.Key] = p.Default
		keys = append(keys, p.Key)
	}
	for _, key := range slices.Sorted(keysOf(params)) {
		if key == "seed" {
			s, ok := asInt(params[key])
			if !ok || s < 0 {
				return nil, 0, fmt.Errorf("graph: %s: seed: want a whole number from 0, not %v", f.Name, params[key])
			}
			seed = uint64(s)
			continue
		}
		was, known := resolved[key]
		if !known {
			return nil, 0, fmt.Errorf("graph: %s: unknown parameter %q%s", f.Name, key, didYouMean(key, keys))
		}
		value, err := convert(params[key], was)
		if err != nil {
			return nil, 0, fmt.Errorf("graph: %s: %s: %w", f.Name, key, err)
		}
		resolved[key] = value
	}
	return resolved, seed, nil
}

// convert reads a decoded YAML or JSON value as the type of like.
func convert(value, like any) (any, error) {
	switch like.(type) {
	case int:
		if v, ok := asInt(value); ok {
			return v, nil
		}
		return nil, fmt.Errorf("want a whole number, not %v", value)
	case float64:
		if v, ok := asFloat(value); ok {
			return v, nil
		}
		return nil, fmt.Errorf("want a number, not %v", value)
	case bool:
		if v, ok := value.(bool); ok {
			return v, nil
		}
		return nil, fmt.Errorf("want true or false, not %v", value)
	case string:
		if v, ok := value.(string); ok {
			return v, nil
		}
		return nil, fmt.Errorf("want a word, not %v", value)
	case []int:
		return asInts(value)
	default:
		return asPairs(value)
	}
}

func asFloat(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case float32:
		return asFloat(float64(v))
	}
	i, ok := asInt(value)
	return float64(i), ok
}

func asInt(value any) (int, bool) {
	switch v := value.(type) {
	case int:
		return v, true
	case int64:
		return int(v), true
	case uint64:
		return int(v), v <= math.MaxInt
	case uint:
		return int(v), v <= math.MaxInt
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
	return 0, false
}

func asInts(value any) ([]int, error) {
	switch v := value.(type) {
	case []int:
		return v, nil
	case []any:
		list := make([]int, len(v))
		for k, item := range v {
			i, ok := asInt(item)
			if !ok {
				return nil, fmt.Errorf("entry %d: want a whole number, not %v", k, item)
			}
			list[k] = i
		}
		return list, nil
	}
	return nil, fmt.Errorf("want a list of whole numbers, not %v", value)
}

func asPairs(value any) ([][2]int, error) {
	var pairs [][2]int
	switch v := value.(type) {
	case [][2]int:
		return v, nil
	case [][]int:
		for k, p := range v {
			if len(p) != 2 {
				return nil, fmt.Errorf("entry %d: want a pair of nodes, not %v", k, p)
			}
			pairs = append(pairs, [2]int(p))
		}
		return pairs, nil
	case []any:
		for k, item := range v {
			p, err := asInts(item)
			if err != nil || len(p) != 2 {
				return nil, fmt.Errorf("entry %d: want a pair of nodes, not %v", k, item)
			}
			pairs = append(pairs, [2]int(p))
		}
		return pairs, nil
	}
	return nil, fmt.Errorf("want a list of pairs of nodes, not %v", value)
}

// didYouMean ends an error about an unknown word: the nearest known one, or all of them when none is near.
func didYouMean(word string, known []string) string {
	if hint := synod.Hint(strings.ToLower(word), known); hint != "" {
		return hint
	}
	return " (known: " + strings.Join(known, ", ") + ")"
}

func (s *site) int(key string) int       { return s.built.Params[key].(int) }
func (s *site) float(key string) float64 { return s.built.Params[key].(float64) }
func (s *site) bool(key string) bool     { return s.built.Params[key].(bool) }

// derive records a value that the family worked out from n where the caller left it open.
func (s *site) derive(key string, value any) { s.built.Params[key] = value }

// chance reads a probability.
func (s *site) chance(key string) (float64, error) {
	p := s.float(key)
	if p < 0 || p > 1 {
		return 0, fmt.Errorf("%s: %v is no probability: want 0 to 1", key, p)
	}
	return p, nil
}
