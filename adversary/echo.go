package adversary

import (
	"synod.dev/synod"
)

var echoEntry = Entry{
	Entry: synod.Entry{Name: "echo", Summary: "repeats the rarest answer that it heard, to make it look supported"},
	Facts: Facts{Place: AtSeat, Model: Synchronous, Where: synod.With(synod.Tells, synod.Votes, synod.Rounds),
		Defence: "support rule: an answer that was first heard from others has no independent support",
		Kind:    Deterministic, Source: "own"},
	About: `Answers honestly at first. In each later round it repeats, with confidence 1.0, the
rarest answer that it heard in the round before, so that an answer which one member gave
seems to have several supporters.`,
	New: NoParams(echo{}),
}

type echo struct{}

func (echo) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	if seat.Signer != nil {
		return honest
	}
	last := []synod.Response(nil)
	m := &rusher{seat: seat, honest: honest}
	m.change = func(r synod.Response, heard []synod.Response) synod.Response {
		if answers := byFrequency(last); len(answers) > 0 {
			r.Answer, r.Rationale, r.Confidence = answers[len(answers)-1], "", 1
		}
		last = heard
		return r
	}
	return m
}
