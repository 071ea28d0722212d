package node

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/evidence"
)

// convict keeps the proof that a member has equivocated, and passes it on to the neighbours.
func (n *Node) convict(e *call.Equivocation) {
	proof, err := e.Evidence(n.roster)
	if err != nil {
		return
	}
	path := evidencePath(n.config.Dir, proof)
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := durable.WriteFile(path, proof.File()); err != nil {
		n.log.Error("evidence cannot be written", "error", err)
	}
	n.count(&n.stats.Equivocations)
	n.log.Error("a member signed two values for one slot", "member", n.roster.Members[e.A.From].ID, "slot", e.A.Slot,
		"round", e.A.Round, "file", path)
	key := instanceKey(sign.Instance(e.Instance))
	for _, p := range n.links {
		p.once(key, frame{Kind: isReceipts, Receipts: []call.Receipt{e.A, e.B}})
	}
}

// evidencePath is the path of a proof. It has the seat and not the id of the member, which may be any text.
func evidencePath(dir string, e *evidence.Evidence) string {
	return filepath.Join(dir, "evidence", fmt.Sprintf("%s-seat%d.pem", e.Instance, e.Seat))
}

// Evidence returns the proofs that the node has about members of its roster.
func (n *Node) Evidence() (all []*evidence.Evidence, err error) {
	files, err := filepath.Glob(filepath.Join(n.config.Dir, "evidence", "*.pem"))
	for _, file := range files {
		b, err := durable.ReadFile(file, evidence.MaxSize)
		if err != nil {
			return nil, err
		}
		e, err := evidence.Parse(b)
		if err == nil && !isAbout(n.hash, e) {
			continue // of an earlier roster
		}
		if err == nil {
			_, err = e.Verify(n.hash[:])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, e)
	}
	return all, err
}

// isAbout reports whether evidence is about the roster with a hash, or names none that can be read.
func isAbout(hash [sha256.Size]byte, e *evidence.Evidence) bool {
	r, err := roster.Decode(e.Roster)
	return err != nil || r.Hash() == hash
}
