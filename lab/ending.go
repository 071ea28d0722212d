package lab

import (
	"synod.dev/synod"
	"synod.dev/synod/council"
	"synod.dev/synod/journal"
	"synod.dev/synod/protocol"
)

// endings makes ready for a protocol whose runs end in named ways.
func (r *Run) endings() error {
	e, err := protocol.Catalogue.Find(r.Protocol)
	if err != nil {
		return err
	}
	if _, ok := e.New().(protocol.Ending); !ok || r.ending != nil {
		return nil
	}
	spec, err := r.Spec()
	if err != nil {
		return err
	}
	p, err := council.ProtocolOf(spec)
	if err != nil {
		return err
	}
	r.ending = p.(protocol.Ending)
	return nil
}

// ended is how a run ended; "" where its protocol names no ways.
func (r *Run) ended(noted []journal.Noted) (string, int) {
	if r.ending == nil {
		return "", 0
	}
	notes, honest := make([][]*synod.Opinion, len(r.Seats)), make([]bool, len(r.Seats))
	for i, s := range r.Seats {
		honest[i] = s.Adversary == ""
	}
	for i := range noted {
		if n := &noted[i]; int(n.Node) >= 0 && int(n.Node) < len(notes) {
			notes[n.Node] = append(notes[n.Node], &n.Opinion)
		}
	}
	return r.ending.Ended(notes, honest)
}
