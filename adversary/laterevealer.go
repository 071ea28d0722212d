package adversary

import (
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/param"
)

var lateRevealerEntry = Entry{
	Entry: synod.Entry{Name: "late-revealer", Summary: "sends its messages to a few seats only, and late if wanted"},
	Facts: Facts{Number: 21, Place: AtSeat, Model: Synchronous, Where: synod.With(synod.Signs),
		Defence: "f+1 rounds of a broadcast with the sender counted", Kind: Deterministic,
		Source: "Dolev and Strong 1983, finding F11"},
	About: `Takes part as an honest member does, but sends its messages to a few seats only, and
after a delay if one is set. Several of them in a chain, each sending to the next only,
keep a signed message secret until the last round and then show it to one honest member:
the attack on a signed broadcast with too few rounds (Dolev and Strong 1983). It changes
no message and forges no signature.

shows  a seat's id in the council file, its index from 0, or a list of them; by default
       the first recipient of each message
late   the delay of its messages in milliseconds, 0 to 60000 (0)`,
	New:    newLateRevealer,
	Params: func() any { return &lateRevealerParams{} },
}

type lateRevealerParams struct {
	Shows any `yaml:"shows" doc:"ids or indices of the seats that get its messages" example:"[a1, 2]"`
	Late  int `yaml:"late" doc:"delay of its messages" range:"0:60000" unit:"milliseconds"`
}

type lateRevealer struct {
	shows []seatName
	late  int
}

func newLateRevealer(params map[string]any) (Adversary, error) {
	var given lateRevealerParams
	if err := param.Decode(params, &given); err != nil {
		return nil, err
	}
	return lateRevealer{seatNames(given.Shows), given.Late}, inRange("late", given.Late, 0, 60_000)
}

func (lateRevealer) Steady() bool { return true }

func (a lateRevealer) Found(seat func(string) (synod.NodeID, error)) (Adversary, error) {
	a.shows = slices.Clone(a.shows)
	for i, n := range a.shows {
		var err error
		if a.shows[i], err = n.find(seat); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a lateRevealer) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	m := &revealer{honest: honest, late: synod.Tick(a.late)}
	for _, n := range a.shows {
		m.shows = append(m.shows, n.node())
	}
	return m
}

// revealer delays messages and drops recipients.
type revealer struct {
	honest synod.Machine
	shows  []synod.NodeID // empty: the first recipient of each message
	late   synod.Tick
	held   []synod.Send // by alarm, from ownAlarms on
	out    []synod.Effect
}

// ownAlarms is the first AlarmID of a wrapper; those of an honest machine begin at 0.
const ownAlarms = 1 << 31

func (m *revealer) Step(now synod.Tick, e synod.Event) []synod.Effect {
	m.out = m.out[:0]
	if x, is := e.(synod.Expired); is && x.ID >= ownAlarms {
		return append(m.out, m.held[x.ID-ownAlarms])
	}
	for _, x := range m.honest.Step(now, e) {
		s, is := x.(synod.Send)
		if !is {
			m.out = append(m.out, x)
			continue
		}
		if s.To = m.recipients(s.To); len(s.To) == 0 {
			continue
		}
		if m.late == 0 {
			m.out = append(m.out, s)
			continue
		}
		m.out = append(m.out, synod.Alarm{ID: ownAlarms + synod.AlarmID(len(m.held)), At: now + m.late})
		m.held = append(m.held, s)
	}
	return m.out
}

func (m *revealer) recipients(to []synod.NodeID) (few []synod.NodeID) {
	if len(m.shows) == 0 {
		return slices.Clone(to[:min(1, len(to))])
	}
	for _, id := range to {
		if slices.Contains(m.shows, id) {
			few = append(few, id)
		}
	}
	return few
}
