// Package jsonobject splits JSON objects into their members. Unlike a map, the result keeps
// the order and shows keys that stand more than once, which two readers could read in two
// ways.
//
// Its rank is 0: packages read, task and llm/engine use it.
package jsonobject

import (
	"bytes"
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
// if raw is not valid JSON, not an object, or has a key twice.
func Members(raw []byte) (members []Member, err error) {
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, fmt.Errorf("broken JSON: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, _ := d.Token(); t != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	seen := map[string]bool{}
	for d.More() { // without errors, because raw is valid
		key, _ := d.Token()
		m := Member{Key: key.(string)}
		_ = d.Decode(&m.Value)
		if seen[m.Key] {
			return nil, fmt.Errorf("the key %q is repeated", m.Key)
		}
		seen[m.Key] = true
		members = append(members, m)
	}
	return members, nil
}
