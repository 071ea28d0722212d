package adversary

import "synod.dev/synod"

var silentEntry = Entry{
	Entry: synod.Entry{Name: "silent", Summary: "sends nothing"},
	Facts: Facts{Place: AtSeat, Model: Synchronous, Where: synod.With(synod.Trims), Defence: "silence uses up " +
		"the budget F",
		Kind: Deterministic, Source: "finding F3"},
	About: `Sends no message, does not vote and calls no model: a member that crashed before the
first round, or one that withholds its answer on purpose (the gap in SAC's proof,
finding F3).`,
	New: NoParams(silent{}),
}

type silent struct{}

func (silent) Steady() bool { return true }

// Corrupt drops the honest machine, which has not begun and so need not be halted.
func (silent) Corrupt(synod.Seat, synod.Machine) synod.Machine { return silentMachine{} }

type silentMachine struct{}

// Step decides at once that there is no answer, so that the run does not wait for it.
func (silentMachine) Step(_ synod.Tick, e synod.Event) []synod.Effect {
	if _, ok := e.(synod.Begin); ok {
		return []synod.Effect{synod.Decide{}}
	}
	return nil
}
