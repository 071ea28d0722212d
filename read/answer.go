// Package read reads what models wrote: answers in one canonical spelling, confidences, scores, grades,
// proposals and votes. It also guesses the form of a typed question.
//
// It is pure: the result depends on the arguments only. All text is untrusted; no text makes a reader
// panic or take more than linear time. It has rank 1, because it needs only the root package, package
// clean and task/refusal; protocols, adversaries, members and graders use it.
package read

import (
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/clean"
	"synod.dev/synod/read/notation"
	"synod.dev/synod/task/refusal"
)

const (
	maxSurface = 120 // bytes of a member's own spelling that are kept
	maxLine    = 200 // bytes of a reply that may be an answer as a whole
	maxWords   = 10  // words of such a reply if the answer is free text
)

// AnswerIn reads the answer that the text of a reply commits to. It looks, in this order, for
//   - a JSON object with the key "answer": the whole text, or the fenced block at its end;
//   - the last line that announces an answer ("Answer: …", "The answer is …", "#### …"), inside the last
//     <answer>…</answer> if there is one;
//   - the last \boxed{…};
//   - a text of one short line, which is an answer as a whole.
//
// The first of these that is present decides: if it cannot be read, there is no answer. Numbers and labels
// that merely occur in the text are never read. For a question of the form synod.Stance the whole reply is
// classified (package task/refusal). For synod.Prose the whole reply is the answer.
//
// surface is the answer as the model spelled it, cleaned and at most 120 bytes long. It is untrusted, and is
// shown only beside the name of the member that wrote it.
func AnswerIn(q *synod.Question, text string) (answer synod.Answer, surface string, ok bool) {
	return answerIn(q, text, false)
}

// BareAnswerIn is AnswerIn for graders: it drops what stands beside a value, as Bare does.
func BareAnswerIn(q *synod.Question, text string) (answer synod.Answer, surface string, ok bool) {
	return answerIn(q, text, true)
}

func answerIn(q *synod.Question, text string, bare bool) (synod.Answer, string, bool) {
	var candidate string
	var found bool
	switch {
	case q.Form.Long():
		candidate, found = longReply(q, text)
	case q.Form == synod.Stance:
		candidate, found = stanceReply(q, finalText(text))
	default:
		candidate, found = candidateOf(q, finalText(text))
	}
	if !found {
		return synod.None, "", false
	}
	return withSurface(q, candidate, bare)
}

// withSurface returns the canonical form of a candidate and the candidate as its author wrote it.
func withSurface(q *synod.Question, candidate string, bare bool) (synod.Answer, string, bool) {
	a, ok := canonical(q, candidate, bare)
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

// candidateOf finds the part of a reply in which it commits to its answer.
func candidateOf(q *synod.Question, s string) (string, bool) {
	if body, wants := JSONObject(s); wants {
		v, ok := Member(body, "answer")
		if !ok {
			return "", false
		}
		return scalar(v)
	}
	if inside, ok := tagged(s); ok {
		s = inside
	}
	if line, ok := answerLine(q, s); ok {
		if box, ok := lastBox(line); ok {
			return box, true
		}
		return line, true
	}
	if box, ok := lastBox(s); ok {
		return box, true
	}
	short := len(s) <= maxLine && !strings.Contains(s, "\n")
	if q.Form == synod.Text {
		short = short && len(strings.Fields(s)) <= maxWords
	}
	return s, short
}

// tagged returns the content of the last <answer>…</answer>, which models that reason in tags write.
func tagged(s string) (string, bool) {
	i := strings.LastIndex(s, "<answer>")
	if i < 0 {
		return "", false
	}
	inside, _, closed := strings.Cut(s[i+len("<answer>"):], "</answer>")
	return strings.TrimSpace(inside), closed
}

// answerMark matches the announcement of an answer at the start of a line or sentence, or after a formula.
var answerMark = regexp.MustCompile(`(?i)(?:^|[.!?;:,]["')\]*]*\s+|(?:\\[\])]|\$)\s*|\b(?:so|thus|hence|therefore|and|then|but)\s+)[\s>*_#\-]*` +
	`(?:(?:my|the|our)\s+)?(?:(?:final|correct|best)\s+)*answer` +
	`(?:\s+is\b(?:\s+(?:therefore|thus|then))?\s*[:=]?|\s*[*_]*\s*[:=])`)

// answerLine returns the text after the last announcement of an answer: the rest of its line or, if that is
// empty, the next line.
func answerLine(q *synod.Question, s string) (string, bool) {
	last := true // no line below holds anything
	for end := len(s); end > 0; {
		i := strings.LastIndexByte(s[:end], '\n')
		line := strings.TrimSpace(s[i+1 : end])
		if rest, ok := announced(q, line, last); ok {
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
func announced(q *synod.Question, line string, last bool) (string, bool) {
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
		at := answerMark.FindStringIndex(line)
		if at == nil {
			break
		}
		found = true
		line = strings.TrimPrefix(strings.TrimLeft(line[at[1]:], " \t*_"), "... ")
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "**")), found
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
	return AnswerIn(q, r.Text)
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
	return ScoreIn(r.Text)
}

// Reasoning returns the reasoning that a reply gives before its answer, cleaned and cut to max bytes: the
// "reasoning" of a JSON object, or the text before the last "Answer:". Text before </think> is ignored, and so
// is an object that can be read in two ways. The result is untrusted.
func Reasoning(text string, max int) string { return ReasoningText(text, max, clean.How{}) }

// ReasoningText is Reasoning with a choice of what cleaning leaves.
func ReasoningText(text string, max int, how clean.How) string {
	s := finalText(text)
	if body, wants := JSONObject(s); wants {
		v, whole := Member(body, "reasoning")
		if words, ok := scalar(v); ok && whole && v[0] == '"' {
			return clean.Text(words, max, how)
		}
		return ""
	}
	if i := lastFold(s, "answer:"); i >= 0 {
		s = strings.TrimRight(s[:i], " \t\r\n*_#>")
	}
	return clean.Text(s, max, how)
}

// canonicalStance reads the name of a stance, or else classifies the reply that raw is.
func canonicalStance(raw string) (string, bool) {
	s := strings.TrimSpace(clean.Fold(raw))
	if stance, ok := refusal.Label(strings.TrimRight(notation.Unwrap(s), ".!")); ok {
		return stance, true
	}
	if !strings.ContainsFunc(s, meaningful) {
		return "", false
	}
	return refusal.Classify(s), true
}

// stanceReply returns the part of a reply that its stance is read from: the "answer" of a JSON object, the
// text after the last line that begins with "Answer:", or the whole reply.
func stanceReply(_ *synod.Question, s string) (string, bool) {
	if body, wants := JSONObject(s); wants {
		v, ok := Member(body, "answer")
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
