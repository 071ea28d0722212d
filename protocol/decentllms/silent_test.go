package decentllms

import (
	"math/rand/v2"

	"synod.dev/synod"
)

type silent struct{}

func (silent) Step(synod.Tick, synod.Event) []synod.Effect { return nil }

// twins is two honest machines with one key: each speaks to its half of the rest,
// which is how an unmodified member equivocates.
type twins struct{ faces [2]synod.Machine }

func (t *twins) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	for i, face := range t.faces {
		mine := e
		switch e := e.(type) {
		case synod.Answered:
			if int(e.ID)%2 != i {
				continue
			}
			e.ID /= 2
			mine = e
		case synod.Expired:
			if int(e.ID)%2 != i {
				continue
			}
			e.ID /= 2
			mine = e
		}
		for _, x := range face.Step(now, mine) {
			switch x := x.(type) {
			case synod.Send:
				var half []synod.NodeID
				for _, to := range x.To {
					if int(to)%2 == i {
						half = append(half, to)
					}
				}
				out = append(out, synod.Send{To: half, Message: x.Message})
			case synod.Consult:
				out = append(out, synod.Consult{ID: 2*x.ID + synod.ConsultID(i), Prompt: x.Prompt})
			case synod.Alarm:
				out = append(out, synod.Alarm{ID: 2*x.ID + synod.AlarmID(i), At: x.At})
			case synod.Decide:
			default:
				out = append(out, x)
			}
		}
	}
	return out
}

// selective loses half of what it sends.
type selective struct {
	synod.Machine
	r *rand.Rand
}

func (s *selective) Step(now synod.Tick, e synod.Event) (out []synod.Effect) {
	for _, x := range s.Machine.Step(now, e) {
		if send, ok := x.(synod.Send); ok {
			for _, to := range send.To {
				if s.r.IntN(2) == 0 {
					out = append(out, synod.Send{To: []synod.NodeID{to}, Message: send.Message})
				}
			}
			continue
		}
		out = append(out, x)
	}
	return out
}
