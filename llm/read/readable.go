package read

import "synod.dev/synod"

// Readable reports whether a reply with the status OK has what its prompt asks for: an answer, with a confidence where
// one is wanted; a score; or what the Detail of a protocol's own prompt says. It is true where nobody knows how to
// read the reply: then a second request would ask for nothing better. A whole reply that is classified
// (synod.Stance) or that is the answer itself (synod.Prose) is always readable, unless it fails a
// check, with which no reply is.
func Readable(p *synod.Prompt, r *synod.Reply) bool {
	if r.Failed != nil {
		return false
	}
	if d, ok := p.Detail.(synod.Readable); ok && p.Purpose != synod.Weighing {
		return d.Reads(p, r)
	}
	switch p.Purpose {
	case synod.Answering, synod.Refining:
		if p.Question.Form == synod.Stance || p.Question.Form == synod.Prose {
			return true
		}
		given, ok := ConfidentAnswer(p.Question, r, p.ConfidenceMode, p.Exact)
		return ok && (p.ConfidenceMode != synod.StatedConfidence || given.Confidence != nil)
	case synod.Scoring:
		_, ok := Score(r, p.Exact)
		return ok
	}
	return true
}

// FailedReply returns the first check that the answer of a reply fails, and the answer; nil and None: it has no
// answer. The reply's own Failed is ignored.
func FailedReply(p *synod.Prompt, r *synod.Reply) (synod.Answer, *synod.Failure) {
	if p.Purpose != synod.Answering && p.Purpose != synod.Refining {
		return synod.None, nil
	}
	q, reply := *p.Question, *r
	q.Checks, reply.Failed = nil, nil
	given, ok := ConfidentAnswer(&q, &reply, p.ConfidenceMode, p.Exact)
	if !ok {
		return synod.None, nil
	}
	return given.Answer, Failed(p.Question, given.Answer)
}
