package task

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// How the answers in replies of ZeroEval's models were read when the votes of docs/worth-it.md were made.

var (
	answerField = regexp.MustCompile(`"answer"\s*:\s*`)
	quotedValue = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"`)
	bareValue   = regexp.MustCompile(`^[^\s,{}\[\]"\\]+`)
	answerIs    = regexp.MustCompile(`(?i)answer is:?\s*([^\n]*)`)
	backslashed = regexp.MustCompile(`\\(.)`)
)

// saidAnswer returns the answer in a reply: the last field "answer" of what should be JSON, else the last \boxed{},
// else what follows "the answer is".
func saidAnswer(reply string) (answer string, found bool) {
	if all := answerField.FindAllStringIndex(reply, -1); len(all) > 0 {
		rest := reply[all[len(all)-1][1]:]
		if answer = fieldValue(rest); answer != "" || strings.HasPrefix(rest, `""`) {
			return answer, true
		}
	}
	if answer, found = lastBoxed(reply); found {
		return answer, true
	}
	if all := answerIs.FindAllStringSubmatch(reply, -1); len(all) > 0 {
		answer = strings.Trim(all[len(all)-1][1], " .")
	}
	return answer, answer != ""
}

// fieldValue reads the value at the beginning of a text: a string, also one that was cut off, a list, or a word.
func fieldValue(text string) string {
	switch {
	case strings.HasPrefix(text, `"`):
		m := quotedValue.FindStringSubmatch(text)
		if m == nil {
			line, _, _ := strings.Cut(text[1:], "\n")
			return line
		}
		var value string
		if json.Unmarshal([]byte(strings.ReplaceAll(m[0], "\n", `\n`)), &value) != nil {
			return backslashed.ReplaceAllString(m[1], "$1")
		}
		return value
	case strings.HasPrefix(text, "["):
		if end := strings.IndexByte(text, ']'); end > 0 {
			return text[:end+1]
		}
	}
	return bareValue.FindString(text)
}

// closedAt returns where the bracket that a text begins with is closed; -1: nowhere.
func closedAt(text string, open, shut byte) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func lastBoxed(reply string) (string, bool) {
	const begin = `\boxed`
	i := strings.LastIndex(reply, begin+"{")
	if i < 0 {
		return "", false
	}
	rest := reply[i+len(begin):]
	end := closedAt(rest, '{', '}')
	if end < 0 {
		return "", false
	}
	return rest[1:end], true
}

var (
	voteFraction = regexp.MustCompile(`^(-?)\\d?frac\{(\d+)\}\{(\d+)\}$`)
	voteNumbers  = regexp.MustCompile(`[-+]?(?:\d+(?:\.\d+)?(?:/\d+)?|\.\d+)`)
	zeroDecimals = regexp.MustCompile(`\.0+$`)
)

// longestVote is how many signs are kept of an answer that is no number.
const longestVote = 80

// voteNumber writes an answer with one number as that number, without separators, currency and unit. A fraction stays
// one. An answer with several numbers, or with other signs, is kept as it was written.
func voteNumber(answer, _ string) string {
	text := strings.NewReplacer("$", "", ",", "", "€", "", "£", "", `\%`, "%").Replace(answer)
	text = strings.TrimSpace(text)
	if m := voteFraction.FindStringSubmatch(text); m != nil {
		return m[1] + m[2] + "/" + m[3]
	}
	at := voteNumbers.FindAllStringIndex(text, -1)
	if len(at) != 1 || strings.ContainsAny(text, `\√{^`) {
		return string([]rune(text)[:min(longestVote, utf8.RuneCountInString(text))])
	}
	return zeroDecimals.ReplaceAllString(strings.TrimPrefix(text[at[0][0]:at[0][1]], "+"), "")
}

// voteLiteral writes an answer as Python writes the literal that it is. A text without quotes is one where the right
// answer is that text.
func voteLiteral(answer, gold string) string {
	answer = strings.TrimSpace(answer)
	want, isText := pythonString(gold)
	if isText && answer == want {
		return gold
	}
	if value, ok := literalRepr(answer); ok {
		return value
	}
	if value, ok := literalRepr("'" + answer + "'"); ok && value == gold {
		return gold
	}
	return strings.Trim(answer, `'"`)
}
