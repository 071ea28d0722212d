package council

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"synod.dev/synod"
	"synod.dev/synod/core/journal"
	"synod.dev/synod/record/ledger"
)

// The names of ledgers in a council file.
const (
	LedgerLog      = "log"      // of one operator; with nodes, one of each replica's owner
	LedgerSmartBFT = "smartbft" // of the nodes of the seats that vote, by consensus
	LedgerCometBFT = "cometbft" // the same with another consensus, in a child process
)

// LedgerSpec says where the decisions of a council are recorded.
type LedgerSpec struct {
	Name   string `yaml:"name,omitempty" json:"name,omitempty" doc:"log: a log that one operator signs; smartbft, cometbft: a log that the nodes of the seats that vote keep by consensus" enum:"log|smartbft|cometbft" example:"smartbft"`
	Folder string `yaml:"folder,omitempty" json:"folder,omitempty" doc:"with log, when one process plays all seats: the folder of the ledger" default:"ledger" example:"decisions"`
	Bodies bool   `yaml:"bodies,omitempty" json:"bodies,omitempty" doc:"keep the texts too, not only their hashes"`
}

// Replicated reports whether nodes keep the ledger by consensus.
func (l *LedgerSpec) Replicated() bool { return l.Name == LedgerSmartBFT || l.Name == LedgerCometBFT }

// leastReplicas is how many replicas tolerate one Byzantine replica.
const leastReplicas = 4

func (p *Plan) checkLedger() error {
	l := &p.spec.Ledger
	switch {
	case l.Name == "" && (l.Folder != "" || l.Bodies):
		return errors.New("name is absent; it must be log, smartbft or cometbft (example: {name: log})")
	case l.Name != "" && l.Name != LedgerLog && !l.Replicated():
		return fmt.Errorf("name is %q; it must be log, smartbft or cometbft (example: {name: smartbft})", l.Name)
	case l.Replicated() && l.Folder != "":
		return fmt.Errorf("folder goes with log; with %s each node keeps the ledger in its own folder", l.Name)
	case l.Replicated() && p.voters < leastReplicas:
		return fmt.Errorf("%s needs at least %d seats that vote, which are its replicas; there are %d", l.Name,
			leastReplicas, p.voters)
	}
	return nil
}

// Replicas returns the seats whose nodes keep the ledger: those that vote, which in a protocol with evaluators are the
// evaluators.
func (p *Plan) Replicas() (ids []synod.NodeID) {
	for i := range p.seats {
		if !p.seats[i].NonVoting {
			ids = append(ids, synod.NodeID(i))
		}
	}
	return ids
}

// LedgerEntry returns what a ledger records of a decision: question, answer, and the last
// opinion of every seat with its record, which in decentllms has the answers, grades and
// signatures of all. With keep it has the texts, else only their hashes.
func LedgerEntry(p *Plan, run *journal.Run, keep bool) (*ledger.Entry, error) {
	in := InstanceOf(run)
	o := Judge(p, in, RecordsOf(p, run))
	if o.Decision == synod.None {
		return nil, errors.New("council: there is no decision to record: " + o.Reason)
	}
	digest, err := hex.DecodeString(p.digest)
	if err != nil {
		return nil, fmt.Errorf("council: the digest of the plan: %w", err)
	}
	e := &ledger.Entry{Format: ledger.Format, Instance: string(p.InstanceID(in)), Council: digest,
		Parts: []ledger.Part{ledger.NewPart("question", []byte(in.Question.Text), keep),
			ledger.NewPart("answer", []byte(o.Decision), keep)}}
	last := make([]*synod.Opinion, len(p.seats))
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
			return nil, fmt.Errorf("council: encode the opinion of seat %s: %w", p.seats[i].ID, err)
		}
		e.Parts = append(e.Parts, ledger.NewPart("record "+p.seats[i].ID, body, keep))
	}
	return e, nil
}
