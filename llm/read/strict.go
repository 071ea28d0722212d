package read

import (
	"encoding/json"
	"regexp"
	"strings"

	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// This file has what differs in the readers of version 0. Only replays of journals that were written before there
// were versions use it.

// finalText returns the part of a reply that is read: its last maxRead bytes, without the thinking that
// reasoning models write before </think>.
func finalText(reply string) string {
	reply = clean.Tail(reply, maxRead)
	if i := strings.LastIndex(reply, "</think>"); i >= 0 {
		reply = reply[i+len("</think>"):]
	}
	return strings.TrimSpace(reply)
}

// strictObject returns the JSON object that a reply consists of, or that is the fenced block at its end. Text
// before </think> is ignored. ok reports that the reply is meant as an object: then nothing else of it may be
// read, so that an incomplete object is never read as prose. The object may be malformed; Member checks it.
func strictObject(reply string) (body string, ok bool) {
	s := finalText(reply)
	if after, fenced := strings.CutSuffix(s, "```"); fenced {
		i := strings.LastIndex(after, "```")
		if i < 0 {
			return "", false
		}
		s = strings.TrimSpace(strings.TrimPrefix(after[i+3:], "json"))
		return s, strings.HasPrefix(s, "{")
	}
	if rest, fenced := strings.CutPrefix(s, "```json"); fenced {
		return rest, true
	}
	if !strings.HasPrefix(s, "{") {
		return "", false
	}
	return s, strings.HasPrefix(strings.TrimSpace(s[1:]), `"`) || json.Valid([]byte(s))
}

// strictCandidate finds the part of a reply in which it commits to its answer.
func strictCandidate(q *synod.Question, s string) (string, bool) {
	if body, wants := strictObject(s); wants {
		v, ok := Member(body, "answer")
		if !ok {
			return "", false
		}
		return scalar(v)
	}
	if inside, _, ok := tagged(s); ok {
		s = inside
	}
	if line, ok := answerLine(q, s, strictMark); ok {
		if box, ok := lastBox(line); ok {
			return box, true
		}
		return line, true
	}
	if box, ok := lastBox(s); ok {
		return box, true
	}
	short := len(s) <= maxLine && !strings.Contains(s, "\n")
	if q.Form == synod.Text {
		short = short && len(strings.Fields(s)) <= maxWords
	}
	return s, short
}

// strictMark matches the announcement of an answer.
var strictMark = regexp.MustCompile(`(?i)(?:^|[.!?;:,]["')\]*]*\s+|(?:\\[\])]|\$)\s*|\b(?:so|thus|hence|therefore|and|then|but)\s+)[\s>*_#\-]*` +
	`(?:(?:my|the|our)\s+)?(?:(?:final|correct|best)\s+)*answer` +
	`(?:\s+is\b(?:\s+(?:therefore|thus|then))?\s*[:=]?|\s*[*_]*\s*[:=])`)
