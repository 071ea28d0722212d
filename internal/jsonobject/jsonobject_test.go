package jsonobject_test

import (
	"fmt"
	"strings"
	"testing"

	"synod.dev/synod/internal/jsonobject"
)

func TestMembers(t *testing.T) {
	for in, want := range map[string]string{
		`{}`: "", ` {"b": 1, "a": [2, {"b": 3}]} `: `b=1 a=[2, {"b": 3}]`, `{"":null}`: "=null",
	} {
		members, err := jsonobject.Members([]byte(in))
		var got []string
		for _, m := range members {
			got = append(got, fmt.Sprintf("%s=%s", m.Key, m.Value))
		}
		if s := strings.Join(got, " "); err != nil || s != want {
			t.Errorf("%s: %q, %v; want %q", in, s, err, want)
		}
	}
	for in, want := range map[string]string{
		``: "broken JSON", `{"a":1`: "broken JSON", `{"a":1} {}`: "broken JSON", `{"a"}`: "broken JSON",
		`[]`: "not a JSON object", `null`: "not a JSON object", `{"a":1,"a":1}`: `the key "a" is repeated`,
		`{"a":1,"\u0061":1}`: `the key "a" is repeated`,
	} {
		if members, err := jsonobject.Members([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", in, members, err, want)
		}
	}
}

// Whatever the text is, Members returns its members or an error.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[1]},"a":2}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if members, err := jsonobject.Members(raw); err != nil && members != nil {
			t.Fatalf("%q: %v and %v", raw, members, err)
		}
	})
}
