package adversary

import (
	"math/rand/v2"
	"slices"

	"synod.dev/synod"
)

var selectiveSilenceEntry = Entry{
	Entry: synod.Entry{Name: "selective-silence", Summary: "sends each message to some of its neighbours only"},
	Facts: Facts{Number: 22, Place: AtSeat, Model: Synchronous,
		Where:   synod.With(synod.Tells, synod.Rounds).Or(synod.Signs),
		Defence: "silence uses up the budget F; a broadcast delivers the same value or none to all",
		Kind:    Deterministic, Source: "the gap in SAC's proof (finding F3)"},
	About: `Takes part as an honest member does, but each of its messages reaches only some of the
recipients, others in each round. To the rest it looks as if it had crashed.

reach  the share of recipients that each message reaches, 0 to 1 (0.5); 0: none`,
	New: func(params map[string]any) (Adversary, error) {
		a := selectiveSilence{Reach: 0.5}
		err := decode(params, &a)
		return a, err
	},
	Params: func() any { return &selectiveSilence{Reach: 0.5} },
}

type selectiveSilence struct {
	Reach float64 `yaml:"reach" doc:"share of recipients that each message reaches" range:"0:1"`
}

func (a selectiveSilence) Corrupt(seat synod.Seat, honest synod.Machine) synod.Machine {
	some := func(s synod.Send) []synod.Send {
		chance := rand.New(rand.NewPCG(seat.Seed, uint64(s.Slot.Round)<<8^uint64(len(s.Slot.Name))))
		s.To = slices.DeleteFunc(slices.Clone(s.To), func(synod.NodeID) bool { return chance.Float64() >= a.Reach })
		if len(s.To) == 0 {
			return nil
		}
		return []synod.Send{s}
	}
	return &MessageRewriter{Honest: honest, Other: some,
		Response: func(s synod.Send, _ synod.Response) []synod.Send { return some(s) }}
}
