package plan

import (
	"errors"
	"fmt"

	"synod.dev/synod"
)

// The names of ledgers in a council file.
const (
	LedgerLog      = "log"      // of one operator; with nodes, one of each replica's owner
	LedgerSmartBFT = "smartbft" // of the nodes of the seats that vote, by consensus
	LedgerCometBFT = "cometbft" // the same with another consensus, in a child process
)

// LedgerSpec says where the decisions of a council are recorded.
type Ledger struct {
	Name   string `yaml:"name,omitempty" json:"name,omitempty" doc:"log: a log that one operator signs; smartbft, cometbft: a log that the nodes of the seats that vote keep by consensus" enum:"log|smartbft|cometbft" example:"smartbft"`
	Folder string `yaml:"folder,omitempty" json:"folder,omitempty" doc:"with log, when one process plays all seats: the folder of the ledger" default:"ledger" example:"decisions"`
	Bodies bool   `yaml:"bodies,omitempty" json:"bodies,omitempty" doc:"keep the texts too, not only their hashes"`
}

// Replicated reports whether nodes keep the ledger by consensus.
func (l *Ledger) Replicated() bool { return l.Name == LedgerSmartBFT || l.Name == LedgerCometBFT }

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
