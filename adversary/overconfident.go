package adversary

import "synod.dev/synod"

var overconfidentEntry = Entry{
	Entry: synod.Entry{Name: "overconfident",
		Summary: "scores itself 1 and all others 0, and never changes its answer"},
	Facts: Facts{Place: AtSeat, Model: Restricted, Where: confiding,
		Defence: "receivers' own scores (sac)", Kind: Statistical, Source: "SAC, CP-WBFT"},
	About: `Answers with its own model and then believes no other member: its own answer scores 1
and every other 0, whatever its model says, and it claims confidence 1.0 where the
protocol asks for one. It calls its model for judgements all the same, so that its cost
and timing are those of an honest member.`,
	New: NoParams(overconfident{}),
}

type overconfident struct{}

func (overconfident) Steady() bool { return true }

// Corrupt calls the model for every prompt, and replaces every reply except the first
// answer.
func (overconfident) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	m, mine := firstAnswer(&seat, honest)
	answer, replace := m.Answer, m.Replace
	m.Answer = nil
	m.Replace = func(p *synod.Prompt, r *synod.Reply) *synod.Reply {
		replace(p, r)
		if own := answer(p); own != nil && r.Status == synod.OK {
			return own
		}
		return r
	}
	return certainly(m, &seat, mine)
}
