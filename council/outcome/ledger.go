package outcome

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/council/plan"
	"synod.dev/synod/record/ledger"
)

// LedgerEntry returns what a ledger records of a decision: question, answer, and the last
// opinion of every seat with its record, which in decentllms has the answers, grades and
// signatures of all. With keep it has the texts, else only their hashes.
func LedgerEntry(p *plan.Plan, run *journal.Run, keep bool) (*ledger.Entry, error) {
	in := InstanceOf(run)
	o := Judge(p, in, RecordsOf(p, run))
	if o.Decision == synod.None {
		return nil, errors.New("council: there is no decision to record: " + o.Reason)
	}
	digest, err := hex.DecodeString(p.Digest())
	if err != nil {
		return nil, fmt.Errorf("council: the digest of the plan: %w", err)
	}
	e := &ledger.Entry{Format: ledger.Format, Instance: string(p.InstanceID(in)), Council: digest,
		Parts: []ledger.Part{ledger.NewPart("question", []byte(in.Question.Text), keep),
			ledger.NewPart("answer", []byte(o.Decision), keep)}}
	last := make([]*synod.Opinion, len(p.Seats()))
	for i, noted := range run.Opinions() {
		if id := int(noted.Node); id >= 0 && id < len(last) {
			last[id] = &run.Opinions()[i].Opinion
		}
	}
	for i, opinion := range last {
		if opinion == nil {
			continue
		}
		body, err := json.Marshal(opinion)
		if err != nil {
			return nil, fmt.Errorf("council: encode the opinion of seat %s: %w", p.Seats()[i].ID, err)
		}
		e.Parts = append(e.Parts, ledger.NewPart("record "+p.Seats()[i].ID, body, keep))
	}
	return e, nil
}
