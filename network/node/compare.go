package node

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
)

// At the end of a run, neighbours look whether a member has sent different messages to them. Each says the hash of its
// digests (call.Digests), one for each member. Where two hashes differ, the digests are pulled, and of the members
// whose digests differ the receipts. So nothing but a hash is sent as long as all have the same messages.
//
// A neighbour can make this node pull, and answer, maxPulls times in a run.
const maxPulls = 4

// comparison is what a run compares with neighbours after its end. run.mu guards it.
type comparison struct {
	digests []byte // empty: the run plays
	roots   map[synod.NodeID][]byte
	pulls   map[synod.NodeID]int // that were sent to a neighbour
	waits   map[synod.NodeID]int // for so many lists of digests
	answers map[synod.NodeID]int // to pulls of a neighbour
}

func newComparison() comparison {
	return comparison{roots: map[synod.NodeID][]byte{}, pulls: map[synod.NodeID]int{}, waits: map[synod.NodeID]int{},
		answers: map[synod.NodeID]int{}}
}

// compareAll begins to compare: the receipts of the seat are complete.
func (r *run) compareAll(digests []byte, vote []call.Receipt) {
	root := sha256.Sum256(digests)
	r.mu.Lock()
	r.compared.digests = digests
	var differ []synod.NodeID
	for id, theirs := range r.compared.roots {
		if !bytes.Equal(theirs, root[:]) {
			differ = append(differ, id)
		}
	}
	r.mu.Unlock()
	r.queue(nil, frame{Kind: isSummary, Body: root[:], Receipts: vote})
	r.flush()
	for _, id := range differ {
		r.pull(id)
	}
}

// hearSummary takes what a neighbour says at its end.
func (r *run) hearSummary(from synod.NodeID, f *frame) error {
	if len(f.Body) != sha256.Size || len(f.Receipts) > 1 {
		return errors.New("a summary is out of range")
	}
	if err := r.compareReceipts(from, f.Receipts); err != nil {
		return err
	}
	r.mu.Lock()
	r.compared.roots[from] = f.Body
	own := sha256.Sum256(r.compared.digests)
	differs := len(r.compared.digests) > 0 && !bytes.Equal(own[:], f.Body)
	r.mu.Unlock()
	if differs {
		r.pull(from)
	}
	return nil
}

// pull asks a neighbour for its digests.
func (r *run) pull(from synod.NodeID) {
	r.mu.Lock()
	allowed := r.compared.pulls[from] < maxPulls
	if allowed {
		r.compared.pulls[from]++
		r.compared.waits[from]++
	}
	r.mu.Unlock()
	if allowed {
		r.once(from, frame{Kind: isPull})
	}
}

// answerPull sends a neighbour what it has asked for.
func (r *run) answerPull(to synod.NodeID, f *frame) error {
	if len(f.Body) > call.SetSize(len(r.node.roster.Members)) {
		return errors.New("a set of seats is out of range")
	}
	r.mu.Lock()
	digests := r.compared.digests
	allowed := len(digests) > 0 && r.compared.answers[to] < 2*maxPulls
	if allowed {
		r.compared.answers[to]++
	}
	r.mu.Unlock()
	switch {
	case !allowed:
	case len(f.Body) == 0:
		r.once(to, frame{Kind: isDigests, Body: digests})
	default:
		for part := range slices.Chunk(r.receiptsOf(f.Body), receiptsAtOnce) {
			r.once(to, frame{Kind: isReceipts, Receipts: part})
		}
	}
	return nil
}

// hearDigests pulls the receipts of members of whom a neighbour has other messages than this node.
func (r *run) hearDigests(from synod.NodeID, f *frame) error {
	if len(f.Body) != len(r.node.roster.Members)*sha256.Size {
		return errors.New("a list of digests is out of range")
	}
	r.mu.Lock()
	asked := r.compared.waits[from] > 0
	if asked {
		r.compared.waits[from]--
	}
	seats := call.Differ(r.compared.digests, f.Body)
	r.mu.Unlock()
	if asked && seats != nil {
		r.once(from, frame{Kind: isPull, Body: seats})
	}
	return nil
}

// receiptsOf returns the receipts of the members of a set, ordered.
func (r *run) receiptsOf(seats []byte) (list []call.Receipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for slot, all := range r.receipts {
		if call.InSet(seats, int(slot.from)) {
			list = append(list, all...)
		}
	}
	call.SortReceipts(list)
	return list
}

// once sends a frame about the run to a neighbour, on the stream that is open.
func (r *run) once(to synod.NodeID, f frame) { r.node.links[to].once(r.key, f) }

// serveReceipts sends a caller the receipts that it asks for. A caller that has spent its checks is sent nothing: the
// record has a signature.
func (n *Node) serveReceipts(conn *link.Conn, caller string) {
	var p call.Pull
	if n.mayCheck(caller, 1) != nil {
		return
	}
	if conn.Receive(call.MaxPull, &p, helloTime) != nil || len(p.Seats) > call.SetSize(len(n.roster.Members)) {
		return
	}
	reply := call.Pulled{}
	if f := n.recordOf(sign.Instance(p.Instance)); f != nil {
		for _, c := range f.Receipts {
			if call.InSet(p.Seats, int(c.From)) {
				reply.Receipts = append(reply.Receipts, c)
			}
		}
	}
	if err := conn.Send(reply, helloTime); err != nil {
		n.log.Debug("a caller did not take its receipts", "error", err)
	}
}

// refuseVersion tells the owner of a declared key that it has another version of the program.
func (n *Node) refuseVersion(conn *link.Conn, key []byte, version string) {
	n.count(&n.stats.Strangers)
	n.log.Warn("a stream of another version was refused", "key", hex.EncodeToString(key), "version", version,
		"own", call.Version)
	why := fmt.Sprintf("it speaks version %q of the protocol of nodes, and this side %.40q: all members and callers "+
		"of a council need programs of one version", call.Version, version)
	conn.Send(call.Welcome{Serial: n.roster.Serial, Refused: why}, helloTime) // who cannot read it sees the end
}
