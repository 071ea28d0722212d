package read

import (
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// long reads a reply as an answer of a form that is Long: for prose the whole reply without thinking.
func (m manner) long(q *synod.Question, text string) (synod.Answer, string, bool) {
	if q.Form != synod.Prose {
		return m.structured(q, text)
	}
	s := strings.TrimSpace(withoutThinking(text))
	return m.given(q)(s, s != "")
}

// withoutThinking returns a reply without the thinking that reasoning models write before </think>: if it begins
// with <think>, or if it has no such tag (some servers remove it) and </think> stands alone on a line. A text that
// only mentions the tags stays as it is.
func withoutThinking(reply string) string {
	_, after, ended := strings.Cut(reply, "</think>")
	switch {
	case !ended:
	case strings.HasPrefix(strings.TrimLeft(clean.Head(reply, 1<<10), " \t\r\n"), "<think>"):
		return after
	case !strings.Contains(reply, "<think>"):
		if at := thinkingEnds.FindStringIndex(reply); at != nil {
			return reply[at[1]:]
		}
	}
	return reply
}

var thinkingEnds = regexp.MustCompile(`(?m)^[ \t]*</think>[ \t\r]*$`)
