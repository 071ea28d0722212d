package wire

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Split finds the members that encoding/json finds, whatever the text, and Join puts them together again.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{`{}`, ` { "a" : 1 , "b":[{"c":"}\""}],"d":null } `, `{"a":1,"a":2}`, `{"\u0061":"\\"}`, `[]`,
		`1`, `{"a":1}x`, `{"a":-1.5e3,"b":true}`, ``, "{\"a\":\n{\"b\":[ ]}\t}", `null`, `{"é":"\ud800"}`, `{"a":"]"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want map[string]json.RawMessage
		err := json.Unmarshal(b, &want)
		got := Split(b)
		if (err == nil && want != nil) != (got != nil) {
			t.Fatalf("%q: %v, %v", b, got, err)
		}
		if got == nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %q; want %q", b, got, want)
		}
		for key, v := range want {
			if string(got[key]) != string(v) {
				t.Fatalf("%q: %s is %q; want %q", b, key, got[key], v)
			}
		}
		var again, first any
		if json.Unmarshal(got.Join(), &again) != nil || json.Unmarshal(b, &first) != nil ||
			!reflect.DeepEqual(again, first) {
			t.Fatalf("%q: joined %s", b, got.Join())
		}
	})
}
