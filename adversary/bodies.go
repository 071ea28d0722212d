package adversary

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"

	"synod.dev/synod"
)

var replayerEntry = Entry{
	Entry: synod.Entry{Name: "replayer", Summary: "sends messages of earlier rounds again, its own and those of " +
		"others"},
	Facts: Facts{Number: 39, Place: AtSeat, Model: Synchronous,
		Where:   synod.With(synod.Tells, synod.Votes, synod.Rounds).Or(synod.Signs),
		Defence: "a signature covers protocol, run, instance and round (BB-7); receivers take one message of a slot",
		Kind:    Deterministic, Source: "SAC appendix B.4 (cached replies); replay attacks"},
	About: `Takes part as an honest member does, but in place of a message it sends one that is valid
somewhere else: in odd rounds the first message of that kind that it sent, in even ones one
that it heard from another member. It signs nothing anew.`,
	New: NoParams(replayer{}),
}

// replayer sends old messages again.
type replayer struct {
	stock []synod.Message // messages of another run that it sends first
}

func (a replayer) Corrupt(_ synod.Seat, honest synod.Machine) synod.Machine {
	own, heard := map[string][]byte{}, map[string][]byte{}
	for _, m := range a.stock {
		heard[m.Slot.Name] = m.Body
	}
	again := func(s synod.Send) []synod.Send {
		first, sent := own[s.Slot.Name]
		if !sent {
			own[s.Slot.Name] = bytes.Clone(s.Body)
		}
		old := *s.Message
		if body, ok := heard[s.Slot.Name]; ok && s.Slot.Round%2 == 0 {
			old.Body = body
		} else if sent {
			old.Body = first
		}
		return []synod.Send{{To: s.To, Message: &old}}
	}
	m := &MessageRewriter{Honest: honest, Other: again,
		Response: func(s synod.Send, _ synod.Response) []synod.Send { return again(s) }}
	return &listener{m, func(x *synod.Message) {
		if len(a.stock) == 0 {
			heard[x.Slot.Name] = x.Body
		}
	}}
}

var malformedEntry = Entry{
	Entry: synod.Entry{Name: "malformed", Summary: "sends bodies that are too long, cut off, empty or garbled"},
	Facts: Facts{Place: AtSeat, Model: Synchronous,
		Where:   synod.With(synod.Tells).Or(synod.Grades).Or(synod.Bargains),
		Defence: "a body that cannot be read counts as silence, which uses up the budget F", Kind: Deterministic,
		Source: "OWASP LLM10; fuzzing"},
	About: `Takes part as an honest member does, but the bodies of its messages are a byte longer than
any that is read, cut off, empty, of random bytes, with one bit changed, or thousands of
nested brackets, as the seat's seed draws for each message.`,
	New: NoParams(malformed{}),
}

type malformed struct{}

func (malformed) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	spoil := func(s synod.Send) []synod.Send {
		bad := *s.Message
		bad.Body = spoiled(rand.New(rand.NewPCG(seat.Seed, uint64(s.Slot.Round)<<8^uint64(len(s.Slot.Name)))), s.Body)
		return []synod.Send{{To: s.To, Message: &bad}}
	}
	return &MessageRewriter{Honest: honest, Other: spoil,
		Response: func(s synod.Send, _ synod.Response) []synod.Send { return spoil(s) }}
}

// spoiled returns a body that no honest member sends.
func spoiled(chance *rand.Rand, body []byte) []byte {
	switch chance.IntN(6) {
	case 0:
		return bytes.Repeat([]byte{1}, synod.MaxLongBody+1)
	case 1:
		return slices.Clone(body[:len(body)/2])
	case 2:
		return nil
	case 3:
		random := make([]byte, 64)
		for i := range random {
			random[i] = byte(chance.Uint32())
		}
		return random
	case 4:
		return []byte(strings.Repeat("[", 20_000))
	}
	flipped := slices.Clone(body)
	if len(flipped) > 0 { // of the version, so that the rest cannot be read in another way
		flipped[0] ^= 1 << (1 + chance.IntN(7))
	}
	return flipped
}
