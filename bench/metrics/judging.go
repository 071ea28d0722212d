package metrics

import (
	"slices"

	"synod.dev/synod/core/stats"
)

// Judging measures how well the scores that members gave to first answers tell right answers from wrong ones. A
// protocol whose members judge answers can be no better than that.
type Judging struct {
	// AUC is the probability that a right answer has a higher score than a wrong one, of any question and any judge,
	// ties counted half: 0.5 is chance. Its interval is a jackknife over groups of questions.
	AUC *Rate `json:"auc"`
	// Prefers is the same of two answers to one question that one member scored, by question. nil: no member scored a
	// right and a wrong answer to one question.
	Prefers *Rate `json:"prefers"`
	N       int   `json:"n"`       // scores of graded answers
	Missing int   `json:"missing"` // graded answers whose score failed or could not be read
}

// Scored is the score that a member gave to an answer, and the grade of the answer.
type Scored struct {
	Score   float64 // in [0,1]
	Missing bool    // there is no score
	Right   bool
}

// levels is how many different scores Judges counts. Scores that differ by less than 0.001 count as equal.
const levels = 1001

// judgeGroups is the number of groups of the jackknife.
const judgeGroups = 20

// scoreCounts has how many right and wrong answers have a score.
type scoreCounts struct{ right, wrong [levels]int32 }

// Judges adds up scores. Its size does not depend on their number. The zero value is empty. The repeats of a question
// must be added one after the other, as in Tally.
type Judges struct {
	questions questions
	groups    [judgeGroups]*scoreCounts // by question
	n         int
	missing   int
	prefers   stats.ClusterMean
	open      struct { // of the last question
		of  question
		sum float64
		n   int
	}
}

// Add adds the scores of one case, a list for each judge.
func (j *Judges) Add(of *GradedQuestion, judges [][]Scored) {
	q := j.questions.next(of)
	if j.open.of != q {
		j.prefers.Add(j.open.sum, j.open.n)
		j.open.of, j.open.sum, j.open.n = q, 0, 0
	}
	for _, list := range judges {
		var graded []stats.Forecast
		for _, s := range list {
			if s.Missing {
				j.missing++
				continue
			}
			graded = append(graded, stats.Forecast{Confidence: s.Score, Right: s.Right})
			j.count(int(q)%judgeGroups, s)
		}
		if area, both := stats.AUC(graded); both {
			j.open.sum, j.open.n = j.open.sum+area, j.open.n+1
		}
	}
}

func (j *Judges) count(group int, s Scored) {
	if j.groups[group] == nil {
		j.groups[group] = &scoreCounts{}
	}
	level := min(levels-1, max(0, int(s.Score*(levels-1)+0.5)))
	j.n++
	if s.Right {
		j.groups[group].right[level]++
	} else {
		j.groups[group].wrong[level]++
	}
}

// Judging returns the figures, or nil without a score of a right and one of a wrong answer.
func (j *Judges) Judging() *Judging {
	area, known := j.area(-1)
	if !known {
		return nil
	}
	out := &Judging{AUC: newRate(j.interval(area), j.n), N: j.n, Missing: j.missing}
	prefers := j.prefers
	prefers.Add(j.open.sum, j.open.n)
	if e, ok := prefers.Share(); ok {
		out.Prefers = newRate(e, prefers.N())
	}
	return out
}

// area is the AUC without the questions of a group; -1: of all.
func (j *Judges) area(without int) (float64, bool) {
	var right, wrong, below, sum float64
	for level := range levels {
		var r, w float64
		for g, c := range j.groups {
			if c != nil && g != without {
				r, w = r+float64(c.right[level]), w+float64(c.wrong[level])
			}
		}
		sum += r * (below + w/2)
		right, wrong, below = right+r, wrong+w, below+w
	}
	return sum / (right * wrong), right > 0 && wrong > 0
}

// interval returns the area with its interval: from 0 to 1 where the questions of one group decide whether there is an
// area. Where all groups agree, as at an area of 1, it is that of as many independent answers as there are questions.
func (j *Judges) interval(area float64) stats.Estimate {
	var without []float64
	for g, c := range j.groups {
		if c == nil {
			continue
		}
		a, known := j.area(g)
		if !known {
			return stats.Estimate{Value: area, Low: 0, High: 1}
		}
		without = append(without, a)
	}
	e := stats.Estimate{Value: area, Low: 0, High: 1}
	if len(without) < 2 {
		return e
	}
	if slices.Min(without) == slices.Max(without) {
		e.Low, e.High = stats.AUCInterval(area, float64(j.questions.count), float64(j.questions.count))
		return e
	}
	half := stats.Jackknife(without)
	e.Low, e.High = max(0, area-half), min(1, area+half)
	return e
}
