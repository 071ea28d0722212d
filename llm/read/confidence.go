package read

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

var (
	// confidenceMark announces a confidence at the start of a line or after the answer on its line. A remark
	// in brackets without a digit, or the answer, may follow the value.
	confidenceMark  = regexp.MustCompile(`(?i)(?:^|[\s,;.|({\[*_>#-])(?:my\s+|the\s+)?confidence(?:\s+(?:score|level|value))?["'*_]*\s*(?:[:=]|\bis\b)`)
	confidenceValue = regexp.MustCompile("^[\\s*_\"'`$(\\[{]*" +
		`([0-9]{1,9}(?:[.,][0-9]{1,30})?|\.[0-9]{1,30})(\s?\\?%|\s?(?i:percent)\b)?` + "[*_\"'`$)\\]}]*")
	confidenceTail = regexp.MustCompile(`(?i)^\s*(?:[.;,]?\s*$|[,;|]?\s*[*_]*(?:final\s+)?answer\b|\([^0-9()]{0,200}\)[\s.*_]*$)`)
	decimalComma   = regexp.MustCompile(`^(?:0,[0-9]{1,9}|1,00?)$`) // a comma that can only be a decimal point
)

// ConfidenceIn reads the confidence in [0,1] that a reply states (CP-1): the number under "confidence" in a
// JSON object, or the value on the last line that says "Confidence:", such as 0.9, .9, 0,9 or 90%. A value
// that is signed, out of range, a range, a fraction or a word is not read.
func ConfidenceIn(text string) (float64, bool) {
	_, c := manner{}.confidence(text)
	if c == nil {
		return 0, false
	}
	return *c, true
}

// objectConfidence reads a JSON number, or a string that consists of a value.
func objectConfidence(body string) (float64, bool) {
	v, ok := Member(body, "confidence")
	words, isScalar := scalar(v)
	if !ok || !isScalar {
		return 0, false
	}
	if v[0] != '"' {
		c, err := strconv.ParseFloat(words, 64)
		return c + 0, err == nil && c >= 0 && c <= 1 // -0 becomes 0
	}
	c, rest, ok := confidence(words)
	return c, ok && strings.TrimSpace(rest) == ""
}

// cutConfidence removes the last statement of confidence from prose, so that the rest can be read as an
// answer: "Answer: 1,234, Confidence: 0.9" holds two numbers. ok is false if nothing is stated or if the
// statement cannot be read; a statement that cannot be read is removed all the same.
func cutConfidence(s string) (rest string, c float64, ok bool) {
	for end := len(s); end > 0; {
		begin := strings.LastIndexByte(s[:end], '\n') + 1
		line := s[begin:end]
		marks := confidenceMark.FindAllStringIndex(line, 2)
		if len(line) > 2*maxRaw || len(marks) == 0 {
			end = max(begin-1, 0)
			continue
		}
		before, after := line[:marks[0][0]], line[marks[0][1]:]
		below := s[end:]
		if strings.Trim(after, " \t*_") == "" { // the value stands on the next line
			next := strings.TrimLeft(below, " \t\r\n*_")
			after, below, _ = strings.Cut(next, "\n")
		}
		c, tail, ok := confidence(after)
		ok = ok && len(marks) == 1 && confidenceTail.MatchString(tail)
		if !ok {
			tail = ""
		}
		return s[:begin] + strings.TrimRight(before, " \t,;|*_-(") + "\n" + strings.TrimLeft(tail, " \t.,;|") + "\n" +
			below, c, ok
	}
	return s, 0, false
}

// confidence reads a value from the start of s.
func confidence(s string) (c float64, rest string, ok bool) {
	at := confidenceValue.FindStringSubmatchIndex(s)
	if at == nil {
		return 0, "", false
	}
	number, percent, rest := s[at[2]:at[3]], at[4] >= 0, s[at[1]:]
	if strings.Contains(number, ",") {
		if !decimalComma.MatchString(number) {
			return 0, "", false
		}
		number = strings.Replace(number, ",", ".", 1)
	}
	c, err := strconv.ParseFloat(number, 64)
	if percent {
		if c > 0 && c < 1 { // 0.9 % is more likely a mistake for 90 %
			return 0, "", false
		}
		c /= 100
	}
	return c, rest, err == nil && c >= 0 && c <= 1
}

