package adversary

import "synod.dev/synod"

var overconfidentEntry = Entry{
	Entry: synod.Entry{Name: "overconfident", Summary: "sure of itself: takes part, scores itself 1 and everyone else 0, never changes"},
	About: `Answers with its own model and then believes nobody: its own answer scores 1 and
every other 0, whatever its model says, and it claims confidence 1.0 where a
protocol asks. It calls its model for judgements all the same, so that it costs
and times like an honest member.`,
	New: plain(overconfident{}),
}

type overconfident struct{}

func (overconfident) Steady() bool { return true }

// Corrupt asks the model all that an honest member asks, and puts its own
// conviction in place of every reply but the first answer.
func (overconfident) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	own, mine := stubborn(seat, honest)
	instead := own.says
	own.says = func(*synod.Prompt) *synod.Reply { return nil }
	own.replaces = func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		own.hears(p, r)
		if conviction := instead(p); conviction != nil && r.Status == synod.OK {
			return conviction
		}
		return r
	}
	return boast(seat, own, mine)
}
