package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
)

// Faults describes what goes wrong with nodes and messages. The zero value is a
// perfect network: every message takes one tick.
type Faults struct {
	Delay Delay `yaml:"delay" json:"delay,omitzero"`
	// probability that one message to one receiver is lost, in [0,1]
	Loss       float64     `yaml:"loss" json:"loss,omitempty"`
	Partitions []Partition `yaml:"partitions" json:"partitions,omitempty"`
	Crashes    []Crash     `yaml:"crashes" json:"crashes,omitempty"`
}

// Delay is the range of the extra delay of messages, in ticks. It is drawn
// uniformly for every message and receiver.
type Delay struct {
	Min synod.Tick `yaml:"min" json:"min"`
	Max synod.Tick `yaml:"max" json:"max"`
}

// Partition cuts all links between nodes of different groups for messages that are
// sent in [From, To). A node that is in no group is cut off from all others.
type Partition struct {
	From   synod.Tick       `yaml:"from" json:"from"`
	To     synod.Tick       `yaml:"to" json:"to"`
	Groups [][]synod.NodeID `yaml:"groups" json:"groups"`
}

// Crash makes a node lose every event in [At, To). To 0 means that it never comes
// back.
type Crash struct {
	Node synod.NodeID `yaml:"node" json:"node"`
	At   synod.Tick   `yaml:"at" json:"at"`
	To   synod.Tick   `yaml:"to" json:"to"`
}

// None reports whether nothing goes wrong.
func (f Faults) None() bool {
	return f.Delay == Delay{} && f.Loss == 0 && len(f.Partitions) == 0 && len(f.Crashes) == 0
}

// Validate returns an error for the first fault that is impossible with n nodes.
func (f Faults) Validate(n int) error {
	switch {
	case f.Delay.Min < 0 || f.Delay.Max < f.Delay.Min:
		return fmt.Errorf("sim: delay is from %d to %d ticks; it must be 0 ≤ min ≤ max", f.Delay.Min, f.Delay.Max)
	case !(f.Loss >= 0 && f.Loss <= 1):
		return fmt.Errorf("sim: loss is %v; it must be in [0,1]", f.Loss)
	}
	for i, c := range f.Crashes {
		if int(c.Node) < 0 || int(c.Node) >= n {
			return fmt.Errorf("sim: a crash names node %d of %d", c.Node, n)
		}
		if slices.ContainsFunc(f.Crashes[:i], func(d Crash) bool { return d.Node == c.Node }) {
			return fmt.Errorf("sim: node %d crashes twice; a node can crash once", c.Node)
		}
	}
	for _, p := range f.Partitions {
		if p.To <= p.From {
			return fmt.Errorf("sim: a partition lasts from tick %d to tick %d; it must end after it begins", p.From,
				p.To)
		}
		for _, id := range slices.Concat(p.Groups...) {
			if int(id) < 0 || int(id) >= n {
				return fmt.Errorf("sim: a partition names node %d of %d; nodes are numbered from 0", id, n)
			}
		}
	}
	return nil
}

// carry returns how many ticks one message to one receiver takes, or false if it is
// lost.
func (f *Faults) carry(random *rand.Rand, from, to synod.NodeID, now synod.Tick) (synod.Tick, bool) {
	for _, p := range f.Partitions {
		if now >= p.From && now < p.To && !p.joins(from, to) {
			return 0, false
		}
	}
	if f.Loss > 0 && random.Float64() < f.Loss {
		return 0, false
	}
	after := 1 + f.Delay.Min
	if spread := f.Delay.Max - f.Delay.Min; spread > 0 {
		after += synod.Tick(random.Int64N(int64(spread) + 1))
	}
	return after, true
}

// joins reports whether two nodes are in the same group.
func (p Partition) joins(a, b synod.NodeID) bool {
	for _, g := range p.Groups {
		if slices.Contains(g, a) && slices.Contains(g, b) {
			return true
		}
	}
	return false
}

// down reports whether a node is down at a tick.
func (f *Faults) down(node synod.NodeID, now synod.Tick) bool {
	for _, c := range f.Crashes {
		if c.Node == node && now >= c.At && (c.To == 0 || now < c.To) {
			return true
		}
	}
	return false
}
