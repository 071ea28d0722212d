package read

import (
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/clean"
	"synod.dev/synod/task/refusal"
)

// canonicalStance reads the name of a stance, or else classifies the reply that raw is.
func canonicalStance(raw string) (string, bool) {
	s := strings.TrimSpace(clean.Fold(raw))
	if stance, ok := refusal.Label(strings.TrimRight(unwrap(s), ".!")); ok {
		return stance, true
	}
	if !strings.ContainsFunc(s, meaningful) {
		return "", false
	}
	return refusal.Classify(s), true
}

// stanceReply is the part of a reply that its stance is read from: the "answer" of
// a JSON reply, what follows a last line that begins with "Answer:", else all of it.
func stanceReply(_ *synod.Question, s string) (string, bool) {
	if body, wants := jsonObject(s); wants {
		v, ok := member(body, "answer")
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
