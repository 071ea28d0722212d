package cpwbft

import (
	"cmp"
	"embed"
	"io/fs"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol/answer"
)

//go:embed prompts/*.tmpl
var files embed.FS

// Prompts are the protocol's templates, in our words; a council file's prompts
// folder replaces them page by page.
func Prompts() fs.FS { return answer.With(files) }

// member is one seat playing.
type member struct {
	*CPWBFT
	*answer.Member
}

// reflect is the pilot's reflection round (CP-5): the member's model thinks again
// with its neighbours' answers in view, in an order that is nobody's choice. What
// they claim about themselves is not shown.
func (m *member) reflect(r answer.Held, heard []answer.Heard) answer.Held {
	if !m.Reflect || r.Answer == synod.None || len(heard) == 0 {
		return r
	}
	q := m.Prompt(synod.Refining)
	q.Own, q.Confide = r.Answer, m.Settings.Confide
	for _, h := range heard {
		q.Peers = append(q.Peers, synod.Rated{Answer: h.Word.Answer, Score: synod.Untrusted})
	}
	slices.SortFunc(q.Peers, func(a, b synod.Rated) int { return cmp.Compare(a.Answer, b.Answer) })
	return m.Ask(r, q)
}

// adopt is stage 1's rule (CP-3): what a member holds after hearing its neighbours.
func (m *member) adopt(r answer.Held, heard []answer.Heard) answer.Held {
	own := statedBy(r.Answer, r.Confidence)
	words := make([]Stated, len(heard))
	for i, h := range heard {
		words[i] = Stated{h.Word.Answer, h.Word.Confidence}
	}
	next := rules[m.Adopt](own, words)
	if next == own {
		return r
	}
	if next.Answer != r.Answer {
		r = answer.Held{Answer: next.Answer, Source: synod.New}
	}
	if m.Probe != NoProbe {
		r.Confidence = &next.Confidence
	}
	return r
}

// sourced says where an answer comes from: before is the one of the round before,
// told the one with which the member went into this round.
func sourced(r answer.Held, before, told synod.Answer, heard []answer.Heard) answer.Held {
	r.From = nil
	switch {
	case r.Answer == synod.None:
		r.Source = synod.Absent
	case r.Answer == before:
		r.Source = synod.Kept
	case before == synod.None && r.Answer == told: // it was asked again
		r.Source = synod.Own
	default:
		r.Source = synod.New
		for _, h := range heard {
			r.Credit(h.From, h.Word.Answer)
		}
	}
	return r
}

// claims are the confidences that stage 1 compared, ascending by member.
func (m *member) claims(own answer.Held, heard []answer.Heard) []synod.Judged {
	if m.Probe == NoProbe {
		return nil
	}
	all := make([]synod.Judged, 0, len(heard)+1)
	for _, h := range heard {
		all = append(all, synod.Judged{Of: h.From, Score: synod.Score(h.Word.Confidence)})
	}
	if own.Answer != synod.None {
		mine := statedBy(own.Answer, own.Confidence)
		all = append(all, synod.Judged{Of: m.Me.Seat().Self, Score: synod.Score(mine.Confidence)})
	}
	slices.SortFunc(all, func(a, b synod.Judged) int { return cmp.Compare(a.Of, b.Of) })
	return all
}
