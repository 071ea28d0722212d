package read

import (
	"regexp"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// scoreLine matches a line that consists of a score.
var scoreLine = regexp.MustCompile(`^[*_\s]*(?i:(?:final\s+)?score[*_\s]*[:=])?[*_\s]*([0-9]{1,3}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})[*_\s]*\.?[*_\s]*$`)

// ScoreIn reads a score in [0,1] (SAC-8): the number under "score" in a JSON object, or a last line that
// consists of a number, optionally after "Score:". A value that is out of range, signed, a fraction, a
// percentage or in prose is not read.
func ScoreIn(text string) (synod.Score, bool) { return manner{}.score(text) }

func (m manner) score(text string) (synod.Score, bool) {
	s := m.text(text)
	number := ""
	if body, wants := m.object(s); wants {
		v, ok := Member(body, "score")
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

// JSONObject returns the JSON object that a reply to a prompt for judgements consists of, or with which it ends, in a
// block of code. It is well-formed: faults of the model's JSON are repaired (see objects). ok reports that the
// reply is meant as an object: then nothing else of it may be read. The object may be incomplete or have a key
// twice; Member checks it.
func JSONObject(r *synod.Reply) (body string, ok bool) {
	if r.Reader == 0 {
		return strictObject(r.Text)
	}
	m := mannerOf(r)
	return judgement(m.text(r.Text))
}
