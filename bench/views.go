package bench

import (
	"iter"

	"synod.dev/synod"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/bench/store"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/core/sim"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm"
)

// Views yields every question of the run, the first whole ones with the opinions of their members by round; all of
// them if whole is below 0. It reads one journal at a time on each processor. Iteration ends after an error.
func (r *Run) Views(whole int) iter.Seq2[*report.Question, error] {
	return func(yield func(*report.Question, error) bool) {
		x, err := r.read()
		if err != nil {
			yield(nil, err)
			return
		}
		defer x.close()
		past, err := x.histories()
		if err != nil {
			yield(nil, err)
			return
		}
		view := func(j job, row *store.Result) (*report.Question, error) {
			return x.view(j, row, past[j], whole < 0 || j.repeat*r.N+j.item < whole)
		}
		for q := range eachJob(x, x.store.ByRepeat(x.cell), x.job, view) {
			if !yield(q.made, q.err) || q.err != nil {
				return
			}
		}
	}
}

// view returns what a page shows of a question; without its rounds if whole is false, because they need the whole
// journal.
func (r *reader) view(j job, row *store.Result, past history, whole bool) (*report.Question, error) {
	var res *result
	var err error
	if row != nil {
		if res, err = r.graded(j, row); err != nil {
			return nil, err
		}
	}
	it := r.Items[j.item]
	q := &report.Question{Question: it.Question, Key: it.Key, Repeat: j.repeat}
	if res != nil && it.Ungraded { // without a key nothing is right or wrong
		res.Verdicts = nil
	}
	switch {
	case res == nil && past.last.Failed:
		q.Status, q.Reason = "failed", past.last.Reason
		return q, nil
	case res == nil:
		q.Status = "unfinished"
		return q, nil
	case res.outcome.Stopped == sim.Stalled:
		q.Status, q.Reason = sim.Stalled, "a member did not finish"
	default:
		q.Status, q.Reason, q.Fields = res.outcome.Status, res.outcome.Reason, res.outcome.Fields
	}
	if res.outcome.Answered() {
		q.Answer, q.Verdict = res.Decision, res.Verdicts[res.Decision]
	}
	for _, v := range res.outcome.Votes {
		q.Votes = append(q.Votes, report.Support{Answer: v.Answer, Verdict: res.Verdicts[v.Answer],
			Seats: v.Seats, Independent: v.Independent})
	}
	for _, c := range res.outcome.Claims {
		q.Claims = append(q.Claims, report.Claim{Text: c.Text, Verdict: string(c.Verdict), Supporters: c.Supporters,
			Critics: c.Critics})
	}
	if whole {
		q.Rounds, err = r.rounds(j, res)
	}
	return q, err
}

// rounds returns what members held, with their reasons, by round and seat. The summary of a journal has neither
// scores nor reasons.
func (r *reader) rounds(j job, res *result) ([][]report.Held, error) {
	shown, err := r.shown(j, res)
	if err != nil {
		return nil, err
	}
	rounds := held(res, shown.noted)
	if shown.run == nil {
		return rounds, nil
	}
	for i, record := range outcome.RecordsOf(r.plan, shown.run) {
		for t := range rounds {
			rounds[t][i].Reasoning = record.Reasoning(t)
		}
	}
	return rounds, nil
}

// held returns the opinions by round and seat; a seat without a recorded opinion has only
// its answer.
func held(res *result, noted []journal.Noted) [][]report.Held {
	rounds := make([][]report.Held, len(res.Rounds))
	for t, answers := range res.Rounds {
		rounds[t] = make([]report.Held, len(answers))
		for i, a := range answers {
			rounds[t][i] = report.Held{Opinion: synod.Opinion{Round: t, Answer: a}, Verdict: res.Verdicts[a]}
		}
	}
	for _, n := range noted {
		if n.Round >= 0 && n.Round < len(rounds) && in(n.Node, len(rounds[n.Round])) {
			h := &rounds[n.Round][n.Node]
			h.Opinion, h.Noted = n.Opinion, true
		}
	}
	return rounds
}

func (m *RunManifest) seats() []report.Member {
	seats := make([]report.Member, len(m.Seats))
	spec, _ := plan.ParseRecord([]byte(m.Council)) // a file that cannot be read has no judges to speak of
	for i, s := range m.Seats {
		seats[i] = report.Member{ID: s.ID, Model: s.Model, Kind: string(s.Kind), Group: s.Group, Adversary: s.Adversary,
			Fooling: s.Fooling, Judging: llm.Judging(spec.Models[s.Model])}
	}
	return seats
}
