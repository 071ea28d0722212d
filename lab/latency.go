package lab

import "synod.dev/synod"

// secondsPerTick makes virtual seconds of ticks. Where nothing is real a tick is a
// second: a message takes one, a round of an exchange the ticks that its protocol
// gives it, and members that are asked in one tick think at the same time. So
// latency compares protocols and says nothing of models or machines.
const secondsPerTick = 1

// took is when the last honest seat that votes noted for the last time what it
// holds: in a protocol that ends early when it decided, else its last round.
func (r *Run) took(last map[synod.NodeID]synod.Tick) (most synod.Tick) {
	for i, s := range r.Seats {
		if s.Adversary == "" && !s.Mute {
			most = max(most, last[synod.NodeID(i)])
		}
	}
	return most
}
