package council

import (
	"encoding/json"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/protocol"
)

// Rounds is what the members of an Outcome held after each round. The list is made when it
// is asked for, because most outcomes of a study are only counted. In JSON it is the list.
type Rounds struct {
	*transcript
	read []Round // as it was read from JSON, without a transcript
}

// transcript is what the list of rounds is made of.
type transcript struct {
	plan     *Plan
	opinions [][]Noted // by seat
	said     [][]Said  // likewise
	answers  answers
}

func (j *judgment) transcript() *transcript {
	t := &transcript{j.plan, make([][]Noted, len(j.seats)), make([][]Said, len(j.seats)), slices.Clip(j.answers)}
	for i, r := range j.seats {
		t.opinions[i], t.said[i] = r.Opinions, r.Said
	}
	return t
}

// numbers returns the rounds in which a member noted something, ascending.
func (r Rounds) numbers() (numbers []int) {
	for _, opinions := range r.opinions {
		for _, o := range opinions {
			if at, known := slices.BinarySearch(numbers, o.Round); !known {
				numbers = slices.Insert(numbers, at, o.Round)
			}
		}
	}
	return numbers
}

// Len returns the number of rounds, that of the independent answers included.
func (r Rounds) Len() int {
	if r.transcript == nil {
		return len(r.read)
	}
	return len(r.numbers())
}

// All returns the rounds in order. Every call makes a new list.
func (r Rounds) All() []Round {
	if r.transcript == nil {
		return slices.Clone(r.read)
	}
	numbers := r.numbers()
	rounds := make([]Round, len(numbers))
	for t, number := range numbers {
		rounds[t] = Round{T: number, Members: make([]RoundSeat, 0, len(r.opinions))}
	}
	names, answers := namer{seats: r.plan.seats}, slices.Clip(r.answers) // a copy grows if it has to
	presenter, _ := r.plan.protocol.(protocol.RoundPresenter)
	for i, opinions := range r.opinions {
		for _, o := range opinions {
			t, _ := slices.BinarySearch(numbers, o.Round)
			rounds[t].Members = append(rounds[t].Members, RoundSeat{
				ID: r.plan.seats[i].ID, Answer: answers.of(o.Answer), Source: o.Source, Confidence: o.Confidence,
				Scores: names.scores(o.Scores), From: names.of(o.From), Retained: names.of(o.Retained),
				Dropped: names.of(o.Dropped), Silent: names.of(o.Silent), Suspects: names.of(o.Suspects),
				Failed: o.Failed, Garbled: o.Unreadable, Unsure: o.Unsure, Reasoning: reasoning(r.said[i], o.Round),
			})
			if presenter != nil {
				last := &rounds[t].Members[len(rounds[t].Members)-1]
				last.Presented = presenter.PresentRound(o.Opinion, r.plan.name)
			}
		}
	}
	return rounds
}

// MarshalJSON writes the list.
func (r Rounds) MarshalJSON() ([]byte, error) { return json.Marshal(r.All()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Rounds) UnmarshalJSON(b []byte) error {
	*r = Rounds{}
	return json.Unmarshal(b, &r.read)
}

// namer turns seat numbers into ids.
type namer struct{ seats []Seat }

// of skips seats that do not exist: a journal may hold any number.
func (n namer) of(seats []synod.NodeID) []string {
	names := make([]string, 0, len(seats))
	for _, id := range seats {
		if id >= 0 && int(id) < len(n.seats) {
			names = append(names, n.seats[id].ID)
		}
	}
	return names
}

func (n namer) scores(judged []synod.Judged) Scores {
	scores := make(Scores, 0, len(judged))
	for _, x := range judged {
		if x.Of >= 0 && int(x.Of) < len(n.seats) {
			scores = append(scores, SeatScore{n.seats[x.Of].ID, x.Score})
		}
	}
	return scores
}
