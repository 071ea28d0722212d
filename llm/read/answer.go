// Package read reads what models wrote: answers in one canonical spelling, confidences, scores, grades,
// proposals and votes. It also guesses the form of a typed question.
//
// It is pure: the result depends on the arguments only. All text is untrusted; no text makes a reader
// panic or take more than linear time. It has rank 1, because it needs only the root package, package
// clean and llm/read/refusal; protocols, adversaries, members and graders use it.
package read

import (
	"encoding/json"
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
	"synod.dev/synod/llm/read/refusal"
)

const (
	maxSurface = 120 // bytes of a member's own spelling that are kept
	maxLine    = 200 // bytes of a reply that may be an answer as a whole
	maxWords   = 10  // words of such a reply if the answer is free text
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

// manner says how a text is read.
type manner struct {
	strict bool // by the readers of version 0
	bare   bool // for graders and the papers' readers, see Bare
	whole  bool // nothing announces the text as an answer, so it must be one as a whole
	cut    bool // the end of the text is missing
}

// mannerOf returns how a reply is read.
func mannerOf(r *synod.Reply) manner { return manner{strict: r.Reader == 0, cut: r.Cut} }

// text returns the part of a reply that is read.
func (m manner) text(reply string) string {
	if m.strict {
		return finalText(reply)
	}
	if m.cut {
		return finished(spoken(reply))
	}
	return spoken(reply)
}

// object is JSONObject for such a part.
func (m manner) object(s string) (body string, ok bool) {
	if m.strict {
		return strictObject(s)
	}
	return judgement(s)
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

// The keys of an object under which an answer and its reasoning stand.
const (
	answerKey    = "answer"
	reasoningKey = "reasoning"
)

// valueText returns the text of a value of an answer. A list of one value is the value. Free text may be any value.
func valueText(q *synod.Question, v json.RawMessage) (string, bool) {
	if text, ok := scalar(v); ok || string(v) == "null" {
		return text, ok
	}
	if q.Form == synod.Text {
		return string(v), true
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil && len(list) == 1 {
		return scalar(list[0])
	}
	return "", false
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

// given returns a function that reads the part of a reply in which it commits to an answer, if it has one.
func (m manner) given(q *synod.Question) func(candidate string, found bool) (synod.Answer, string, bool) {
	return func(candidate string, found bool) (synod.Answer, string, bool) {
		if !found {
			return synod.None, "", false
		}
		return m.withSurface(q, candidate)
	}
}

// withSurface returns the canonical form of a candidate and the candidate as its author wrote it.
func (m manner) withSurface(q *synod.Question, candidate string) (synod.Answer, string, bool) {
	value := candidate
	if at := answerMark.FindStringIndex(value); q.Form == synod.Text && !m.strict && at != nil && at[0] == 0 {
		value = value[at[1]:]
	}
	a, ok := m.canonical(q, value)
	if !ok && !m.strict && !m.whole && !q.Form.Long() && len(candidate) <= maxRaw {
		if value = m.asWritten(q, candidate); value != "" {
			a, ok = m.canonical(q, value)
		}
	}
	if !ok {
		return synod.None, "", false
	}
	switch {
	case q.Form == synod.Stance: // replies with one stance have different texts
		return a, string(a), true
	case q.Form.Long(): // their canonical form is how the member wrote it, or a JSON value
		return a, "", true
	}
	return a, clean.Line(notation.Unwrap(clean.Head(candidate, maxRaw)), maxSurface), true
}

// tagged returns the content of the last <answer>…</answer>, which models that reason in tags write, and what
// follows.
func tagged(s string) (inside, after string, ok bool) {
	i := strings.LastIndex(s, "<answer>")
	if i < 0 {
		return "", "", false
	}
	inside, after, ok = strings.Cut(s[i+len("<answer>"):], "</answer>")
	return strings.TrimSpace(inside), after, ok
}

// answerMark matches the announcement of an answer at the start of a line or sentence, or after a formula, in
// English and, before a colon or "is", in some other languages. It may be the key of an object that has no brace.
var answerMark = regexp.MustCompile(markBegins + "(?:" + englishMark + `|["']answer["']\s*:|` + foreignMark + ")")

const (
	markBegins = `(?i)(?:^|[.!?;:,]["')\]*]*\s+|[\x{3002}\x{ff01}\x{ff0c}]\s*|(?:\\[\])]|\$)\s*|` +
		`\b(?:so|thus|hence|therefore|and|then|but)\s+)[\s>*_#\-]*`
	englishMark = `(?:(?:my|the|our)\s+)?(?:(?:final|correct|best)\s+)*answer` +
		`(?:\s+is\b(?:\s+(?:therefore|thus|then))?\s*[:=]?|\s*[*_]*\s*[:=\x{ff1a}])`
	foreignMark = `(?:(?:la|die|a|el)\s+)?(?:r\x{e9}ponse|antwort|respuesta|resposta|risposta|` +
		`\x{43e}\x{442}\x{432}\x{435}\x{442})` +
		`(?:\s+(?:finale?|correcta|es|est|ist|\x{e8}))*\s*[*_]*\s*(?:[:=\x{ff1a}]|(?:\bes|\best|\bist)\b)|` +
		`(?:\x{6700}\x{7ec8}|\x{6700}\x{7d42}|\x{6b63}\x{786e})?` +
		`(?:\x{7b54}\x{6848}|\x{7b54}\x{3048}|\x{89e3}\x{7b54}|\x{56de}\x{7b54})` +
		`\s*(?:[:\x{ff1a}=]|\x{662f}|\x{4e3a}|\x{306f})\s*[:\x{ff1a}]?`
)

// answerLine returns the text after the last announcement of an answer: the rest of its line or, if that is
// empty, the next line.
func answerLine(q *synod.Question, s string, mark *regexp.Regexp) (string, bool) {
	last := true // no line below holds anything
	for end := len(s); end > 0; {
		i := strings.LastIndexByte(s[:end], '\n')
		line := strings.TrimSpace(s[i+1 : end])
		if rest, ok := announced(q, line, last, mark); ok {
			if rest == "" {
				rest = nextLine(s[end:])
			}
			return rest, rest != ""
		}
		last = last && line == ""
		end = max(i, 0)
	}
	return "", false
}

// nextLine returns the first line of s that is not empty, or the whole displayed formula that it begins.
func nextLine(s string) string {
	s = strings.TrimSpace(s)
	for _, d := range [][2]string{{`\[`, `\]`}, {"$$", "$$"}} {
		if after, ok := strings.CutPrefix(s, d[0]); ok {
			formula, _, closed := strings.Cut(clean.Head(after, maxRaw), d[1])
			if closed {
				return formula
			}
		}
	}
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// announced returns the answer that a line announces. last says that only empty lines follow.
func announced(q *synod.Question, line string, last bool, mark *regexp.Regexp) (string, bool) {
	if rest, ok := strings.CutPrefix(line, "####"); ok && isAnswerAfterHashes(q, rest, last) {
		return strings.TrimSpace(rest), true
	}
	if rest, ok := strings.CutPrefix(line, "A:"); ok && last && q.Form == synod.Number {
		return strings.TrimSpace(rest), true
	}
	if len(line) > 2*maxRaw {
		line = clean.Tail(line, 2*maxRaw)
	}
	found := false
	for {
		at := mark.FindStringIndex(line)
		if at == nil {
			break
		}
		found = true
		line = strings.TrimPrefix(strings.TrimLeft(line[at[1]:], " \t*_"), "... ")
	}
	line = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "**"))
	if mark != strictMark && strings.HasPrefix(line, `"`) { // the end of a broken object
		line = strings.TrimRight(line, "}, ")
	}
	return line, found
}

// isAnswerAfterHashes reports that the text after #### is an answer and not a heading: a number where one may
// be wanted, otherwise an answer on the last line that is not empty.
func isAnswerAfterHashes(q *synod.Question, rest string, last bool) bool {
	rest = strings.TrimSpace(rest)
	if q.Form == synod.Number || q.Form == synod.Math {
		if _, ok := Bare(&synod.Question{Form: synod.Number}, rest); ok {
			return true
		}
	}
	_, ok := Bare(q, rest)
	return ok && last
}

// lastBox returns the content of the last \boxed{…} in s.
func lastBox(s string) (string, bool) {
	i := max(strings.LastIndex(s, `\boxed`), strings.LastIndex(s, `\fbox`))
	if i < 0 {
		return "", false
	}
	inner, _, ok := notation.CutBox(s[i:])
	return inner, ok
}

// Answer reads the answer of a reply. A reply whose status is not OK has none (SAC-10). exact selects the
// papers' reader, PaperAnswer. The surface of a typed answer is the reply's text if that says the same.
func Answer(q *synod.Question, r *synod.Reply, exact bool) (answer synod.Answer, surface string, ok bool) {
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

// canonicalStance reads the name of a stance, or else classifies the reply that raw is.
func (m manner) canonicalStance(raw string) (string, bool) {
	s := strings.TrimSpace(clean.Fold(raw))
	name := strings.TrimRight(notation.Unwrap(s), ".!")
	if stance, ok := refusal.Label(name); ok {
		return stance, true
	}
	if stance, ok := stanceWords[strings.ToLower(name)]; ok && !m.strict {
		return stance, true
	}
	if !strings.ContainsFunc(s, meaningful) {
		return "", false
	}
	return refusal.Classify(s), true
}

// stanceWords are other words for stances than those of package refusal.
var stanceWords = map[string]string{"refused": refusal.Refuses, "complied": refusal.Complies,
	"partially": refusal.Partial,
	"partly":    refusal.Partial, "partial compliance": refusal.Partial, "partially complies": refusal.Partial,
	"partially refuses": refusal.Partial}

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
