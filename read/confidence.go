package read

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/clean"
)

// A statement of confidence, "Confidence: 0.9", stands at the start of a line or
// after the answer on its line. What may follow the value is a remark in brackets
// without a digit, or the answer.
var (
	sureMark  = regexp.MustCompile(`(?i)(?:^|[\s,;.|({\[*_>#-])(?:my\s+|the\s+)?confidence(?:\s+(?:score|level|value))?["'*_]*\s*(?:[:=]|\bis\b)`)
	sureValue = regexp.MustCompile("^[\\s*_\"'`$(\\[{]*" + `([0-9]{1,9}(?:[.,][0-9]{1,30})?|\.[0-9]{1,30})(\s?\\?%|\s?(?i:percent)\b)?` + "[*_\"'`$)\\]}]*")
	sureTail  = regexp.MustCompile(`(?i)^\s*(?:[.;,]?\s*$|[,;|]?\s*[*_]*(?:final\s+)?answer\b|\([^0-9()]{0,200}\)[\s.*_]*$)`)
	mantissa  = regexp.MustCompile(`^(?:0,[0-9]{1,9}|1,00?)$`) // a comma that can only be a decimal one
)

// ConfidenceIn reads the confidence in [0,1] that a reply states, and guesses
// nothing (CP-1): the reply is a JSON object with "confidence", or its last line
// that says "Confidence:" goes on with one number, such as 0.9, .9, 0,9 or 90%.
// What is signed, out of range, a range, a fraction or a word is no confidence.
func ConfidenceIn(text string) (float64, bool) {
	s := spoken(text)
	if body, wants := jsonObject(s); wants {
		return objectConfidence(body)
	}
	_, c, ok := cutConfidence(s)
	return c, ok
}

// objectConfidence reads a JSON number, or a string that is a value and nothing else.
func objectConfidence(body string) (float64, bool) {
	v, ok := member(body, "confidence")
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

// cutConfidence takes the last statement of confidence out of prose, so that what
// is left can be read for an answer: "Answer: 1,234, Confidence: 0.9" holds two
// numbers. Where nothing is stated, or what is stated cannot be read, ok is false;
// a statement that cannot be read is cut all the same.
func cutConfidence(s string) (rest string, c float64, ok bool) {
	for end := len(s); end > 0; {
		begin := strings.LastIndexByte(s[:end], '\n') + 1
		line := s[begin:end]
		marks := sureMark.FindAllStringIndex(line, 2)
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
		ok = ok && len(marks) == 1 && sureTail.MatchString(tail)
		if !ok {
			tail = ""
		}
		return s[:begin] + strings.TrimRight(before, " \t,;|*_-(") + "\n" + strings.TrimLeft(tail, " \t.,;|") + "\n" + below, c, ok
	}
	return s, 0, false
}

// confidence reads a value from the start of s.
func confidence(s string) (c float64, rest string, ok bool) {
	at := sureValue.FindStringSubmatchIndex(s)
	if at == nil {
		return 0, "", false
	}
	number, percent, rest := s[at[2]:at[3]], at[4] >= 0, s[at[1]:]
	if strings.Contains(number, ",") {
		if !mantissa.MatchString(number) {
			return 0, "", false
		}
		number = strings.Replace(number, ",", ".", 1)
	}
	c, err := strconv.ParseFloat(number, 64)
	if percent {
		if c > 0 && c < 1 { // 0.9 % is more likely a slip than what it says
			return 0, "", false
		}
		c /= 100
	}
	return c, rest, err == nil && c >= 0 && c <= 1
}

// PaperConfidence reads a confidence as leniently as a paper's code would
// (CP-WBFT Eq. 1, "hierarchical extraction"); for reproductions only. It is the
// first number after the last "confidence", a percentage divided, clipped to
// [0,1]; none without such a number.
func PaperConfidence(text string) (float64, bool) {
	_, c, ok := cutConfidencePaper(clean.Tail(text, maxRead))
	return c, ok
}

var firstPercent = regexp.MustCompile(`-?[0-9]*\.?[0-9]+\s*%?`)

// cutConfidencePaper is cutConfidence for the paper's reader.
func cutConfidencePaper(s string) (rest string, c float64, ok bool) {
	i := lastFold(s, "confidence")
	if i < 0 {
		return s, 0, false
	}
	line, below, _ := strings.Cut(s[i:], "\n")
	n := firstPercent.FindString(line)
	number, percent := strings.CutSuffix(n, "%")
	c, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		c /= 100
	}
	return strings.TrimRight(s[:i], " \t,;|*_\"'") + "\n" + below, math.Max(0, math.Min(c, 1)), err == nil
}

// Confident is an answer and how sure its author says that it is of it.
type Confident struct {
	Answer     synod.Answer
	Surface    string   // the author's own spelling, untrusted
	Confidence *float64 // in [0,1]; nil: none came, or it could not be read
}

// ConfidentAnswer reads a reply to a prompt that wanted an answer and, by confide, a
// confidence (CP-1, CP-2). A reply with an answer and no readable confidence is an
// answer; what that is worth is for the protocol to say. exact takes the papers'
// readers.
func ConfidentAnswer(q *synod.Question, r *synod.Reply, confide synod.Confide, exact bool) (c Confident, ok bool) {
	read := *r
	if confide == synod.ConfideStated && !r.Typed && r.Status == synod.OK {
		read.Text, c.Confidence = stated(r.Text, exact)
	}
	if confide != synod.ConfideNothing && r.Confidence != nil {
		c.Confidence = nil
		if v := *r.Confidence; v >= 0 && v <= 1 { // not NaN
			c.Confidence = &v
		}
	}
	c.Answer, c.Surface, ok = Answer(q, &read, exact)
	return c, ok
}

// stated splits what a model wrote into what holds its answer and its confidence.
func stated(text string, exact bool) (rest string, c *float64) {
	v, ok := 0.0, false
	if exact {
		rest, v, ok = cutConfidencePaper(clean.Tail(text, maxRead))
	} else if rest = spoken(text); !isObject(rest) {
		rest, v, ok = cutConfidence(rest)
	} else {
		v, ok = ConfidenceIn(rest)
	}
	if !ok {
		return rest, nil
	}
	return rest, &v
}

func isObject(s string) bool {
	_, wants := jsonObject(s)
	return wants
}
