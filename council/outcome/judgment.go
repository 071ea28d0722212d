package outcome

import (
	"cmp"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/llm/structured"
	"synod.dev/synod/protocol"
)

// missing lists the seats that vote and have no answer on record.
func (j *judgment) missing() (ids []string) {
	for i, o := range j.last {
		if s := &j.plan.Seats()[i]; !s.NonVoting && AnswerOf(o) == synod.None {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// finished returns the last round that every seat has finished, apart from at most F seats
// that finished none; -1 if there is no such round.
func (j *judgment) finished() int {
	last, silent := -1, 0
	for _, o := range j.last {
		switch {
		case o == nil:
			silent++
		case last < 0 || o.Round < last:
			last = o.Round
		}
	}
	if silent > j.plan.Full().F {
		return -1
	}
	return last
}

// judgment is what Judge has found out.
type judgment struct {
	plan    *plan.Plan
	in      *plan.Instance
	seats   []*Record                     // by seat
	first   []synod.Answer                // by seat: what it gave independently
	last    []*synod.Opinion              // by seat; nil: the seat noted nothing
	answers answers                       // that were shown
	joined  map[synod.Answer]synod.Answer // calls and texts that others stand for; nil: none
	merged  *structured.Merged            // nil: the decision is not made field by field
	notes   int                           // of all seats
	use     callCost
	rereads int
	reused  int
	ticks   synod.Tick
	stages  *protocol.StagedDecision // see staged; nil: not computed yet
	// needless is how many requests began early and were not needed.
	needless int
	// uncommitted has the seats that are not in first because they did not commit to their answer in time; nil: none.
	uncommitted []bool
	uncounted   []synod.Answer // that members do not count: they cannot be read, or fail a check
	refused     []bool         // by seat: its last answer was taken out because it fails a check; nil: none was
}

// callCost is calls and tokens.
type callCost struct{ Calls, Prompt, Completion int }

// room returns n zero values in the storage of a buffer.
func room[T any](buffer []T, n int) []T {
	buffer = slices.Grow(buffer[:0], n)[:n]
	clear(buffer)
	return buffer
}

// staged is the result of a protocol that asks in stages; nil for others.
func (j *judgment) staged() *protocol.StagedDecision {
	p, ok := j.plan.Protocol().(protocol.Staged)
	if !ok {
		return nil
	}
	if j.stages == nil {
		noted := make([][]*synod.Opinion, len(j.seats))
		for i, r := range j.seats {
			for _, o := range r.Opinions {
				if o.Round == 0 && j.uncommitted != nil && j.uncommitted[i] {
					continue // the others have not counted it either
				}
				if noted[i] = append(noted[i], o.Opinion); slices.Contains(j.uncounted, o.Answer) {
					noted[i][len(noted[i])-1] = silenced(o.Opinion)
				}
			}
		}
		d := p.Decide(&j.in.Question, noted, j.plan.Full().F)
		j.stages = &d
	}
	return j.stages
}

// silenced is an opinion without its answer.
func silenced(o *synod.Opinion) *synod.Opinion {
	silent := *o
	silent.Answer = synod.None
	return &silent
}

// lastOpinions returns what every seat noted last.
func (j *judgment) lastOpinions() []synod.Opinion {
	last := make([]synod.Opinion, len(j.last))
	for i, o := range j.last {
		if o != nil {
			last[i] = *o
		}
	}
	return last
}

// stand returns the answer that stands for an answer in the ballot.
func (j *judgment) stand(a synod.Answer) synod.Answer { return cmp.Or(j.joined[a], a) }

// heard reports whether a voting seat's last answer came after round 0, in which members do not hear one another.
func (j *judgment) heard() bool {
	if j.plan.Protocol().MaxRounds() == 0 {
		return false
	}
	for i, o := range j.last {
		if o != nil && o.Round > 0 && !j.plan.Seats()[i].NonVoting {
			return true
		}
	}
	return false
}
