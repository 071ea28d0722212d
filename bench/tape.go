package bench

import (
	"fmt"

	"synod.dev/synod/adversary"
	"synod.dev/synod/council/seating"
)

// Tape returns the wrong first answers of the only member of a run, for an adversary that replays them to other
// questions. Of a question that was asked several times, it takes the first answer. A call that failed, and a reply
// that could not be read or graded, gives no answer.
func Tape(r *Run) (*adversary.Tape, error) {
	if len(r.Seats) != 1 || r.Seats[0].Adversary != "" {
		return nil, fmt.Errorf("bench: a tape needs a run with one honest member, and this one has %d seats",
			len(r.Seats))
	}
	x, err := r.read()
	if err != nil {
		return nil, err
	}
	defer x.close()
	own := &r.Seats[0]
	t := &adversary.Tape{TapeHead: adversary.TapeHead{Version: adversary.TapeVersion, Program: r.Program,
		Model: own.Model, Identity: own.Identity, Kind: string(own.Kind), Task: r.Task, Seed: r.Seed}}
	err = x.results(func(j job, res *result) {
		if res == nil || j.repeat > 0 || res.mark(0) == seating.Failed {
			return
		}
		t.Asked++
		switch res.mark(0) {
		case seating.Right:
			t.Right++
		case seating.Wrong:
			q := &r.Items[j.item].Question
			one := adversary.Taped{Form: q.Form, Answer: string(res.Rounds[0][0]), Of: adversary.TapedOf(q)}
			t.Answers = append(t.Answers, one)
		default:
			t.Unread++
		}
	})
	return t, err
}
