package plan

import (
	"errors"
	"fmt"

	"synod.dev/synod"
)

// leastReplicas is how many replicas tolerate one Byzantine replica.
const leastReplicas = 4

func checkLedger(p *Plan) error {
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
func Replicas(p *Plan) (ids []synod.NodeID) {
	for i := range p.seats {
		if !p.seats[i].NonVoting {
			ids = append(ids, synod.NodeID(i))
		}
	}
	return ids
}
