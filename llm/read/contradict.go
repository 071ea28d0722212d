package read

import (
	"encoding/json"
	"regexp"
	"slices"

	"synod.dev/synod"
)

// keyMark matches the key of an answer in broken JSON.
var keyMark = regexp.MustCompile(`"answer"\s*:`)

// maxKeys is how often this key may stand in a reply whose JSON is broken.
const maxKeys = 32

// contradicted reports whether a reply with broken JSON may say another answer than a. Where strings have quotation
// marks inside, or an object has no end, a member's own answer may stand in what was taken for a string: it quoted a
// text that began an object. Such an answer is never read, but it makes the reply unreadable.
func (m manner) contradicted(q *synod.Question, s string, a synod.Answer) bool {
	all := objects(s)
	i := slices.IndexFunc(all, func(o object) bool { return !o.whole || !json.Valid([]byte(s[o.from:o.to])) })
	if i < 0 {
		return false
	}
	keys := keyMark.FindAllStringIndex(s[all[i].from:], maxKeys+1)
	if len(keys) > maxKeys {
		return true
	}
	for _, at := range keys {
		from := all[i].from + at[1]
		r := repairer{in: s[:min(len(s), from+maxRaw)], at: from}
		if !r.value(0, false) {
			continue
		}
		if said, ok := valueText(q, r.out); ok && m.says(q, said, a) {
			return true
		}
	}
	last := all[len(all)-1]
	if last.whole {
		return false
	}
	line, ok := answerLine(q, s[last.done:], answerMark)
	if box, boxed := lastBox(line); boxed {
		line = box
	}
	return ok && m.says(q, line, a)
}

// says reports that a text is another answer than a.
func (m manner) says(q *synod.Question, text string, a synod.Answer) bool {
	other, _, ok := m.withSurface(q, text)
	return ok && other != a
}
