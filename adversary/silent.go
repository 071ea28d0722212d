package adversary

import "synod.dev/synod"

var silentEntry = Entry{
	Entry: synod.Entry{Name: "silent", Summary: "says nothing, ever"},
	About: `Neither answers nor speaks nor votes, and calls no model: a member that has crashed
before the first round, or one that starves its neighbours on purpose (the gap in
SAC's proof, finding F3).`,
	New: plain(silent{}),
}

type silent struct{}

func (silent) Steady() bool { return true }

// Corrupt puts a machine without effects in the seat. The honest machine is never
// begun, so there is nothing of it to halt.
func (silent) Corrupt(synod.Seat, synod.Machine) synod.Machine { return mute{} }

type mute struct{}

// Step decides at once that it has no answer, so that nobody waits for it.
func (mute) Step(_ synod.Tick, e synod.Event) []synod.Effect {
	if _, ok := e.(synod.Begin); ok {
		return []synod.Effect{synod.Decide{}}
	}
	return nil
}
