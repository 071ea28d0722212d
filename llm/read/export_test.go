package read

import (
	"encoding/json"
	"slices"
	"strings"

	"synod.dev/synod"
)

// RawAnswer returns the text that the readers take for the answer of a reply, as its author wrote it.
func RawAnswer(q *synod.Question, text string) string {
	s := spoken(text)
	said, prose, _ := answersIn(q, s)
	if line, ok := announcement(q, prose); ok && (len(said) == 0 || manner{}.readable(q, line)) {
		return line
	} else if len(said) == 0 {
		return s
	}
	return said[len(said)-1]
}

// Causes lists why the strict readers, or these, do not read a reply. Cause returns the first that applies.
var Causes = []string{"cut off", "LaTeX", "line break in a string", "other faults of JSON", "several answers",
	"text around the object", "no object", "the value"}

// Cause classifies a reply.
func Cause(q *synod.Question, text string) string {
	s := spoken(text)
	all := objects(s)
	said, _, _ := answersIn(q, s)
	if len(all) == 0 {
		return "no object"
	}
	last := all[len(all)-1]
	raw := s[last.from:last.to]
	switch fault := faultOf(raw); {
	case !last.whole && len(said) == 0:
		return "cut off"
	case fault != "":
		return fault
	case len(slices.Compact(said)) > 1:
		return "several answers"
	case len(said) > 0 && (manner{strict: true}).readable(q, said[len(said)-1]):
		return "text around the object"
	}
	return "the value"
}

// faultOf returns the first fault of the JSON of an object.
func faultOf(raw string) string {
	var v any
	switch err := json.Unmarshal([]byte(raw), &v); {
	case err == nil:
		return ""
	case strings.Contains(err.Error(), "in string escape code"):
		return "LaTeX"
	case strings.Contains(err.Error(), "in string literal"):
		return "line break in a string"
	}
	return "other faults of JSON"
}

// Reasons lists why these readers do not read a reply.
var Reasons = []string{"cut off", "no answer", "no value", "several answers"}

// Unread returns the reason for a reply.
func Unread(q *synod.Question, text string) string {
	s := spoken(text)
	said, prose, ambiguous := answersIn(q, s)
	line, announced := announcement(q, prose)
	if announced {
		said = append(said, line)
	}
	said = slices.DeleteFunc(said, func(a string) bool { return !(manner{}).readable(q, a) })
	all := objects(s)
	switch {
	case ambiguous, len(said) > 0:
		return "several answers"
	case len(all) > 0 && !all[len(all)-1].whole:
		return "cut off"
	case len(all) == 0 && !announced:
		return "no answer"
	}
	return "no value"
}
