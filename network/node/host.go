package node

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/network/roster"
)

// Host plays the seat of one owner under the roster in force and, while the council goes over to another one, under
// those before it too: a Node for each. Streams say in their first frame which roster they are about. So a question
// that was asked under a roster is played and answered under it, and callers may go over to the new one at any time
// before the old one ends.
//
// The nodes of a Host have one transport, one folder, one record of what was signed, and one account of what was spent
// in a day. All other limits count for each roster.
type Host struct {
	config HostConfig
	gate   *Gate
	kept   *kept
	shared *shared
	log    *slog.Logger
	// Desk answers streams whose purpose is call.ToJoin; nil: they are closed.
	Desk func(conn *link.Conn, key []byte)

	context context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	taking  sync.Mutex // held while a roster is taken

	mu      sync.Mutex
	held    []*holding // oldest first; the last is in force
	gone    Stats      // of nodes that have ended
	running bool
	trouble error // of nodes that have ended
}

// HostConfig is what a Host needs.
type HostConfig struct {
	Config                     // its Transport is not read
	Dial   map[string][]string // replaces the addresses of rosters, by the id of a member
	// Listen opens the transport for the roster in force. It must admit who the gate admits.
	Listen func(*roster.Roster, *Gate) (link.Transport, error)
}

// holding is a roster that is played.
type holding struct {
	heldRoster
	node   *Node // nil: its owner has no seat in the roster, or it has ended
	branch *branch
	timer  *time.Timer // ends it; nil: it is in force
}

// maxHeld is how many rosters are played at once.
const maxHeld = 4

// linger is how long a node goes on after its last question, so that callers can get its signature under a certificate.
const linger = 10 * time.Second

// OpenHost opens a node for the roster in the configuration, or for those that the folder goes on with. Run makes
// them talk to others.
func OpenHost(c HostConfig) (h *Host, err error) {
	if err := c.Roster.Verify(); err != nil {
		return nil, err
	}
	h = &Host{config: c, kept: &kept{dir: filepath.Join(c.Dir, "rosters")}, log: c.Log}
	if h.log == nil {
		h.log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	held, err := h.kept.load(c.Roster, time.Now())
	if err != nil {
		return nil, err
	}
	if h.shared, err = openShared(&c.Config, newNode(c.Config).now, h.log); err != nil {
		return nil, err
	}
	h.context, h.cancel = context.WithCancel(context.Background())
	if err := h.openAll(held); err != nil {
		h.cancel()
		return nil, errors.Join(err, h.shared.close())
	}
	return h, nil
}

// openAll opens the transport and the nodes of the rosters, and puts these on disk.
func (h *Host) openAll(held []heldRoster) (err error) {
	head := held[len(held)-1].signed
	if head.Hash() != h.config.Roster.Hash() {
		h.log.Warn("the node goes on with the roster that it has taken, and not with that it was started with",
			"serial",
			head.Serial, "roster", head.HexHash()[:16])
	}
	if head.Ledger.Kind != roster.NoLedger {
		held = held[len(held)-1:] // its folder has one ledger
	}
	h.gate = NewGate(head.Roster)
	if h.config.Transport, err = h.config.Listen(head.Roster, h.gate); err != nil {
		return err
	}
	for _, r := range held {
		var x *holding
		if x, err = h.open(r); err != nil {
			break
		}
		h.held = append(h.held, x)
	}
	if err == nil && len(h.nodes()) == 0 {
		err = fmt.Errorf("no member of the roster in force, serial %d, has the key %x of this node", head.Serial,
			h.config.Secret.PublicKey())
	}
	if err == nil {
		h.setGate()
		err = h.kept.save(h.rosters())
	}
	if err != nil {
		err = errors.Join(err, h.config.Transport.Close())
	}
	return err
}

// Address returns where the transport listens, HOST:PORT.
func (h *Host) Address() string { return h.config.Transport.Address() }

// Gate returns the rosters that are played.
func (h *Host) Gate() *Gate { return h.gate }

// open opens the node of a roster, if its owner has a seat in it.
func (h *Host) open(r heldRoster) (*holding, error) {
	x := &holding{heldRoster: r, branch: newBranch(h)}
	if _, member := r.signed.Seat(h.config.Secret.PublicKey()); !member {
		return x, nil
	}
	c := h.config.Config
	c.Roster, c.Transport, c.shared = r.signed, x.branch, h.shared
	c.Addresses = map[synod.NodeID][]string{}
	for i, m := range r.signed.Members {
		if a, ok := h.config.Dial[m.ID]; ok {
			c.Addresses[synod.NodeID(i)] = a
		}
	}
	var err error
	x.node, err = Open(c)
	return x, err
}

// Run serves until ctx ends or no node is left, and then closes everything.
func (h *Host) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, h.end)()
	h.mu.Lock()
	h.running = true
	for _, x := range h.held {
		h.play(x)
		h.endLater(x)
	}
	h.mu.Unlock()
	h.work.Go(func() { h.shared.pruneLoop(h.context, h.Prune) })
	for {
		s, key, err := h.config.Transport.Accept()
		if err != nil {
			break
		}
		h.work.Go(func() { h.route(s, key) })
	}
	h.end()
	h.work.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return errors.Join(h.trouble, h.shared.close())
}

