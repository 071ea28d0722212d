package metrics

import (
	"math"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/stats"
)

// Latency is how long the calls of a model took, in seconds, from the call until its reply,
// with waits and retries. Replies without a request are left out.
type Latency struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"` // 95 of 100 calls took no longer
}

// NewLatency returns the latency of calls that took so many milliseconds; nil without calls.
func NewLatency(milliseconds []int) *Latency {
	n := len(milliseconds)
	if n == 0 {
		return nil
	}
	seconds := make([]float64, n)
	for i, ms := range milliseconds {
		seconds[i] = float64(ms) / 1000
	}
	slices.Sort(seconds)
	return &Latency{n, stats.Median(seconds), seconds[int(math.Ceil(0.95*float64(n)))-1]}
}

// Answers say how right the answers of one model were. Seats that an adversary controls are left
// out: what they say is not the model's. An absent or unreadable answer is not right.
type Answers struct {
	Right struct {
		First *Rate `json:"first"` // before the rounds
		Final *Rate `json:"final"` // after them
	} `json:"right"`
	Agreement *Rate `json:"agreement"` // final answers that are the decision, where there is one
	// Asked is how often its seats were asked for an answer of their own: all other figures are of these questions. It
	// is nil where the protocol asks all members.
	Asked *Rate `json:"asked,omitempty"`
	// Rounds has the answers that are right after each round, 0 the first. A question that ended
	// earlier counts with its final answers.
	Rounds []*Rate `json:"rounds"`
}

// Models counts the answers of each model.
type Models struct {
	models []string // by seat
	seats  []SeatFacts
	counts map[string]*modelCounts

	questions questions
}

type modelCounts struct {
	first, final, agree, asked count
	rounds                     byRound
}

// NewModels counts nothing yet. models has the model of every seat.
func NewModels(models []string, seats []SeatFacts) *Models {
	m := &Models{models: models, seats: seats, counts: map[string]*modelCounts{}}
	for _, name := range models {
		m.counts[name] = &modelCounts{}
	}
	return m
}

// Add counts a case. The repeats of a question must be added one after the other, as in Tally.
func (m *Models) Add(c *GradedQuestion) {
	q := m.questions.next(c)
	first, last := c.first(len(m.seats)), c.last(len(m.seats))
	for i, s := range m.seats {
		if s.Adversary {
			continue
		}
		k := m.counts[m.models[i]]
		asked := c.asks(i, s)
		if c.Asked != nil && !s.Unasked {
			k.asked.add(q, asked, true)
		}
		if asked && !c.Ungraded {
			right, _ := c.grade(first[i])
			k.first.add(q, right, true)
			right, _ = c.grade(last[i])
			k.final.add(q, right, true)
			rounds := c.held(len(m.seats))
			k.rounds.add(len(rounds), func(to *count, round int) {
				right, _ := c.grade(rounds[round][i])
				to.add(q, right, true)
			})
		}
		if c.Agreed && c.Decision != synod.None && asked {
			k.agree.add(q, last[i] == c.Decision, true)
		}
	}
}

// Of returns the figures of a model.
func (m *Models) Of(name string) (of Answers) {
	if k := m.counts[name]; k != nil {
		of.Right.First, of.Right.Final, of.Agreement = k.first.rate(), k.final.rate(), k.agree.rate()
		of.Rounds, of.Asked = k.rounds.rates(), k.asked.rate()
	}
	return of
}
