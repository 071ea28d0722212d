package adversary

import (
	"slices"

	"synod.dev/synod"
)

var lateRevealerEntry = Entry{
	Entry: synod.Entry{Name: "late-revealer", Summary: "tells a chosen few what all should hear, and late if need be"},
	About: `Takes part as an honest member does, but tells what it says to a few seats only,
after a delay if one is set. Seated one behind another, each showing only the next,
several of them carry a signed word in secret until the last round and show it then
to one honest member: the attack on a signed broadcast of too few rounds (Dolev and
Strong 1983). It changes no word and forges no signature.

shows  a seat's id in the council file, its place from 0, or a list of them; by default
       the first whom it would tell
late   how many ticks after it should its words leave, 0 to 1000 (0)`,
	New: newLateRevealer,
}

type lateRevealer struct {
	shows []named
	late  int
}

func newLateRevealer(params map[string]any) (Adversary, error) {
	var a lateRevealer
	if err := strict(params, "shows", "late"); err != nil {
		return nil, err
	}
	if v, is := params["shows"]; is {
		a.shows = names(v)
	}
	return a, whole(params, "late", &a.late, 0, 1000)
}

func (lateRevealer) Steady() bool { return true }

// Found looks up the seats that it shows its words.
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

// Corrupt leaves everything but who hears it, and when, to the honest machine.
func (a lateRevealer) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	m := &revealer{honest: honest, late: synod.Tick(a.late)}
	for _, n := range a.shows {
		m.shows = append(m.shows, n.node())
	}
	return m
}

// revealer holds back what its machine sends.
type revealer struct {
	honest synod.Machine
	shows  []synod.NodeID // empty: the first of every word's recipients
	late   synod.Tick
	held   []synod.Send // by alarm, from ownAlarms
	out    []synod.Effect
}

// ownAlarms is where a wrapper's alarms begin; an honest machine's begin at 0.
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
		if s.To = m.chosen(s.To); len(s.To) == 0 {
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

func (m *revealer) chosen(to []synod.NodeID) (few []synod.NodeID) {
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
