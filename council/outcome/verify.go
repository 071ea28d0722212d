package outcome

import (
	"fmt"
	"slices"

	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/protocol"
)

// Verification is what the signed records of a run prove.
type Verification struct {
	Records   int      // how many opinions have a record that was checked
	Claims    []string // what the records prove, each once
	NotProved []string // what a reader could expect and they do not prove
}

// Verify checks the signed records in the opinions of a run against the keys of the
// run, as a third party does. The error is about the first record that does not hold;
// the Verification then counts those before it. Where all members were simulated,
// tokens stand for signatures.
func Verify(run *journal.Run, noted []journal.Noted) (v Verification, err error) {
	p, err := plan.Of(run)
	if err != nil {
		return v, err
	}
	certified, ok := p.Protocol().(protocol.Certified)
	if !ok {
		return v, nil
	}
	in := InstanceOf(run)
	check := plan.Verifier(p, &in)
	for _, n := range noted {
		one, err := certified.Verify(protocol.VerifyInput{
			Self: n.Node, Opinion: &n.Opinion, Question: &run.Head.Question, N: len(p.Seats()), Cast: p.Roles(),
			F:     p.Full().F,
			Check: check, Name: p.Name,
		})
		if err != nil {
			return v, fmt.Errorf("council: the record of seat %s: %w", p.Name(n.Node), err)
		}
		if one != nil {
			v.Records++
			v.Claims, v.NotProved = addNew(v.Claims, one.Claims), addNew(v.NotProved, one.NotProved)
		}
	}
	if v.Records > 0 && p.Committee() == nil {
		v.NotProved = append(v.NotProved,
			"that the members have separate owners: all keys are derived from the seed in the journal, so its reader "+
				"can sign too")
	}
	return v, nil
}

// addNew appends the texts that the list does not have yet.
func addNew(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
