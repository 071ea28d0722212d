package journal

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"
)

// FuzzMembers: of every JSON object the members and their texts are those that
// encoding/json finds, and nothing else makes it run wild.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{`{}`, ` { } `, `{"a":1}`, `{"a":"}\"\\,","b":[{"c":":"},[]], "d" : null }`, `{"a":"\u00e9é"}`, `{"a"`, `{"a":}`, `{"a":1,}`, `{"a":1}}`, `["a":1]`, `{"a\":1`, `{"a":"` + "\xff" + `"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		ours := map[string]string{}
		m := members{rest: raw}
		for m.next() {
			var name string
			if json.Unmarshal(m.name, &name) == nil {
				ours[name] = string(m.value)
			}
			var text string
			if want := json.Unmarshal(m.value, &text); want == nil && text != "" && m.text() != text {
				t.Fatalf("%q is %q, not %q", m.value, text, m.text())
			}
		}
		var theirs map[string]json.RawMessage
		if json.Unmarshal(raw, &theirs) != nil || theirs == nil {
			return
		}
		if m.err != nil || !maps.EqualFunc(ours, theirs, func(a string, b json.RawMessage) bool { return bytes.Equal([]byte(a), b) }) || len(theirs) > 0 && m.end() != nil {
			t.Fatalf("%q: %v, want %q", raw, ours, theirs)
		}
	})
}
