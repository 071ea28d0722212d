package prompt

import (
	"encoding/json"
	"strings"
)

// Reasoning is the reasoning that stands in a reply before its answer, cleaned
// and cut to max bytes: the "reasoning" of a JSON reply, or else what comes
// before the last "Answer:" line. It is untrusted.
func Reasoning(text string, max int) string {
	var reply struct {
		Reasoning string `json:"reasoning"`
	}
	if json.Unmarshal([]byte(text), &reply) == nil {
		return Clean(reply.Reasoning, max)
	}
	if i := strings.LastIndex(text, "Answer:"); i >= 0 {
		text = text[:i]
	}
	return Clean(strings.TrimSpace(text), max)
}
