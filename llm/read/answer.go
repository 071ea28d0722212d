// Package read reads what models wrote: answers in one canonical spelling, confidences, scores, grades,
// proposals and votes. It also guesses the form of a typed question.
//
// It is pure: the result depends on the arguments only. All text is untrusted; no text makes a reader
// panic or take more than linear time. It has rank 1, because it needs only the root package, package
// clean and llm/read/refusal; protocols, adversaries, members and graders use it.
package read

import (
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// AnswerIn reads the answer that the text of a reply commits to:
//   - the last "answer" at the top level of a JSON object in the text. Faults of the JSON are repaired (objects).
//   - If there is none: the last line that announces an answer ("Answer: …", "The answer is …", "#### …"), inside
//     the last <answer>…</answer> if there is one and no such line follows it; else the last \boxed{…}; else a text
//     of one short line, which is an answer as a whole. Text inside of an object is none of these.
//
// The first of these that is present decides: if it cannot be read, there is no answer. There is none either if
// the reply has two readable answers that differ: two objects, one key twice, or an object and a later line.
// Of a reply that was cut off (synod.Reply.Cut) only the complete members of objects are read.
// Numbers and labels that merely occur in the text are never read. For a question of the form synod.Stance the
// whole reply is classified (package llm/read/refusal). For synod.Prose the whole reply is the answer.
//
// surface is the answer as the model spelled it, cleaned and at most 120 bytes long. It is untrusted, and is
// shown only beside the name of the member that wrote it.
func AnswerIn(q *synod.Question, text string) (answer synod.Answer, surface string, ok bool) {
	return manner{}.answer(q, text)
}

// BareAnswerIn is AnswerIn for graders: it drops what stands beside a value, as Bare does.
func BareAnswerIn(q *synod.Question, text string) (answer synod.Answer, surface string, ok bool) {
	return manner{bare: true}.answer(q, text)
}

func (m manner) answer(q *synod.Question, text string) (synod.Answer, string, bool) {
	switch {
	case q.Form.Long():
		return m.long(q, text)
	case q.Form == synod.Stance:
		m.cut = false // the beginning of a reply shows what it does
		return m.given(q)(m.stance(m.text(text)))
	case m.strict:
		return m.given(q)(strictCandidate(q, finalText(text)))
	}
	return m.committed(q, m.text(text))
}

// committed reads the answer to which s commits. See AnswerIn.
func (m manner) committed(q *synod.Question, s string) (synod.Answer, string, bool) {
	said, prose, ambiguous := answersIn(q, s)
	if ambiguous {
		return synod.None, "", false
	}
	if m.cut { // a line before the end may be about a step
		prose = ""
	}
	if line, ok := announcement(q, prose); ok && (len(said) == 0 || m.readable(q, line)) {
		said = append(said, line)
	} else if len(said) == 0 && prose == s && isShort(q, s) {
		m.whole = true
		said = append(said, s)
	}
	if len(said) == 0 {
		return synod.None, "", false
	}
	last := len(said) - 1
	answer, surface, ok := m.withSurface(q, said[last])
	for _, other := range said[:last] {
		if a, _, readable := m.withSurface(q, other); readable && a != answer {
			return synod.None, "", false
		}
	}
	if ok && m.contradicted(q, s, answer) {
		return synod.None, "", false
	}
	return answer, surface, ok
}

// answersIn returns the answers in the objects of s, and what of s may announce another: the text after the last
// object with an answer, or all text outside of objects if there is none. ambiguous reports a key that differs
// from "answer" only by letter case or white space.
func answersIn(q *synod.Question, s string) (said []string, prose string, ambiguous bool) {
	var outside strings.Builder
	at := 0
	for _, o := range objects(s) {
		outside.WriteString(s[at:o.from] + "\n")
		at = o.to
		for _, member := range o.members {
			switch {
			case member.Key == answerKey:
				value, _ := valueText(q, member.Value)
				said = append(said, value)
				outside.Reset()
			case strings.EqualFold(strings.TrimSpace(member.Key), answerKey):
				ambiguous = true
			}
		}
	}
	if at == 0 {
		return nil, s, false
	}
	outside.WriteString(s[at:])
	return said, outside.String(), ambiguous
}

// announcement returns the answer that prose announces: by a line, or in a box.
func announcement(q *synod.Question, s string) (string, bool) {
	if inside, after, ok := tagged(s); ok && !isMarked(q, after) {
		s = inside
		if isShort(q, s) && !isMarked(q, s) && !strings.Contains(s, `\boxed`) {
			return s, true
		}
	}
	if line, ok := answerLine(q, s, answerMark); ok {
		if box, ok := lastBox(line); ok {
			return box, true
		}
		return line, true
	}
	return lastBox(s)
}

// isMarked reports that a line of a text announces an answer.
func isMarked(q *synod.Question, s string) bool {
	_, marked := answerLine(q, s, answerMark)
	return marked
}

// isShort reports that a text may be an answer as a whole.
func isShort(q *synod.Question, s string) bool {
	return len(s) <= maxLine && !strings.Contains(s, "\n") &&
		(q.Form != synod.Text || len(strings.Fields(s)) <= maxWords)
}

func (m manner) readable(q *synod.Question, s string) bool {
	_, _, ok := m.withSurface(q, s)
	return ok
}

// Answer reads the answer of a reply. A reply whose status is not OK has none (SAC-10), and neither has one whose
// answer fails a check of the question. exact selects the papers' reader, PaperAnswer. The surface of a typed answer
// is the reply's text if that says the same.
func Answer(q *synod.Question, r *synod.Reply, exact bool) (answer synod.Answer, surface string, ok bool) {
	answer, surface, ok = unchecked(q, r, exact)
	if ok && (r.Failed != nil || len(q.Checks) > 0 && Failed(q, answer) != nil) {
		return synod.None, "", false
	}
	return answer, surface, ok
}

// unchecked is Answer without checks.
func unchecked(q *synod.Question, r *synod.Reply, exact bool) (answer synod.Answer, surface string, ok bool) {
	switch {
	case r.Status != synod.OK:
		return synod.None, "", false
	case r.Typed:
		answer, ok = Canonical(q, string(r.Answer))
		if r.Text != "" && len(r.Text) <= maxSurface && ok && q.Form != synod.Stance {
			if same, _ := Canonical(q, r.Text); same == answer {
				return answer, clean.Line(r.Text, maxSurface), true
			}
		}
		return answer, string(answer), ok
	case exact && !q.Form.Long(): // no paper reads long answers
		return PaperAnswer(q, r.Text)
	}
	return mannerOf(r).answer(q, r.Text)
}

// Score reads the score of a reply. A reply whose status is not OK has none, not even the 0.5 of the paper's
// reader (SAC-10). exact selects the paper's reader, PaperScore.
func Score(r *synod.Reply, exact bool) (synod.Score, bool) {
	switch {
	case r.Status != synod.OK:
		return synod.Untrusted, false
	case r.Typed:
		if !(r.Value >= 0 && r.Value <= 1) { // NaN too
			return synod.Untrusted, false
		}
		return synod.Score(r.Value), true
	case exact:
		return PaperScore(r.Text), true
	}
	return mannerOf(r).score(r.Text)
}

// Reasoning returns the reasoning that a reply gives before its answer, cleaned and cut to max bytes: the
// "reasoning" of the last JSON object that has one, or the text before the last "Answer:". Thoughts are ignored, and
// so is an object that can be read in two ways. The result is untrusted.
func Reasoning(r *synod.Reply, max int) string { return ReasoningText(r, max, clean.How{}) }

// ReasoningText is Reasoning with a choice of what cleaning leaves.
func ReasoningText(r *synod.Reply, max int, how clean.How) string {
	m, text := mannerOf(r), r.Text
	m.cut = false
	if r.Reread == synod.RereadUsed { // the second reply has the answer alone
		text = r.Other
	}
	s := m.text(text)
	body, wants := m.object(s)
	if !wants && !m.strict {
		if all := objects(s); len(all) > 0 {
			if body = all[len(all)-1].json(); TextMember(body, reasoningKey) == "" {
				s = s[:all[0].from]
			} else {
				wants = true
			}
		}
	}
	if wants {
		return clean.Text(TextMember(body, reasoningKey), max, how)
	}
	if i := lastFold(s, "answer:"); i >= 0 {
		s = strings.TrimRight(s[:i], " \t\r\n*_#>")
	}
	return clean.Text(s, max, how)
}
