package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/node/terms"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/ledger"
)

// maxEntry is the size of an entry in bytes from which on it keeps hashes only: replicas take no larger ones.
const maxEntry = 1 << 20

// openLedger opens the recorder, if the node is a replica of the roster's ledger.
func (n *Node) openLedger() (err error) {
	if n.roster.Ledger.Kind == roster.NoLedger {
		return nil
	}
	s, err := n.roster.LedgerSettings()
	if err != nil {
		return err
	}
	n.replicas = s.Replicas
	if !slices.Contains(n.replicas, int(n.seat)) {
		return nil
	}
	if n.config.Ledger == nil {
		return fmt.Errorf("the roster's ledger is %s, which this program does not know", n.roster.Ledger.Kind)
	}
	n.recorder, err = n.config.Ledger(n)
	return err
}

// Group returns the replicas of the roster's ledger, their seats, and the place of this node among them, from 0.
// The group is nil if the ledger is not kept by consensus.
func (n *Node) Group() (g *ledger.Replicas, seats []synod.NodeID, own int, err error) {
	g, err = terms.Group(n.roster)
	for i, seat := range n.replicas {
		if seats = append(seats, synod.NodeID(seat)); synod.NodeID(seat) == n.seat {
			own = i
		}
	}
	return g, seats, own, err
}

// Member returns what the roster has of a seat.
func (n *Node) Member(seat synod.NodeID) roster.Member { return n.roster.Members[seat] }

// CheckEntry checks that a replica of the roster has signed an entry about a run of its own seat.
func (n *Node) CheckEntry(e *ledger.Entry) error {
	_, err := e.Author(func(id string) ([]byte, bool) {
		for _, seat := range n.replicas {
			if m := &n.roster.Members[seat]; m.ID == id {
				return m.Key, true
			}
		}
		return nil, false
	})
	return err
}

// latest returns the last head of the ledger that replicas keep, encoded; empty: this node has none.
func (n *Node) latest() []byte {
	if n.recorder != nil {
		if h := n.recorder.Head(); h != nil && h.Replicated() && h.Head.Size > 0 {
			return canonical.Encode(h)
		}
	}
	return []byte{}
}

// DialReplica opens a stream to another replica of the ledger.
func (n *Node) DialReplica(ctx context.Context, seat synod.NodeID) (*link.Conn, error) {
	conn, _, _, err := n.open(ctx, seat, call.ToLedger)
	return conn, err
}

// record promises the decision of a run to the ledger. Without an answer there is nothing to record.
func (n *Node) record(q *synod.Question, f *call.Final) {
	if n.recorder == nil {
		return
	}
	e, err := n.entry(q, f)
	if err == nil && e != nil {
		err = n.recorder.Record(e)
	}
	if err != nil {
		n.log.Error("a decision cannot be recorded in the ledger", "run", f.Instance, "error", err)
	}
}

// entry returns what the ledger gets of a run: question, answer, and the record of this seat, which in decentllms has
// answers, evaluations and signatures of all, with the seat's signature. It is nil without an answer.
func (n *Node) entry(q *synod.Question, f *call.Final) (*ledger.Entry, error) {
	record, err := f.SeatRecord()
	if err != nil {
		return nil, err
	}
	if len(record.Opinions) == 0 {
		return nil, nil
	}
	answer := record.Opinions[len(record.Opinions)-1].Answer
	if answer == synod.None {
		return nil, nil
	}
	s, err := n.roster.LedgerSettings()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	id := n.roster.Members[n.seat].ID
	for _, keep := range []bool{s.Bodies, false} {
		e := &ledger.Entry{Format: ledger.Format, Instance: f.Instance, Council: n.hash[:], Parts: []ledger.Part{
			ledger.NewPart("question", text, keep), ledger.NewPart("answer", []byte(answer), keep),
			ledger.NewPart("record "+id, f.Record, keep)}}
		if err := e.Sign(id, n.secret); err != nil {
			return nil, err
		}
		if b, err := e.Encode(); err != nil || len(b) <= maxEntry {
			return e, err
		}
	}
	return nil, errors.New("the entry is too large")
}
