package read

import (
	"regexp"
	"strings"

	"synod.dev/synod"
)

// Words returns the text that a reply has for the reader, without thinking and without the last line, if that announces
// the value. It is "" if there is nothing else. The text is untrusted; its lines and its layout stay.
func Words(r *synod.Reply) string {
	if r.Status != synod.OK || r.Typed {
		return ""
	}
	text := r.Text
	if r.Reread == synod.RereadUsed { // the second reply has only the value
		text = r.Other
	}
	s, ok := canonProse(withoutEndTokens(withoutThinking(finalChannel(strings.TrimSpace(text)))))
	if !ok || len(s) > synod.MaxLong {
		return ""
	}
	if body, wants := judgement(s); wants {
		if _, has := Member(body, answerKey); has { // a value for programs
			return ""
		}
	}
	before, last := "", s
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		before, last = s[:i], s[i+1:]
	}
	if valueLine.MatchString(last) {
		return strings.TrimSpace(before)
	}
	return s
}

// valueLine is a line that has nothing but a value and its announcement.
var valueLine = regexp.MustCompile(`(?i)^[\s>*_#\-]*(?:final )?answer\s*[*_]*\s*[:=\x{ff1a}].*$`)
