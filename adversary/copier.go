package adversary

import (
	"fmt"

	"synod.dev/synod"
)

var copierEntry = Entry{
	Entry: synod.Entry{Name: "copier",
		Summary: "copies another member's first answer, which earns trust, and defects on a share of the questions"},
	Facts: Facts{Place: AtSeat, Model: Synchronous, Where: synod.With(synod.Tells, synod.FirstVotes),
		Defence: "commitments (commit), and reliability that finds copies", Kind: Statistical,
		Source: "docs/research/cascade.md, attack copy"},
	About: `Waits for the answer of the seat that it copies, and gives the same one as its own first
answer. Where it defects, it gives a wrong answer as the colluder does. Copying the best
member earns it the weight of that member in protocols that learn reliability
(docs/research/cascade.md, attack copy): let it copy in the run from which trust is learned, with
defects: 0, and defect in the next one, with defects: 1. If the other seat's message does
not come in time, it gives its own model's answer.

All copiers with the same share defect on the same questions, which the hash of the
question decides.

copies   a seat's id in the council file, or its index from 0; default: the first neighbour
waits    how long it waits for that seat's message, in milliseconds (one message's time)
defects  share of the questions on which it defects, 0 to 1 (0)
with     ids or indices of the accomplices whose wrong answers it joins (none)`,
	New:    newCopier,
	Params: func() any { return &copierParams{} },
}

type copierParams struct {
	Copies  any     `yaml:"copies" doc:"id or index of the seat that it copies; default: the first neighbour" example:"a1"`
	Waits   int     `yaml:"waits" doc:"how long it waits for that seat's message; 0: the pace of a message" range:"0:600000" unit:"milliseconds"`
	Defects float64 `yaml:"defects" doc:"share of the questions on which it defects" range:"0:1"`
	With    any     `yaml:"with" doc:"ids or indices of the seats whose wrong answers it joins" example:"[a1, 2]"`
}

func newCopier(params map[string]any) (Adversary, error) {
	var given copierParams
	if err := decode(params, &given); err != nil {
		return nil, err
	}
	a := poisoner{poison: CopyDefect, copies: seatNames(given.Copies), waits: synod.Tick(given.Waits),
		defects: given.Defects, lies: colluder{seatNames(given.With)}}
	if len(a.copies) > 1 {
		return nil, fmt.Errorf("copies names %d seats; it must name one (example: copies: a1)", len(a.copies))
	}
	return a, nil
}
