package council

import (
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/journal"
	"synod.dev/synod/protocol"
	_ "synod.dev/synod/protocol/builtin" // puts the protocols into the catalogue
)

// present returns what the protocol shows of a run beyond the common fields; nil if
// that is nothing.
func (c *Council) present(q *synod.Question, seed uint64, accepted synod.Answer, last []synod.Opinion, shown spellings) *protocol.Presentation {
	p, ok := c.protocol.(protocol.Presenter)
	if !ok {
		return nil
	}
	return p.Present(last, protocol.View{
		Accepted: accepted, Cast: c.cast, Check: c.verifier(q, seed),
		Name: c.name, Show: shown.of,
	})
}

func (c *Council) name(id synod.NodeID) string { return c.seats[id].id }

// Verify checks the records that were noted in a run (its Opinions) against the
// run's keys, as a third party does: how many there are, and what is wrong with the first that does not
// hold. Where all members were simulated, tokens stand for signatures.
func Verify(run *journal.Run, noted []journal.Noted) (records int, err error) {
	spec, err := SpecOf(run)
	if err != nil {
		return 0, err
	}
	c, err := seatAll(spec)
	if err != nil {
		return 0, err
	}
	p, ok := c.protocol.(protocol.Certified)
	if !ok {
		return 0, nil
	}
	check := c.verifier(&run.Head.Question, run.Head.Seed)
	for _, n := range noted {
		v, err := p.Verify(protocol.VerifyInput{
			Self: n.Node, Opinion: &n.Opinion, Question: &run.Head.Question, N: len(c.seats), Cast: c.cast, F: c.spec.F, Check: check,
		})
		if err != nil {
			return records, fmt.Errorf("council: the record of seat %d: %w", n.Node, err)
		}
		if v != nil {
			records++
		}
	}
	return records, nil
}
