package outcome

import (
	"cmp"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/llm"
)

func (j *judgment) members() []Member {
	members := make([]Member, len(j.seats))
	for i, r := range j.seats {
		s := &j.plan.Seats()[i]
		m := &members[i]
		*m = Member{ID: s.ID, Model: s.Model, Kind: s.Kind, Role: cmp.Or(string(s.Role), "member"), Calls: r.Statuses,
			Trouble: r.Failure, Misreports: r.Misreports,
			First: j.answers.of(j.first[i]), Final: j.answers.of(AnswerOf(j.last[i])),
			Uncommitted: j.uncommitted != nil && j.uncommitted[i],
			Likelihood:  j.likelihood(i),
			Written:     written(r, AnswerOf(j.last[i])), Fooling: s.Fooling}
		m.Unreadable, m.Voice = j.unreadable(i), j.plan.VoiceOf(i)
		if s.Adversary != "" {
			m.Adversary = &s.Adversary
		}
		garbled := 0
		for _, o := range r.Opinions {
			garbled += o.Unreadable
		}
		// Only the protocol can tell a reply that came but could not be read. A reply that it uses again is one reply.
		if n := r.Unread.Replies; n > 0 {
			garbled = min(garbled, n)
		}
		garbled = min(garbled, m.Calls[statusOK])
		m.Calls[statusOK] -= garbled
		m.Calls[statusUnreadable] += garbled
		m.Conduct.Late, m.Conduct.Refused = len(r.Late), m.Calls[statusRefused]
	}
	for _, r := range j.seats {
		for _, o := range r.Opinions {
			for _, id := range o.Silent {
				if id >= 0 && int(id) < len(members) {
					members[id].Conduct.Silent++
				}
			}
		}
	}
	return members
}

// likelihood returns how likely a seat's model said that its first answer is; nil: it did not, or its confidence is
// something else.
func (j *judgment) likelihood(seat int) *float64 {
	p, ok := j.plan.Protocol().(interface{ ConfidenceMode() synod.ConfidenceMode })
	if !ok || p.ConfidenceMode() != synod.LikelihoodConfidence || j.first[seat] == synod.None {
		return nil
	}
	for _, o := range j.seats[seat].Opinions {
		if o.Round == 0 {
			return o.Confidence
		}
	}
	return nil
}

// models adds up the members of each model, in the order of seats. An adversary's seat counts
// for its calls only.
func (j *judgment) models(members []Member, decision synod.Answer) []ModelResult {
	all := make([]ModelResult, len(j.plan.Models()))
	for k, of := range j.plan.Models() {
		r := &all[k]
		*r = ModelResult{Model: of.Name, Kind: j.plan.Seats()[of.Seats[0]].Kind, Seats: make([]string, len(of.Seats))}
		var took []int
		for n, i := range of.Seats {
			m, use := &members[i], &j.seats[i].Use
			took = append(took, j.seats[i].Took...)
			for _, name := range j.seats[i].Reported {
				r.Reported = llm.AddReported(r.Reported, name)
			}
			r.Seats[n] = m.ID
			r.Calls = synod.Sum(r.Calls, use.Calls)
			r.Tokens = Tokens{synod.Sum(r.Tokens.Prompt, use.Prompt), synod.Sum(r.Tokens.Completion, use.Completion)}
			r.Unreadable += m.Calls[statusUnreadable]
			r.Failed += m.Calls.Failed()
			if m.Adversary == nil && !j.plan.Seats()[i].NonVoting && decision != synod.None {
				r.Of++
				if AnswerOf(j.last[i]) == decision {
					r.Agree++
				}
			}
		}
		r.Latency = metrics.NewLatency(took)
	}
	return all
}

// unreadable returns what a seat's member wrote that could not be read; nil if all was.
func (j *judgment) unreadable(seat int) *Unread {
	u := j.seats[seat].Unread
	if u.Replies == 0 {
		return nil
	}
	model := j.plan.Seats()[seat].Model
	u.Help = u.help(model, j.plan.Full().Models[model], j.in.Question.Form)
	return &u
}
