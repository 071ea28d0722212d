package adversary

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/llm/read"
)

var lastMoverEntry = Entry{
	Entry: synod.Entry{Name: "last-mover", Summary: "waits for the honest messages of a round, then outbids them"},
	Facts: Facts{Number: 20, Place: AtSeat, Model: Synchronous, Where: synod.With(synod.Tells, synod.Rounds),
		Defence: "commitments (commit); receivers' own scores instead of stated confidence; support rule; signed " +
			"broadcast, where a late " +
			"value " +
			"is none", Kind: Deterministic, Source: "the rushing adversary of the literature on broadcast"},
	About: `Holds back its message of a round until it has heard all its neighbours, or until the
time for messages is nearly over. Then it sends another answer than the most frequent one:
the next most frequent of those it heard, or an invented one, with a confidence a little
higher than the highest it heard. In a protocol that signs its messages it delays them by
the bound, and does not change them.

copy  true: it sends the most frequent answer it heard, as if it were its own`,
	New: func(params map[string]any) (Adversary, error) {
		var a lastMover
		err := decode(params, &a)
		return a, err
	},
	Params: func() any { return &lastMover{} },
}

type lastMover struct {
	Copy bool `yaml:"copy" doc:"send the most frequent answer it heard"`
}

func (a lastMover) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if seat.Signer != nil {
		return &revealer{honest: honest, late: seat.Pace.Within, shows: slices.Clone(seat.Peers)}
	}
	return &rusher{seat: seat, honest: honest, change: func(r synod.Response, heard []synod.Response) synod.Response {
		frequent := byFrequency(heard)
		for _, h := range heard {
			r.Confidence = max(r.Confidence, h.Confidence)
		}
		r.Confidence = (1 + r.Confidence) / 2
		switch {
		case len(frequent) == 0:
		case a.Copy:
			r.Answer = frequent[0]
		case len(frequent) > 1:
			r.Answer = frequent[1]
		default:
			r.Answer = other(seat.Question, frequent[0])
		}
		return r
	}}
}

// byFrequency returns the different answers of responses, the most frequent one first; of equally
// frequent ones the least.
func byFrequency(heard []synod.Response) (answers []synod.Answer) {
	count := map[synod.Answer]int{}
	for _, h := range heard {
		if count[h.Answer]++; count[h.Answer] == 1 {
			answers = append(answers, h.Answer)
		}
	}
	slices.SortFunc(answers, func(a, b synod.Answer) int {
		if d := count[b] - count[a]; d != 0 {
			return d
		}
		if a < b {
			return -1
		}
		return 1
	})
	return answers
}

// rusher is a machine that holds back its response of a round until it has heard all its neighbours,
// and chooses it then.
type rusher struct {
	seat   synod.Seat
	honest synod.Machine
	// change returns the response in place of the honest one, in view of what was heard in the round.
	change func(r synod.Response, heard []synod.Response) synod.Response

	heard  map[int][]synod.Response // by round
	from   map[int]map[synod.NodeID]bool
	held   map[int]synod.Send // by round, until it is sent
	alarms []int              // by alarm, from ownAlarms on: the round
	mine   synod.Response     // what it sent last
	noted  []synod.Note       // opinions of rounds whose response is held
	out    []synod.Effect
}

// Step passes the event on, and sends what it held once it has heard enough.
func (m *rusher) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.out = m.out[:0]
	if m.heard == nil {
		m.heard, m.held = map[int][]synod.Response{}, map[int]synod.Send{}
		m.from = map[int]map[synod.NodeID]bool{}
	}
	switch x := e.(type) {
	case synod.Expired:
		if x.ID >= ownAlarms {
			m.send(m.alarms[x.ID-ownAlarms])
			return m.out
		}
	case synod.Heard:
		m.hear(x.Message)
		if m.all(x.Slot.Round) { // before its own machine ends the round
			m.send(x.Slot.Round)
		}
	}
	for _, x := range m.honest.Step(now, e) {
		switch x := x.(type) {
		case synod.Send:
			m.hold(now, x)
		case synod.Note:
			o := *x.Opinion
			m.noted = append(m.noted, synod.Note{Opinion: &o})
		case synod.Decide:
			m.flush()
			if m.mine.Answer != synod.None {
				x.Answer = m.mine.Answer
			}
			m.out = append(m.out, x)
		default:
			m.out = append(m.out, x)
		}
	}
	if len(m.held) == 0 {
		m.flush()
	}
	return m.out
}

// hear keeps a neighbour's response of a round.
func (m *rusher) hear(x *synod.Message) {
	var r synod.Response
	round := x.Slot.Round
	if x.Slot.Name != synod.Respond || r.UnmarshalBinary(x.Body) != nil || m.from[round][x.From] ||
		len(m.from) > maxHeard {
		return
	}
	if m.from[round] == nil {
		m.from[round] = map[synod.NodeID]bool{}
	}
	m.from[round][x.From] = true
	if a, ok := read.Canonical(m.seat.Question, string(r.Answer)); ok {
		r.Answer = a
		m.heard[round] = append(m.heard[round], r)
	}
}

func (m *rusher) all(round int) bool { return len(m.from[round]) >= len(m.seat.Neighbours(round)) }

// hold keeps a response until all neighbours were heard, or until half of the time for messages is over.
func (m *rusher) hold(now synod.Tick, s synod.Send) {
	if s.Slot.Name != synod.Respond {
		m.out = append(m.out, s)
		return
	}
	copied := *s.Message
	copied.Body = slices.Clone(s.Body)
	m.held[s.Slot.Round] = synod.Send{To: slices.Clone(s.To), Message: &copied}
	if m.all(s.Slot.Round) {
		m.send(s.Slot.Round)
		return
	}
	m.out = append(m.out, synod.Alarm{ID: ownAlarms + synod.AlarmID(len(m.alarms)), At: now + max(1,
		m.seat.Pace.Within/2)})
	m.alarms = append(m.alarms, s.Slot.Round)
}

// send sends what is held for a round.
func (m *rusher) send(round int) {
	s, ok := m.held[round]
	if !ok {
		return
	}
	delete(m.held, round)
	var r synod.Response
	if r.UnmarshalBinary(s.Body) == nil {
		r = m.change(r, m.heard[round])
		if a, ok := read.Canonical(m.seat.Question, string(r.Answer)); ok {
			m.mine, m.mine.Answer = r, a
		}
		s = WithResponse(s, s.To, r)
	}
	m.out = append(m.out, s)
}

// flush records the opinions that waited for what it sent, with the answer and the confidence of that.
func (m *rusher) flush() {
	for _, x := range m.noted {
		if o := x.Opinion; m.mine.Answer != synod.None && o.Answer != synod.None {
			if o.Answer != m.mine.Answer {
				o.Answer, o.Surface, o.Source, o.From = m.mine.Answer, "", synod.Kept, nil
			}
			if o.Confidence != nil {
				o.Confidence = new(m.mine.Confidence)
			}
		}
		m.out = append(m.out, x)
	}
	m.noted = m.noted[:0]
}
