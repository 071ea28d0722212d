package read

import (
	"regexp"
	"strings"

	"synod.dev/synod/core/clean"
)

// stance returns the part of a reply that its stance is read from: the "answer" of a JSON object, the
// text after the last line that begins with "Answer:", or the whole reply.
func (m manner) stance(s string) (string, bool) {
	if body, wants := m.object(s); wants {
		v, ok := Member(body, answerKey)
		if !ok {
			return "", false
		}
		words, ok := scalar(v)
		return clean.Head(words, maxRaw), ok
	}
	if marks := answerHead.FindAllStringIndex(s, -1); marks != nil {
		if rest := strings.TrimSpace(s[marks[len(marks)-1][1]:]); rest != "" {
			s = rest
		}
	}
	return clean.Head(s, maxRaw), s != ""
}

var answerHead = regexp.MustCompile(`(?mi)^[\s>*_#]*(?:final |my )?(?:answer|reply)[*_]*:[*_]*`)
