package read

import (
	"synod.dev/synod"

	"synod.dev/synod/clean"
)

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
