package adversary

import (
	"synod.dev/synod"
	"synod.dev/synod/read"
)

// forgery is what a liar makes of its own model's answer before anyone hears it.
type forgery struct {
	answer func(read.Confident) synod.Answer // in place of the model's
	words  func(string) string               // in place of what the model wrote; nil: the same
}

// forge has the model answer all that an honest member asks, and forges every
// answer that can be read. An answer that is the liar's own already stays.
func (f forgery) forge(seat synod.Seat, honest synod.Machine) *mouth {
	told := synod.None
	return &mouth{
		honest: honest,
		says:   func(*synod.Prompt) *synod.Reply { return nil },
		replaces: func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
			if p.Purpose != synod.Answering && p.Purpose != synod.Refining {
				return r
			}
			said, ok := read.ConfidentAnswer(seat.Question, r, p.Confide, p.Exact)
			if !ok {
				return r
			}
			if said.Answer != told {
				told = f.answer(said)
			}
			forged := *r // its cost stays what it was
			forged.Typed, forged.Answer, forged.Confidence = true, told, said.Confidence
			if f.words != nil {
				forged.Text = f.words(r.Text)
			}
			return &forged
		},
	}
}
