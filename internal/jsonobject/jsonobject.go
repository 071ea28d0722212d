// Package jsonobject splits JSON objects into their members. Unlike a map, the result keeps
// the order and shows keys that stand more than once, which two readers could read in two
// ways.
//
// Its rank is 0: packages read, task and llm/engine use it.
package jsonobject

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Member is a key of an object and its value, in JSON.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Members returns the members of the object that raw consists of, in order. It returns an error
// if raw is not valid JSON, not an object, or has a key twice. Values are parts of raw.
func Members(raw []byte) (members []Member, err error) {
	ok, _ := Each(raw, MostLevels, func(key, value []byte) {
		members = append(members, Member{Unquote(key), value})
	})
	if !ok {
		var whole json.RawMessage
		if err := json.Unmarshal(raw, &whole); err != nil {
			return nil, fmt.Errorf("broken JSON: %w", err)
		}
		return nil, errors.New("it is not a JSON object")
	}
	if key, twice := repeated(members); twice {
		return nil, fmt.Errorf("the key %q is repeated", key)
	}
	return members, nil
}

// repeated returns a key that stands more than once. Few keys are compared with one another, which is faster.
func repeated(members []Member) (key string, twice bool) {
	if len(members) <= 8 {
		for i := range members {
			for k := range i {
				if members[k].Key == members[i].Key {
					return members[i].Key, true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]bool, len(members))
	for i := range members {
		if key = members[i].Key; seen[key] {
			return key, true
		}
		seen[key] = true
	}
	return "", false
}
