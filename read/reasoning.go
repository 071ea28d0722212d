package read

import (
	"strings"

	"synod.dev/synod/clean"
)

// Reasoning is the reasoning that stands in a reply before its answer, cleaned
// and cut to max bytes: the "reasoning" of a JSON reply, or else what comes
// before the last "Answer:". It is read as strictly as the answer: what stands
// before </think> is not said, and an object that could be read in two ways has
// none. It is untrusted.
func Reasoning(text string, max int) string {
	s := spoken(text)
	if body, wants := jsonObject(s); wants {
		v, whole := member(body, "reasoning")
		if words, ok := scalar(v); ok && whole && v[0] == '"' {
			return clean.Line(words, max)
		}
		return ""
	}
	if i := lastFold(s, "answer:"); i >= 0 {
		s = strings.TrimRight(s[:i], " \t\r\n*_#>")
	}
	return clean.Line(s, max)
}
