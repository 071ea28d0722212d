package read

import (
	"synod.dev/synod"
)

// structured reads a JSON value or a call: the "answer" of the object that the reply is, if that can be read;
// otherwise the object itself. An object that is not well-formed, or stands in other text, is read like other
// answers: repaired, and not if the reply has another one that differs.
func (m manner) structured(q *synod.Question, text string) (synod.Answer, string, bool) {
	body, ok := strictObject(text)
	if !ok {
		body = m.text(text)
	}
	if answer, shown, ok := m.valueOf(q, body); ok || m.strict {
		return answer, shown, ok
	}
	found := synod.None
	for _, o := range objects(m.text(text)) {
		answer, _, ok := m.valueOf(q, o.json())
		if ok && found != synod.None && answer != found {
			return synod.None, "", false
		}
		if ok {
			found = answer
		}
	}
	return found, "", found != synod.None
}

// valueOf reads the answer of an object, or the object itself.
func (m manner) valueOf(q *synod.Question, body string) (synod.Answer, string, bool) {
	if v, has := Member(body, answerKey); has {
		if answer, shown, ok := m.withSurface(q, string(v)); ok {
			return answer, shown, true
		}
	}
	return m.given(q)(body, body != "")
}
