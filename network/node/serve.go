package node

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
)

// serve answers a stream that somebody has opened.
func (n service) serve(conn *link.Conn, key []byte) {
	defer conn.Close()
	defer context.AfterFunc(n.context, func() { conn.Close() })()
	var h call.Hello
	err := conn.Receive(call.MaxHello, &h, helloTime)
	if err == nil && h.Version != call.Version {
		n.refuseVersion(conn, key, h.Version)
		return
	}
	if err != nil || string(h.Roster) != string(n.hash[:]) {
		n.count(&n.stats.Strangers)
		return // it learns nothing
	}
	welcome := call.Welcome{Clock: n.now().UnixMicro(), Serial: n.roster.Serial, Head: n.latest()}
	switch h.Purpose {
	case call.ToLink:
		seat, member := n.roster.Seat(key)
		p := n.links[seat]
		if !member || p == nil {
			n.count(&n.stats.Strangers)
			return
		}
		leave, err := p.join()
		if err != nil {
			return
		}
		defer leave()
		if conn.Send(welcome, helloTime) == nil {
			if err := p.read(n.context, conn); err != nil {
				n.log.Debug("a neighbour's stream ended", "peer", n.roster.Members[seat].ID, "error", err)
			}
		}
	case call.ToLedger:
		n.serveReplica(conn, key, welcome)
	case call.ToAsk, call.ToForward, call.ToCompare, call.ToSign, call.ToDraw:
		if n.roster.MayAsk(key) && conn.Send(welcome, helloTime) == nil {
			n.serveCaller(conn, h.Purpose, key)
		}
	}
}

// serveCaller answers a stream of a member or a caller, which was admitted.
func (n service) serveCaller(conn *link.Conn, purpose string, key []byte) {
	caller := hex.EncodeToString(key)
	switch purpose {
	case call.ToAsk:
		for wait := helloTime; n.answer(conn, caller, wait); wait = call.KeepOpen {
		}
	case call.ToForward:
		n.serveForward(conn, key)
	case call.ToCompare:
		n.serveReceipts(conn, caller)
	case call.ToSign:
		n.certify(conn, caller)
	case call.ToDraw:
		n.prove(conn, caller)
	}
}

// serveReplica serves a stream of another replica.
func (n service) serveReplica(conn *link.Conn, key []byte, welcome call.Welcome) {
	seat, member := n.roster.Seat(key)
	if n.recorder == nil || !member || !slices.Contains(n.replicas, int(seat)) {
		n.count(&n.stats.Strangers)
		return
	}
	if conn.Send(welcome, helloTime) == nil {
		err := n.recorder.Serve(seat, conn)
		n.log.Debug("a replica's stream ended", "replica", n.roster.Members[seat].ID, "error", err)
	}
}

// refuseVersion tells the owner of a declared key that it has another version of the program.
func (n service) refuseVersion(conn *link.Conn, key []byte, version string) {
	n.count(&n.stats.Strangers)
	n.log.Warn("a stream of another version was refused", "key", hex.EncodeToString(key), "version", version,
		"own", call.Version)
	why := fmt.Sprintf("it speaks version %q of the protocol of nodes, and this side %.40q: all members and callers "+
		"of a council need programs of one version", call.Version, version)
	conn.Send(call.Welcome{Serial: n.roster.Serial, Refused: why}, helloTime) // who cannot read it sees the end
}