func (h *Host) end() {
	h.config.Transport.Close()
	h.cancel()
}

// play runs the node of a roster until it is stopped. h.mu is held.
func (h *Host) play(x *holding) {
	if x.node == nil {
		return
	}
	h.work.Go(func() {
		h.left(x, x.node.Run(h.context))
	})
}

// left is called when the node of a roster has ended.
func (h *Host) left(x *holding, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trouble = errors.Join(h.trouble, err)
	if h.context.Err() != nil {
		return // all end
	}
	h.gone.add(x.node.figuresNow())
	h.held = slices.DeleteFunc(h.held, func(other *holding) bool { return other == x })
	h.setGate()
	if !slices.ContainsFunc(h.held, func(other *holding) bool { return other.node != nil }) {
		h.log.Info("no roster has a seat for this node any more, so it ends")
		h.end()
	}
}

// endLater makes a roster end at its time. h.mu is held.
func (h *Host) endLater(x *holding) {
	if x.node == nil || x.until.IsZero() || !h.running {
		return
	}
	x.node.replaced.Store(h.held[len(h.held)-1].signed.Roster)
	if x.timer != nil {
		x.timer.Reset(time.Until(x.until))
		return
	}
	x.timer = time.AfterFunc(time.Until(x.until), func() {
		h.log.Info("a roster that was replaced takes no question any more", "serial", x.signed.Serial)
		for over := false; !over; { // a node that has just begun may not have resumed its runs yet
			if x.node.Drain(h.context) != nil {
				return
			}
			select {
			case <-time.After(linger):
			case <-h.context.Done():
				return
			}
			over = !slices.ContainsFunc(x.node.active(), func(r *run) bool { return !r.over() })
		}
		h.log.Info("all runs of a roster that was replaced have ended", "serial", x.signed.Serial)
		x.branch.Close()
	})
}

// route gives a stream to the node of its roster.
func (h *Host) route(s link.Stream, key []byte) {
	stop := context.AfterFunc(h.context, func() { s.Close() })
	hello, again, err := readHello(s)
	if !stop() || err != nil {
		s.Close()
		return
	}
	if hello.Purpose == call.ToJoin && h.Desk != nil {
		conn := link.NewConn(again)
		defer conn.Close()
		h.Desk(conn, key)
		return
	}
	h.mu.Lock()
	at := slices.IndexFunc(h.held, func(x *holding) bool {
		return x.node != nil && (string(x.node.hash[:]) == string(hello.Roster) || hello.Version != call.Version)
	}) // any node tells who speaks another version that it does
	var x *holding
	if at >= 0 {
		x = h.held[at]
	}
	h.mu.Unlock()
	if x == nil || !x.branch.deliver(again, key) {
		h.turnAway(again, &hello)
	}
}

// turnAway closes a stream that is about a roster that is not played. A caller with one that was played before is told
// which one has replaced it; others learn nothing.
func (h *Host) turnAway(s link.Stream, hello *call.Hello) {
	conn := link.NewConn(s)
	defer conn.Close()
	defer context.AfterFunc(h.context, func() { conn.Close() })()
	h.mu.Lock()
	next := h.inForce().signed
	past := hello.Version == call.Version && hello.Purpose == call.ToAsk && h.kept.has(hex.EncodeToString(hello.Roster))
	if !past {
		h.gone.Strangers++
	}
	h.mu.Unlock()
	var first call.Hello
	var question call.Start
	welcome := call.Welcome{Clock: time.Now().UnixMicro(), Serial: next.Serial, Head: []byte{}}
	if !past || conn.Receive(call.MaxHello, &first, helloTime) != nil || conn.Send(welcome, helloTime) != nil ||
		conn.Receive(h.config.Caps.largest(), &question, helloTime) != nil {
		return
	}
	refused := call.RunReply{Refused: replacedBy(hello.Roster, next.Roster), Final: []byte{}, Head: []byte{}}
	if err := conn.Send(refused, helloTime); err != nil {
		h.log.Debug("a caller did not take its refusal", "error", err)
	}
}

// inForce returns the roster in force.
func (h *Host) inForce() *holding { return h.held[len(h.held)-1] }

// rosters returns the rosters that are played.
func (h *Host) rosters() (all []heldRoster) {
	for _, x := range h.held {
		all = append(all, x.heldRoster)
	}
	return all
}

// setGate admits the members and callers of the rosters that are played.
func (h *Host) setGate() {
	var all []*roster.Roster
	for _, x := range h.held {
		all = append(all, x.signed.Roster)
	}
	h.gate.set(all)
	if t, ok := h.config.Transport.(interface{ Reserve([]net.IP) }); ok {
		t.Reserve(ReservedAddresses(all...))
	}
}
