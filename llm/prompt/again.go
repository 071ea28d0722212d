package prompt

import (
	"synod.dev/synod"
	"synod.dev/synod/core/clean"
)

// maxUnread bounds how many bytes of its own reply a member is shown again. Its answer is most often at the end.
const maxUnread = 12 << 10

// again continues a chat with the member's own reply, which could not be read, and the request for the answer alone;
// or with a reply whose answer failed a check, the reason, and the request for another answer.
// A short answer is asked for as a line, because most replies that cannot be read are broken JSON or have more than
// the answer in it; a server that enforces a schema is sent none. What has several fields stays JSON.
func (c *Chat) again(v *view, p *synod.Prompt) {
	request := "Your reply could not be read, because it does not have the form that was asked for. "
	line := "Write only your final answer, on one line that reads"
	if f := p.Failed; f != nil {
		request = "Your answer cannot be accepted. It fails the check " + f.Check + ": " +
			clean.Line(f.Reason, synod.MaxReason) + "\nThink again. "
		line = "Write your final answer on the last line, which reads"
	}
	switch form := v.Question.Form; {
	case v.Purpose == synod.Scoring:
		c.Schema = nil
		request += "Write only your score, on one line that reads\nScore: <a number from 0 to 1>"
	case v.Purpose != synod.Answering && v.Purpose != synod.Refining:
		request += "Write only the JSON object, with nothing before or after it" + schemaWords(c.Schema)
	case form == synod.JSON || form == synod.Action:
		fields := []Field{{"answer", answerSchema(v.Question)}}
		if v.ConfidenceMode == synod.StatedConfidence {
			fields = append(fields, confidenceField)
		}
		c.Schema = Object(fields...)
		request += "Write only your final answer, as a JSON object with nothing before or after it" +
			schemaWords(c.Schema)
	default:
		c.Schema = nil
		request += line + "\nAnswer: <your answer>"
		if v.ConfidenceMode == synod.StatedConfidence {
			request += ", Confidence: <a number from 0 to 1>"
		}
		request += "\nwhere your answer is " + v.Wanted() + "."
	}
	c.Completion = ""
	if c.Turns != nil {
		request = between(councilBorder(v.Nonce), request)
	}
	c.Then = []synod.Turn{{Role: synod.ByAssistant, Text: clean.Passage(clean.Tail(p.Unread, maxUnread), maxUnread)},
		{Role: synod.ByUser, Text: request}}
}

// schemaWords ends a sentence with a schema; a full stop if there is none.
func schemaWords(schema []byte) string {
	if schema == nil {
		return "."
	}
	return ". It must be valid under this JSON schema:\n" + string(schema)
}
