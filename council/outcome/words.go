package outcome

import (
	"synod.dev/synod"
)

// saidMost returns the answer whose text is shown: the decision, or the leading answer where the members do not agree
// and nobody has asked for the form, since the guess may be wrong; None if neither is there.
func saidMost(j *judgment, o *Outcome) synod.Answer {
	if o.Decision == synod.None && o.Status == Undecided && cutOff[o.Stopped] == "" && len(o.Votes) > 0 {
		return o.Votes[0].Answer
	}
	return o.Decision
}

// wordsAround returns what a member wrote around the decision: one of those that gave it first, and wrote more than the
// value. Which one follows from the seed of the run, which no member knows. nil: there is none.
func wordsAround(j *judgment, decision synod.Answer) *Words {
	if decision == synod.None || !j.in.Question.Guessed {
		return nil
	}
	var all []Words
	for i, r := range j.seats {
		if j.first[i] != decision || j.plan.Adversary(synod.NodeID(i)) {
			continue
		}
		var text string
		last := synod.ConsultID(0)
		for _, s := range r.Said {
			if s.Round == 0 && s.Words != "" && (text == "" || s.ID > last) {
				text, last = s.Words, s.ID
			}
		}
		if text != "" {
			all = append(all, Words{j.plan.Seats()[i].ID, text})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &all[j.in.Seed%uint64(len(all))]
}
