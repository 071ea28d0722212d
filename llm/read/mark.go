package read

import (
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read/notation"
)

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

// strictMark matches the announcement of an answer.
var strictMark = regexp.MustCompile(`(?i)(?:^|[.!?;:,]["')\]*]*\s+|(?:\\[\])]|\$)\s*|\b(?:so|thus|hence|therefore|and|then|but)\s+)[\s>*_#\-]*` +
	`(?:(?:my|the|our)\s+)?(?:(?:final|correct|best)\s+)*answer` +
	`(?:\s+is\b(?:\s+(?:therefore|thus|then))?\s*[:=]?|\s*[*_]*\s*[:=])`)
