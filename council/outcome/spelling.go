package outcome

import (
	"synod.dev/synod"
	"synod.dev/synod/core/clean"
	"synod.dev/synod/llm/read"
)

// spellAll sets the texts of the votes and of the decision: the answers as they are printed.
func spellAll(j *judgment, o *Outcome) {
	for i := range o.Votes {
		v := &o.Votes[i]
		v.Text = spellingOf(j, v.Answer)
		if v.Answer == o.Decision {
			o.Text = v.Text
		}
	}
	if o.Text == "" { // no member holds the decision as a whole: a JSON value that was merged
		o.Text = string(o.Decision)
	}
}

// spellingOf returns an answer as the members wrote it that hold it at the end: the spelling that most of them used, if
// more than F did, so that one of them is honest; of two that are as common, that of the earlier seat. It is the
// canonical answer where no spelling is so common, where that spelling does not read as the answer, and for long forms.
func spellingOf(j *judgment, a synod.Answer) string {
	if j.in.Question.Form.Long() || j.in.Question.Form == synod.Stance {
		return string(a)
	}
	best, most := "", j.plan.Full().F
	for i := range j.seats {
		text := spelledBy(j, i, a)
		if text == "" || text == best {
			continue
		}
		used := 1
		for k := i + 1; k < len(j.seats); k++ {
			if spelledBy(j, k, a) == text {
				used++
			}
		}
		if used > most {
			best, most = text, used
		}
	}
	if best == "" || best == string(a) {
		return string(a)
	}
	if same, ok := read.Canonical(&j.in.Question, best); !ok || same != a {
		return string(a) // it was cut, or has more than the answer
	}
	return clean.Line(best, maxWritten)
}

// spelledBy returns how a seat that votes wrote the answer a, which it holds at the end; "" if it does not hold it, or
// took it over without writing it.
func spelledBy(j *judgment, seat int, a synod.Answer) string {
	if j.plan.Seats()[seat].NonVoting || AnswerOf(j.last[seat]) != a {
		return ""
	}
	return surface(j.seats[seat], a)
}

// surface returns how a member itself last spelled the answer that it holds; "" if it did not.
func surface(r *Record, held synod.Answer) string {
	for i := len(r.Opinions) - 1; i >= 0; i-- {
		if o := r.Opinions[i]; o.Answer == held && o.Surface != "" {
			return o.Surface
		}
	}
	return ""
}

// maxWritten bounds a member's own spelling of its answer, in bytes.
const maxWritten = 200

// written returns how a member itself last spelled the answer that it holds; "" if it did not,
// or spelled it canonically.
func written(r *Record, held synod.Answer) string {
	s := surface(r, held)
	if s == string(held) {
		return ""
	}
	return clean.Line(s, maxWritten)
}
