package gateway

import (
	"strings"
	"testing"

	"synod.dev/synod/internal/llmtest"
)

// Checks of a request and of the council file are applied together, and the object synod says which passed.
func TestChecksOfARequest(t *testing.T) {
	stub := watch(t, func(c llmtest.Call) string {
		if c.Said != "" {
			return "Answer: 42"
		}
		return llmtest.Fixed("99", 0.5)(c)
	})
	h := open(t, map[string]string{"seven": stubbed(stub.URL, "rule: {name: majority}",
		"checks: [{name: even, cel: 'self < 98 || self > 98', says: no}]"), "bare": stubbed(stub.URL)})
	r := h.post(t, chats, questionBody("seven", sum, `"synod": {"checks": [{"name": "small", "cel": "self < 50"}]}`))
	var got struct{ Synod Report }
	r.into(t, &got)
	if r.StatusCode != 200 || got.Synod.Text != "42" || len(got.Synod.Checks) != 2 || !got.Synod.Checks[1].Passed ||
		got.Synod.Checks[1].Name != "small" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	calls := stub.total.Load()
	for checks, want := range map[string]string{
		`[{"name": "x", "command": ["sh", "-c", "id"]}]`:               "council file of the operator",
		`[{"name": "x", "cel": "self <"}]`:                             "check x",
		`[{"name": "even", "cel": "true"}]`:                            "another check that is called even",
		`[{"name": "x", "cel": "true", "mount": "/"}]`:                 "belong to a command",
		`[{"name": "x", "cel": "true", "shell": "/"}]`:                 "shell",
		`[{"name": "x", "regex": "(a+)+$", "schema": {}}]`:             "2 of cel",
		`[{"name": "x", "cel": "` + strings.Repeat("1+", 600) + `1"}]`: "1000 bytes",
	} {
		r := h.post(t, chats, questionBody("seven", sum, `"synod": {"checks": `+checks+`}`))
		if p := r.problem(t); r.StatusCode != 400 || !strings.Contains(p.Error.Message, want) {
			t.Errorf("%s: %d %s; want %s", checks, r.StatusCode, r.body, want)
		}
	}
	if stub.total.Load() != calls {
		t.Error("a bad check reached the members")
	}
}
