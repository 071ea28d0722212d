// Package reveal has members commit to their first answers before any of them tells its own. It is a machine around
// the machine of a seat, an honest or a corrupted one, and changes what that sends and hears in slot synod.Respond of
// round 0. The protocol inside does not know of it.
//
//  1. A first answer is held back, and a hash of it with a salt is sent to whom it was meant for.
//  2. A member that has the hashes of all members that are asked says that it is ready: it takes no further ones.
//  3. When all neighbours are ready, members open: they send the salt and the answer. What does not have the hash that
//     its sender committed to first is silence, and so is an answer without a hash, or with one that came too late.
//
// Independence: if delays are within the pace and the graph is complete, no honest member takes a commitment after an
// honest member has opened. For who opens has heard from every honest neighbour that it takes no more, or the time of
// commitments has passed for all. So an answer that an honest member has taken was fixed before its sender could read
// an honest member's answer, though not before it could learn the answers of other Byzantine members.
//
// Step 2 is why there are two more messages and not one. Without it a member that commits to one neighbour only gets
// that neighbour's answer, which has all commitments, and can copy it in a commitment to the others. On a graph that
// is not complete, a copy can also go to a member that is no neighbour of whose answer it is. So step 2 is repeated as
// often as the graph is wide (Config.Hops): a member then opens after all within that distance are ready, if
// honest members lie on a path of that length between them.
//
// The phases have fixed ends, and each ends early when nothing that it waits for can come any more. That is safe for
// the reason above: it is the condition of the proof and not the time that counts. A member that does not run, or
// that gives no answer, makes the others wait for the ends. No shorter wait would be safe: a Byzantine member can keep
// its commitment from one honest neighbour, and others cannot tell that one from one that does not run.
//
// On a network that loses messages, a lost commitment costs one receiver the answer, and a lost word of step 2 costs
// the receiver the wait for its end.
//
// A member may withhold its opening when it has seen the others'. That is silence, as before. Openings that a
// member receives before its own phase are held until then, so that a member which opens early gains nothing for
// others.
//
// A commitment is SHA-256 of the run, the sender, the round, the salt and the message, each with its length or of a
// fixed one. So it cannot be opened by another seat or in another run. The salt is synod.Seat.Salt. It is not derived
// from Seat.Seed, of which the provider of a model sees parts.
//
// Effects of the package: synod.Opened, once, from which package council counts who gave an answer independently.
package reveal

import (
	"crypto/sha256"
	"encoding/binary"

	"synod.dev/synod"
)

// Config says who commits.
type Config struct {
	// Asked returns the members that give a first answer to a question in round 0; nil: all. Answers that others give
	// later are told at once, in slots of later rounds.
	Asked func(*synod.Question) []synod.NodeID
	Hops  int // the greatest distance between two members in the graph of round 0, at least 1
}

// The names of slots of this package.
const (
	prefix = "reveal:"
	Commit = prefix + "commit" // a commitment
	Ready  = prefix + "ready"  // in round k: all within distance k take no further commitments
	Open   = prefix + "open"   // the salt and the answer
)

// ownAlarms is the first AlarmID of the machine; those of the machine inside are less.
const ownAlarms synod.AlarmID = 3 << 30

// answers is the slot of first answers in the machine inside.
var answers = synod.Slot{Name: synod.Respond}

// hops returns the number of times that step 2 is taken.
func (c *Config) hops() int { return max(c.Hops, 1) }

// Slowed returns the pace at which the protocol inside counts the ends of its rounds: a message of it may take as long
// as the messages that go before it.
func (c *Config) Slowed(pace synod.Pace) synod.Pace {
	pace.Within *= synod.Tick(c.hops() + 2)
	return pace
}

// Around returns the machine of a seat with another one inside, which Inside makes, or an adversary of what it makes.
func Around(seat synod.Seat, c Config, inner synod.Machine) synod.Machine {
	m := &machine{inner: inner, config: c}
	m.batch, _ = inner.(synod.Batcher)
	m.prepare(&seat)
	if r, ok := inner.(synod.Resetter); ok {
		return &renewable{m, r}
	}
	return m
}

// Inside returns the machine that join makes of a seat at the slower pace, for Around.
func Inside(seat synod.Seat, c Config, join func(synod.Seat) synod.Machine) synod.Machine {
	pace := seat.Pace
	seat.Pace = c.Slowed(pace)
	m := join(seat)
	s := slowed{m, c}
	b, batches := m.(synod.Batcher)
	r, renews := m.(synod.Resetter)
	switch {
	case batches && renews:
		return &slowBatcher{slowResetter{s, r}, b}
	case renews:
		return &slowResetter{s, r}
	}
	return m
}

// slowed is a machine at the slower pace.
type slowed struct {
	synod.Machine
	config Config
}

// slowResetter is one that can be used again.
type slowResetter struct {
	slowed
	inner synod.Resetter
}

// Reset implements synod.Resetter.
func (s *slowResetter) Reset(seat synod.Seat) {
	seat.Pace = s.config.Slowed(seat.Pace)
	s.inner.Reset(seat)
}

// slowBatcher is one that also takes several events at once.
type slowBatcher struct {
	slowResetter
	batch synod.Batcher
}

// StepAll implements synod.Batcher.
func (s *slowBatcher) StepAll(now synod.Tick, events []synod.Input) []synod.Effect {
	return s.batch.StepAll(now, events)
}

// renewable is a machine whose inner machine can be used for several runs.
type renewable struct {
	*machine
	inner synod.Resetter
}

// Reset implements synod.Resetter.
func (m *renewable) Reset(seat synod.Seat) {
	m.inner.Reset(seat)
	m.prepare(&seat)
}

// Commitment returns the hash by which a member commits to a message of round 0. body is that of an opening: the salt
// and the message. buffer is overwritten.
func Commitment(run string, from synod.NodeID, body []byte, buffer *[]byte) [sha256.Size]byte {
	b := append((*buffer)[:0], "synod/reveal/1"...)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(run))), run...)
	b = binary.BigEndian.AppendUint32(b, uint32(from))
	b = binary.BigEndian.AppendUint32(b, 0) // the round
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(body))), body...)
	*buffer = b
	return sha256.Sum256(b)
}
