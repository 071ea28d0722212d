package llm

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What the quick reader reads, encoding/json reads alike; a completion of the common form is one.
func FuzzReadCompletion(f *testing.F) {
	for text, quick := range map[string]bool{
		`{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
			`"content":"4\u00e9\n2"},"finish_reason":"stop","logprobs":null}],"usage":{"prompt_tokens":1}}`: true,
		`{"choices":[{"message":{"content":"a","refusal":null,"tool_calls":null}}]}`:             true,
		`{"choices":[{"message":{"content":"a","refusal":"no"}}]}`:                               false,
		`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]}`:                     false,
		`{"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]}`:                  false,
		`{"choices":[{"message":{"content":"a","Content":"b"}}]}`:                                false,
		`{"choices":[{"message":{"content":"a","content":"b"}}]}`:                                false,
		`{"choices":[{"message":{"content":"a"},"logprobs":{"content":[]}}]}`:                    false,
		`{"choices":[{"message":{"content":"a","reasoning":"r"}}]}`:                              false,
		`{"choices":[],"error":{"message":"x"}}`:                                                 false,
		`{"choices":[{"message":null}]}`:                                                         false,
		`{"choices":[{"finish_reason":"stop"}]}`:                                                 false,
		`{"choices":[{"finish_reason":3,"message":{"content":"a"}}]}`:                            false,
		`{"c\u0068oices":[{"message":{"content":"a"}}],"choices":[{"message":{"content":"b"}}]}`: false,
		`{"choices":[{"message":{"content":"a"}}]`:                                               false, `[]`: false, ``: false,
	} {
		if _, ok := readCompletion([]byte(text)); ok != quick {
			f.Errorf("%s: %t", text, ok)
		}
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok := readCompletion(body)
		var want completion
		if err := json.Unmarshal(body, &want); ok && (err != nil || !reflect.DeepEqual(got, want)) {
			t.Fatalf("%q: %+v; encoding/json reads %+v, %v", body, got, want, err)
		}
	})
}
