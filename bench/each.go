package bench

import (
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// each keeps the figures of every question of a run apart, so that claims about several cells can be judged by
// question.
type each struct {
	run       *reader
	figures   []string
	questions map[string]*oneQuestion
}

// oneQuestion has the results of a question, all repeats.
type oneQuestion struct {
	tally *metrics.Tally
	ranks ranks
}

// newEach returns a collector of the figures that claims are about. Without claims it collects nothing.
func newEach(r *reader, claims []report.PaperClaim) *each {
	e := &each{run: r, questions: map[string]*oneQuestion{}}
	for _, c := range claims {
		e.figures = append(e.figures, c.Figure, c.Against)
	}
	return e
}

// add adds a result.
func (e *each) add(res *result) {
	if len(e.figures) == 0 {
		return
	}
	q := e.questions[res.Question]
	if q == nil {
		q = &oneQuestion{tally: metrics.NewTally(e.run.roles())}
		e.questions[res.Question] = q
	}
	q.tally.Add(res.GradedQuestion)
	q.ranks.add(res.Question, res.ranked)
}

// values returns the figures by name and question.
func (e *each) values() map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for id, q := range e.questions {
		one := e.run.emptyReport()
		e.run.tallied(one, q.tally)
		one.Ranked = q.ranks.rates()
		rates := report.NewCell("", nil, one, nil, nil).Metrics
		for _, name := range e.figures {
			if r := rates[name]; r != nil {
				if all[name] == nil {
					all[name] = map[string]float64{}
				}
				all[name][id] = r.Value
			}
		}
	}
	return all
}
