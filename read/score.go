package read

import (
	"regexp"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/clean"
)

// scoreLine is a line that is a score and nothing else.
var scoreLine = regexp.MustCompile(`^[*_\s]*(?i:(?:final\s+)?score[*_\s]*[:=])?[*_\s]*([0-9]{1,3}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})[*_\s]*\.?[*_\s]*$`)

// ScoreIn reads a score in [0,1] and guesses nothing (SAC-8): the reply is a
// JSON object with a number under "score", or its last line that is not empty is a
// number alone, perhaps after "Score:". What is out of range, signed, a fraction,
// a percentage or prose is no score.
func ScoreIn(text string) (synod.Score, bool) {
	s := spoken(text)
	number := ""
	if body, wants := jsonObject(s); wants {
		v, ok := member(body, "score")
		if !ok || len(v) == 0 || v[0] == '"' {
			return synod.Untrusted, false
		}
		number = string(v)
	} else {
		line := s[strings.LastIndexByte(s, '\n')+1:]
		m := scoreLine.FindStringSubmatch(clean.Head(line, maxLine))
		if m == nil || len(line) > maxLine {
			return synod.Untrusted, false
		}
		number = m[1]
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return synod.Untrusted, false
	}
	return synod.Score(v) + 0, true // -0 becomes 0
}
