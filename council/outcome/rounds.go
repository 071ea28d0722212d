package outcome

import (
	"encoding/json"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

// answers are the canonical answers of an outcome, each once. What is printed may have another spelling; see
// judgment.spelling.
type answers []synod.Answer

// of returns an answer as an outcome has it; nil for None.
func (s *answers) of(a synod.Answer) *synod.Answer {
	if a == synod.None {
		return nil
	}
	at := slices.Index(*s, a)
	if at < 0 {
		at = len(*s)
		*s = append(slices.Grow(*s, 4), a) // a list that grows leaves the earlier answers where they are
	}
	return &(*s)[at]
}

// Round is what every member held after round t; t 0 is the independent answers.
type Round struct {
	T       int         `json:"t"`
	Members []RoundSeat `json:"members"`
}

// RoundSeat is one member's opinion in a round.
type RoundSeat struct {
	ID     string        `json:"id"`
	Answer *synod.Answer `json:"answer"`
	Source synod.Source  `json:"source"`
	From   []string      `json:"from,omitempty"`
	Scores Scores        `json:"scores"`
	// Confidence is the member's own in its answer; null where the protocol asks for none.
	Confidence *float64 `json:"confidence"`
	Retained   []string `json:"retained"`
	Dropped    []string `json:"dropped"`
	Silent     []string `json:"silent"`
	Suspects   []string `json:"suspects,omitempty"` // seats that were seen to equivocate
	Failed     int      `json:"failed"`
	Garbled    int      `json:"garbled"` // replies that could not be read
	Unsure     int      `json:"unsure"`  // answers without a readable confidence, where one was asked for

	// Reasoning is what the member's model wrote before the answer; "" if it wrote none.
	// Untrusted.
	Reasoning string `json:"reasoning,omitempty"`

	// Presented is what the protocol adds, by name in the JSON; nil: nothing.
	Presented map[string]any `json:"-"`
}

// MarshalJSON adds what the protocol presents.
func (s RoundSeat) MarshalJSON() ([]byte, error) {
	type plain RoundSeat
	return marshalWith(plain(s), s.Presented)
}

// marshalWith encodes a struct, and extra members after its own.
func marshalWith(v any, extra map[string]any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil || len(extra) == 0 {
		return b, err
	}
	more, err := json.Marshal(extra)
	if err != nil {
		return nil, err
	}
	b[len(b)-1] = ','
	return append(b, more[1:]...), nil
}

// Rounds is what the members of an Outcome held after each round. The list is made when it
// is asked for, because most outcomes of a study are only counted. In JSON it is the list.
type Rounds struct {
	*transcript
	read []Round // as it was read from JSON, without a transcript
}

// transcript is what the list of rounds is made of.
type transcript struct {
	plan     *plan.Plan
	opinions [][]Noted // by seat; nil: they are packed
	packed   packed    // by seat: how many opinions it has, and these
	said     [][]Said  // by seat; nil: there is none
}

// notes returns the opinions by seat.
func (t *transcript) notes() [][]Noted {
	if t.opinions != nil {
		return t.opinions
	}
	opinions, p := make([][]Noted, len(t.plan.Seats())), t.packed
	for i := range opinions {
		for range p.nextNumber() {
			opinions[i] = append(opinions[i], Noted{Opinion: p.next()})
		}
	}
	return opinions
}

// numbers returns the rounds in which a member noted something, ascending.
func numbers(all [][]Noted) (numbers []int) {
	for _, opinions := range all {
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
	return len(numbers(r.notes()))
}

// All returns the rounds in order. Every call makes a new list.
func (r Rounds) All() []Round {
	if r.transcript == nil {
		return slices.Clone(r.read)
	}
	notes := r.notes()
	numbers := numbers(notes)
	rounds := make([]Round, len(numbers))
	for t, number := range numbers {
		rounds[t] = Round{T: number, Members: make([]RoundSeat, 0, len(notes))}
	}
	names, answers := namer{seats: r.plan.Seats()}, answers{}
	presenter, _ := r.plan.Protocol().(protocol.RoundPresenter)
	for i, opinions := range notes {
		var said []Said
		if r.said != nil {
			said = r.said[i]
		}
		for _, o := range opinions {
			t, _ := slices.BinarySearch(numbers, o.Round)
			rounds[t].Members = append(rounds[t].Members, RoundSeat{
				ID: r.plan.Seats()[i].ID, Answer: answers.of(o.Answer), Source: o.Source, Confidence: o.Confidence,
				Scores: names.scores(o.Scores), From: names.of(o.From), Retained: names.of(o.Retained),
				Dropped: names.of(o.Dropped), Silent: names.of(o.Silent), Suspects: names.of(o.Suspects),
				Failed: o.Failed, Garbled: o.Unreadable, Unsure: o.Unsure, Reasoning: reasoning(said, o.Round),
			})
			if presenter != nil {
				last := &rounds[t].Members[len(rounds[t].Members)-1]
				last.Presented = presenter.PresentRound(o.Opinion, r.plan.Name)
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
type namer struct{ seats []plan.Seat }

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
