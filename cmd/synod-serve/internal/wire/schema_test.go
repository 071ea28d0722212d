package wire

import "testing"

// Anthropic's output_config has the schema of the answer; what else it has is named or refused.
func TestOutputConfig(t *testing.T) {
	const body = `{"model": "a", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}], "output_config": `
	r, e := ReadMessages([]byte(body+`{"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}}}`),
		Rules{})
	if e != nil || string(r.Schema) != `{"type": "object"}` || len(r.Ignored) != 1 {
		t.Errorf("%+v, %v", r, e)
	}
	for _, bad := range []string{`{"format": {"type": "xml"}}`, `{"format": {"type": "json_schema"}}`, `7`} {
		if r, e := ReadMessages([]byte(body+bad+"}"), Rules{}); e == nil || e.Param != "output_config" {
			t.Errorf("%s: %+v, %v", bad, r, e)
		}
	}
}
