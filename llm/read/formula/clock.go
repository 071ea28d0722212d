package formula

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A time of day is not a ratio, although both are written the same: 4:30 is not 2:15. Text that looks like a
// time is a time if it is compared with another time, and a ratio if it is compared with a fraction. A.m. or
// p.m. may be missing on one side, as units may.
var (
	clock    = regexp.MustCompile(`^([0-9]{1,2}):([0-5][0-9])`)
	meridiem = regexp.MustCompile(`^(?:\s|~|\\[ ,;])*(?:\\(?:text|textrm|mathrm|mbox)\s*\{\s*)?([aApP])(?:\.\s?[mM]\.?|[mM]\b)\s*\}?`)
	hourOnly = regexp.MustCompile(`^([0-9]{1,2})(?:\s|~|\\[ ,;])*(?:\\(?:text|textrm|mathrm|mbox)\s*\{\s*[aApP]\.?[mM]\.?\s*\}|[aApP]\.\s?[mM]\.?)$`)
)

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
