package read

import (
	"math/big"
	"regexp"
	"strings"

	"synod.dev/synod/llm/read/formula"
)

// canonValue reads a value that is no rational number as it stands: a time of day, a power, a root, a multiple of
// π, or a number in another base. It is written like Math, or as a rational number if it has the value of one.
func canonValue(s string) (string, bool) {
	if t := timeOfDay.FindStringSubmatch(s); t != nil && t[2]+t[3] != "" {
		return clock(t)
	}
	s = rootWord.ReplaceAllString(piWord.ReplaceAllString(s, `$1\pi`), "$1\u221a")
	if strings.Contains(strings.ReplaceAll(s, `\!`, ""), "!") || !irrational.MatchString(s) {
		return "", false
	}
	s = factor.ReplaceAllString(s, "$1$2")
	f, err := formula.Parse(s)
	if err != nil {
		return "", false
	}
	v, ok := f.Constant()
	switch {
	case !ok:
		return "", false
	case v != nil:
		return writeRat(v)
	}
	return canonMath(s)
}

// clock writes a time of day: its hours, its minutes, and a or p.
func clock(t []string) (string, bool) {
	hour, minutes, half := strings.TrimLeft(t[1], "0"), t[2], strings.ToLower(t[3])
	if hour == "" {
		hour = "0"
	}
	if minutes == "" {
		minutes = "00"
	}
	h, _ := new(big.Int).SetString(hour, 10)
	switch {
	case h.Int64() > 23 || half != "" && (h.Int64() > 12 || h.Sign() == 0):
		return "", false
	case half != "" && minutes == "00": // like "2 pm", which is a number with a unit
		return hour + " " + half + "m", true
	case half != "":
		half = " " + half + "m"
	}
	return hour + ":" + minutes + half, true
}

// timeOfDay matches a time with minutes or with a.m. or p.m.
var timeOfDay = regexp.MustCompile(`(?i)^(?:at )?([0-9]{1,2})(?::([0-5][0-9]))?(?: ?([ap])\.? ?m\.?)?$`)

var (
	piWord   = regexp.MustCompile(`(^|[^\\\pL])pi\b`)
	rootWord = regexp.MustCompile(`(^|[^\\\pL])sqrt\b`)
	// irrational matches what only the reader of formulas knows.
	irrational = regexp.MustCompile(`[\^_\x{221a}\x{3c0}]|\\(?:sqrt|pi|overline)`)
	// factor matches the sign between a number and a root or π, which may be left out.
	factor = regexp.MustCompile(`([0-9]) ?(?:\*|\x{d7}|\x{b7}|\\cdot|\\times) ?(\x{221a}|\x{3c0}|\\sqrt|\\pi)`)
)
