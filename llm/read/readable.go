package read

import "synod.dev/synod"

// Readable reports whether a reply with the status OK has what its prompt asks for: an answer, with a confidence where
// one is wanted; a score; or what the Detail of a protocol's own prompt says. It is true where nobody knows how to
// read the reply: then a second request would ask for nothing better. A whole reply that is classified
// (synod.Stance) or that is the answer itself (synod.Prose) is always readable.
func Readable(p *synod.Prompt, r *synod.Reply) bool {
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