// firstOutOf matches a number with what it is out of: 0.9, 9/10 or 90 %.
var firstOutOf = regexp.MustCompile(`(-?[0-9]*\.?[0-9]+)(?:\s*/\s*([0-9]+)|\s*(%))?`)

// cutConfidencePaper does what cutConfidence does, as leniently as a paper's code (CP-WBFT Eq. 1, "hierarchical
// extraction"); it is for reproductions only. It reads the first number after the last "confidence". The paper asks for
// a number from 0 to 1 and does not say how it reads others: here 95 % and 95 are 0.95, 9/10 is 0.9, and what is still
// outside [0,1], such as 1.5, is no confidence.
func cutConfidencePaper(s string) (rest string, c float64, ok bool) {
	i := lastFold(s, "confidence")
	if i < 0 {
		return s, 0, false
	}
	line, below, _ := strings.Cut(s[i:], "\n")
	c, ok = paperNumber(line)
	return strings.TrimRight(s[:i], " \t,;|*_\"'") + "\n" + below, c, ok
}

// paperNumber reads the first number of a line as a confidence.
func paperNumber(line string) (c float64, ok bool) {
	at := firstOutOf.FindStringSubmatch(line)
	if at == nil {
		return 0, false
	}
	c, err := strconv.ParseFloat(at[1], 64)
	of := 1.0
	switch {
	case at[2] != "":
		var bad error
		of, bad = strconv.ParseFloat(at[2], 64)
		err = errors.Join(err, bad)
	case at[3] != "" || c >= 2 && c == math.Trunc(c): // 95 % or 95
		of = 100
	}
	c /= of
	return c, err == nil && c >= 0 && c <= 1 // not NaN
}

// Confident is an answer and the confidence that its author states for it.
type Confident struct {
	Answer     synod.Answer
	Surface    string   // the answer as its author spelled it, untrusted
	Confidence *float64 // in [0,1]; nil if it is missing or could not be read
}

// ConfidentAnswer reads a reply to a prompt that asks for an answer and, depending on mode, a confidence
// (CP-1, CP-2). A reply with an answer and without a readable confidence is an answer; its weight is for the
// protocol to decide. exact selects the papers' readers.
func ConfidentAnswer(q *synod.Question, r *synod.Reply, mode synod.ConfidenceMode, exact bool) (c Confident, ok bool) {
	read := *r
	if mode == synod.StatedConfidence && !r.Typed && r.Status == synod.OK {
		read.Text, c.Confidence = splitStatement(r, exact)
	}
	if mode != synod.NoConfidence && r.Confidence != nil {
		c.Confidence = nil
		if v := *r.Confidence; v >= 0 && v <= 1 { // not NaN
			c.Confidence = &v
		}
	}
	c.Answer, c.Surface, ok = Answer(q, &read, exact)
	return c, ok
}

// splitStatement splits a reply into the text that holds its answer and the stated confidence.
func splitStatement(r *synod.Reply, exact bool) (rest string, c *float64) {
	if !exact {
		return mannerOf(r).confidence(r.Text)
	}
	rest, v, ok := cutConfidencePaper(clean.Tail(r.Text, maxRead))
	if !ok {
		return rest, nil
	}
	return rest, &v
}

// confidence is splitStatement for the text of a reply.
func (m manner) confidence(text string) (rest string, c *float64) {
	rest = m.text(text)
	v, ok := 0.0, false
	if body, wants := m.object(rest); wants {
		v, ok = objectConfidence(body)
	} else {
		rest, v, ok = cutConfidence(rest)
	}
	if !ok {
		return rest, nil
	}
	return rest, &v
}
