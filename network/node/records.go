package node

import (
	"errors"
	"os"
	"path/filepath"

	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/node/call"
)

func (n *Node) startPath(id sign.Instance) string {
	return filepath.Join(n.config.Dir, "runs", string(id)+".start")
}

func (n *Node) finalPath(id sign.Instance) string {
	return finalPath(n.config.Dir, id)
}

func (n *Node) journalPath(id sign.Instance) string {
	return filepath.Join(n.config.Dir, "runs", string(id)+".jsonl")
}

// recordOf returns the signed record of a run that has ended; nil if there is none.
func (n *Node) recordOf(id sign.Instance) *call.Final {
	k := n.keptOf(id)
	if k == nil {
		return nil
	}
	k.Final.Receipts = k.Receipts
	return &k.Final
}

// keptOf returns what is on disk of a run that has ended; nil if there is nothing.
func (n *Node) keptOf(id sign.Instance) *call.Kept {
	if !plainID(id) {
		return nil
	}
	b, err := durable.ReadFile(n.finalPath(id), call.MaxKept)
	k := new(call.Kept)
	if err != nil || canonical.Decode(b, call.MaxKept, k) != nil || k.Final.Check(n.roster, id, n.seat) != nil {
		return nil
	}
	return k
}

// writeStart writes a question as the journal of its run is written: it outlives the process. After a failure of the
// machine it may be missing, and the run is not resumed.
func writeStart(path string, b []byte) error {
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// writeRecord writes a record and waits until it is on disk. It needs no second name, because a record that is torn
// has no valid signature.
func writeRecord(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}
