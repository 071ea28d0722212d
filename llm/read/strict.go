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

// judgement returns the object that s consists of or ends with, as for JSONObject. An object with other text
// beside it is none, unless it is fenced: what surrounds an object must not give a score.
func judgement(s string) (body string, ok bool) {
	all := objects(s)
	if len(all) == 0 {
		return "", strings.HasPrefix(s, fence+"json")
	}
	last := all[len(all)-1]
	before, after := strings.TrimSpace(s[:last.from]), strings.TrimSpace(s[last.to:])
	fenced := fenceOpens.MatchString(before)
	switch {
	case len(all) == 1 && (before == "" || fenceOpens.FindString(before) == before) && (after == "" || after == fence),
		fenced && after == fence:
		return last.json(), true
	}
	return "", strings.HasPrefix(s, "{") || strings.HasPrefix(s, fence+"json") || fenced || !last.whole
}

// fenceOpens matches the opening of a block of code at the end of a text.
var fenceOpens = regexp.MustCompile("(?i)(?:^|\\s)```[ \\t]*(?:json5?)?$")

// text returns the part of a reply that is read.
func (m manner) text(reply string) string {
	if m.strict {
		return finalText(reply)
	}
	if m.cut {
		return finished(spoken(reply))
	}
	return spoken(reply)
}

// object is JSONObject for such a part.
func (m manner) object(s string) (body string, ok bool) {
	if m.strict {
		return strictObject(s)
	}
	return judgement(s)
}
