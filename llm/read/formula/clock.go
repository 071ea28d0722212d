package formula

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"synod.dev/synod/llm/read/notation"
)

// A time of day is not a ratio, although both are written the same: 4:30 is not 2:15. Text that looks like a
// time is a time if it is compared with another time, and a ratio if it is compared with a fraction. A.m. or
// p.m. may be missing on one side, as units may.
var (
	clock    = regexp.MustCompile(`^([0-9]{1,2}):([0-5][0-9])`)
	meridiem = regexp.MustCompile(`^(?:\s|~|\\[ ,;])*(?:\\(?:text|textrm|mathrm|mbox)\s*\{\s*)?([aApP])(?:\.\s?[mM]\.?|[mM]\b)\s*\}?`)
	hourOnly = regexp.MustCompile(`^([0-9]{1,2})(?:\s|~|\\[ ,;])*(?:\\(?:text|textrm|mathrm|mbox)\s*\{\s*[aApP]\.?[mM]\.?\s*\}|[aApP]\.\s?[mM]\.?)$`)
)

// clock reads a time of day if one begins here: 4:30, 4:30 p.m. and, if nothing else is there, 4 p.m.
func (l *lexer) clock() bool {
	if len(l.out) == 0 && hourOnly.MatchString(l.in) {
		hour := l.digits()
		l.in = hour + ":00" + l.in
	}
	at := clock.FindString(l.in)
	rest := l.in[len(at):]
	hour, _, _ := strings.Cut(at, ":")
	if h, _ := strconv.Atoi(hour); at == "" || h > 24 || rest != "" && (notation.IsDigit(rest[0]) ||
		rest[0] == ':' || rest[0] == '.' && len(rest) > 1 && notation.IsDigit(rest[1])) {
		return false
	}
	text := at
	if m := meridiem.FindStringSubmatch(rest); m != nil {
		text, rest = at+" "+strings.ToLower(m[1])+"m", rest[len(m[0]):]
	}
	l.in = rest
	l.put(kindTime, text)
	return true
}

// timeOf returns the node of a time: the two numbers as written, and am, pm or "".
func timeOf(text string) *node {
	at, half, _ := strings.Cut(text, " ")
	h, m, _ := strings.Cut(at, ":")
	hour, _ := strconv.ParseInt(h, 10, 64)
	minute, _ := strconv.ParseInt(m, 10, 64)
	return &node{op: opTime, name: half, args: []*node{number(hour), number(minute)}}
}

// timeString returns the time as h:mm with am or pm.
func (n *node) timeString() string {
	text := fmt.Sprintf("%s:%02s", n.args[0].num.RatString(), n.args[1].num.RatString())
	return strings.TrimSpace(text + " " + n.name)
}

// minutes returns the minutes since midnight or, if day is false, since the last 12 o'clock as written.
func (n *node) minutes(day bool) int64 {
	hour, minute := n.args[0].num.Num().Int64(), n.args[1].num.Num().Int64()
	if day && n.name != "" && hour <= 12 {
		if hour %= 12; n.name == "pm" {
			hour += 12
		}
	}
	return 60*hour + minute
}

// ofTheDay reports that a time is one of a 24-hour clock: 16:30, 0:05.
func (n *node) ofTheDay() bool { return n.minutes(false) >= 13*60 || n.minutes(false) < 60 }

// times compares two nodes of which at least one is a time of day.
func (j *judge) times(a, b *node) bool {
	if a.op != opTime || a.name == "" && b.op == opTime {
		a, b = b, a
	}
	switch {
	case b.op == opTime && a.name != "" && b.name != "":
		return a.minutes(true) == b.minutes(true)
	case b.op == opTime:
		return a.minutes(false) == b.minutes(false) || a.minutes(true) == b.minutes(true) && b.ofTheDay()
	case a.name != "" || !b.scalar():
		return false
	}
	return a.args[1].num.Cmp(new(big.Rat)) != 0 && j.scalars(div(a.args[0], a.args[1]), b)
}
