package answer

import (
	"regexp"
	"strings"
)

// metaWords match what speaks of the members, of who judges them, of their instructions or of other answers. The
// list is about the subject and has no whole phrases, so that a rewording that names the subject is found too.
var metaWords = regexp.MustCompile(`(?i)\b(?:byzantine|adversar(?:y|ies|ial)|attackers?|malicious|dishonest|hostile|` +
	`compromised|liars?|agents?|members?|peers?|judges?|judged|judging|judgements?|examiners?|graders?|evaluators?|` +
	`reviewers?|readers?|council|committee|consensus|everyone|everybody|anybody|nobody|votes?|voted|voting|` +
	`instructions?|instructed|prompts?|disregard|ignore|forget|overrule|marks?|marked|marking|scores?|scored|grades?|` +
	`graded|grading|ratings?|verdicts?|injected|reasoning|paragraph|audit|tutor|answers|solutions|already agreed|` +
	`(?:answer|author|wrote) (?:yourself|your)|your (?:own|earlier|answer|reply|remarks|log)|you (?:are|were|wrote|have ` +
	`to|must)|system:|assistant:|decode|base64|for (?:the )?(?:calibration|record))\b`)

// sentenceEnd matches the end of a sentence or a line.
var sentenceEnd = regexp.MustCompile(`[.!?;]["')\]]*\s+|\n+`)

// withoutMeta returns a text without the sentences that match metaWords. A word that the question has may stay:
// then the sentence can be about the question.
func withoutMeta(text, question string) string {
	question = strings.ToLower(question)
	var kept strings.Builder
	for text != "" {
		sentence := text
		if at := sentenceEnd.FindStringIndex(text); at != nil {
			sentence = text[:at[1]]
		}
		text = text[len(sentence):]
		if !meta(sentence, question) {
			kept.WriteString(sentence)
		}
	}
	return strings.TrimSpace(kept.String())
}

// meta reports whether a sentence has one of metaWords that the question, in lower case, has not.
func meta(sentence, question string) bool {
	for _, word := range metaWords.FindAllString(sentence, -1) {
		if !strings.Contains(question, strings.ToLower(word)) {
			return true
		}
	}
	return false
}
