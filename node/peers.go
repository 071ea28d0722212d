package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/link"
	"synod.dev/synod/node/call"
	"synod.dev/synod/sign"
)

// peer is a neighbour and the streams to and from it.
type peer struct {
	node *Node
	id   synod.NodeID
	wake chan struct{}

	mu       sync.Mutex
	control  [][]byte     // frames that are sent once
	cursor   map[*run]int // by run: how many frames were sent on the stream that is open
	open     bool         // the stream to it is open
	incoming int          // streams from it that are open
	offset   time.Duration
	delay    time.Duration // half of a round trip
	compared bool          // offset is known
	relay    string        // the member through which the stream to it goes; "": it is direct
	trouble  string        // why the stream to it could not be opened
	strikes  int           // streams from it that were closed because of what it sent
	excluded time.Time     // until when no stream from it is read
	frames   uint64        // that it has sent
	// What is read of it in a second, over all its streams: frames and bytes.
	perSecond, size link.Bucket
	checks          link.Bucket  // of signatures, which it pays for (pay)
	checked         uint64       // signatures
	held            atomic.Int64 // bytes of its messages in runs that have not ended
	last            atomic.Int64 // when a frame came from it or its stream broke: nanoseconds after the node began
}

// The times of a stream between neighbours.
const (
	helloTime = 5 * time.Second
	pingEvery = time.Second
	idleTime  = 10 * time.Second // without a frame a stream is closed
	retryMin  = 20 * time.Millisecond
	retryMax  = time.Second
)

// dialLoop keeps a stream to the neighbour open.
func (p *peer) dialLoop(ctx context.Context) {
	retry := retryMin
	for ctx.Err() == nil {
		begun := time.Now()
		err := p.talk(ctx)
		p.mu.Lock()
		p.open, p.cursor = false, map[*run]int{}
		if err != nil {
			p.trouble = err.Error()
		}
		p.mu.Unlock()
		if time.Since(begun) > idleTime {
			retry = retryMin
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
			retry = min(2*retry, retryMax)
		}
	}
}

// talk opens a stream and sends on it until it breaks.
func (p *peer) talk(ctx context.Context) error {
	conn, w, sent, err := p.node.open(ctx, p.id, call.ToLink)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	p.compare(sent, w.Clock)
	p.mu.Lock()
	p.open, p.trouble, p.cursor, p.relay = true, "", map[*run]int{}, ""
	if through, ok := conn.Stream.(interface{ Relay() string }); ok {
		p.relay = through.Relay()
	}
	p.mu.Unlock()
	p.tellAllHeld()
	go p.pongs(conn)
	return p.write(ctx, conn)
}

// open opens a stream to a member for a purpose, and returns its welcome and the clock of the hello before it.
func (n *Node) open(ctx context.Context, seat synod.NodeID, purpose string) (conn *link.Conn, w call.Welcome,
	sent int64, err error) {
	m := n.roster.Members[seat]
	addresses := m.Addresses
	if a, ok := n.config.Addresses[seat]; ok {
		addresses = a
	}
	dial, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	s, err := n.transport.Dial(dial, m.Key, addresses)
	if err != nil {
		return nil, w, 0, err
	}
	conn = link.NewConn(s)
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	sent = n.now().UnixMicro()
	hello := call.Hello{Version: call.Version, Purpose: purpose, Roster: n.hash[:], Clock: sent}
	if err = conn.Send(hello, helloTime); err == nil {
		if err = conn.Receive(call.MaxWelcome, &w, helloTime); err != nil {
			err = fmt.Errorf("it did not admit this node: %w", err)
		}
	}
	if err != nil {
		conn.Close()
	}
	return conn, w, sent, err
}

// write sends what is queued, and pings.
func (p *peer) write(ctx context.Context, conn *link.Conn) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		if err := conn.SendAll(p.pending(), helloTime); err != nil {
			return err
		}
		select {
		case <-p.wake:
		case <-ping.C:
			b := canonical.Encode(frame{Kind: isPing, Clock: p.node.now().UnixMicro()})
			if err := conn.SendBytes(b, helloTime); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pending returns the frames that have not been sent on the open stream.
func (p *peer) pending() (all [][]byte) {
	runs := p.node.active()
	p.mu.Lock()
	defer p.mu.Unlock()
	all, p.control = p.control, nil
	cursor := make(map[*run]int, len(runs)) // of the runs in memory only, so that those before can be freed
	for _, r := range runs {
		r.mu.Lock()
		out := r.out[p.id]
		all = append(all, out[min(p.cursor[r], len(out)):]...)
		cursor[r] = len(out)
		r.mu.Unlock()
	}
	p.cursor = cursor
	return all
}

// again makes all frames of a run be sent again.
func (p *peer) again(r *run) {
	p.mu.Lock()
	p.cursor[r] = 0
	p.mu.Unlock()
	p.signal()
}

// maxControl bounds the frames that wait for a stream.
const maxControl = 256

// once queues a frame that is sent once.
func (p *peer) once(f frame) {
	f.Clock = p.node.now().UnixMicro()
	p.mu.Lock()
	if len(p.control) < maxControl {
		p.control = append(p.control, canonical.Encode(f))
	}
	p.mu.Unlock()
	p.signal()
}

func (p *peer) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// pongs reads the replies to pings.
func (p *peer) pongs(conn *link.Conn) {
	defer conn.Close()
	for {
		var g pong
		if conn.Receive(64, &g, idleTime) != nil {
			return
		}
		p.compare(g.Sent, g.Clock)
	}
}

// compare estimates how much the neighbour's clock is ahead.
func (p *peer) compare(sent, clock int64) {
	now := p.node.now().UnixMicro()
	trip := time.Duration(max(now-sent, 0)) * time.Microsecond
	p.mu.Lock()
	p.offset = time.Duration(clock-sent)*time.Microsecond - trip/2
	p.delay, p.compared = trip/2, true
	p.mu.Unlock()
	p.node.checkClock()
}

// skewed reports whether the neighbour's clock differs by more than a quarter of the message bound, as
// far as the round trip allows to tell.
func (p *peer) skewed() (yes, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compared && p.offset.Abs() > p.node.within/4+p.delay, p.compared && p.open
}

// read reads the frames of a neighbour's stream until it breaks or breaks a rule.
func (p *peer) read(ctx context.Context, conn *link.Conn) error {
	n := p.node
	for ctx.Err() == nil {
		b, err := conn.ReceiveBytes(maxFrame, idleTime)
		if errors.Is(err, link.ErrTooLong) {
			return p.strike(err)
		}
		if err != nil {
			return err
		}
		p.alive()
		if !p.affords(len(b)) {
			return p.strike(errors.New("it sends more than is read"))
		}
		p.pay(ctx, len(b)/bytesPerCheck)
		var f frame
		if err := canonical.Decode(b, maxFrame, &f); err != nil {
			return p.strike(err)
		}
		p.mu.Lock()
		p.frames++
		p.mu.Unlock()
		if f.Kind == isPing {
			if err := conn.Send(pong{Sent: f.Clock, Clock: n.now().UnixMicro()}, helloTime); err != nil {
				return err
			}
			continue
		}
		if err := p.dispatch(&f); err != nil {
			return p.strike(err)
		}
	}
	return ctx.Err()
}

// affords takes a frame from what is read of the neighbour in a second, over all its streams: one that opens others
// does not get more.
func (p *peer) affords(bytes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	return p.perSecond.Take(now, 1) && p.size.Take(now, float64(bytes))
}

// strike excludes the neighbour for a time, which grows with every time.
func (p *peer) strike(err error) error {
	p.mu.Lock()
	p.strikes++
	p.excluded = time.Now().Add(min(50*time.Millisecond<<min(p.strikes, 10), 10*time.Second))
	p.mu.Unlock()
	p.node.count(&p.node.stats.Junk)
	p.node.observer.Refused(RefusedStream, "", p.node.roster.Members[p.id].ID, err)
	return err
}

// dispatch hands a frame to its run. The error is for a frame that no honest node sends.
func (p *peer) dispatch(f *frame) error {
	n := p.node
	if len(f.Run) != sha256.Size || f.Tick < 0 || f.Tick > int64(never) || len(f.Slot) > maxSlotName ||
		f.Round > 1<<31-1 || len(f.Body) > synod.MaxLongBody || len(f.Receipts) > receiptsAtOnce {
		return errors.New("a frame is out of range")
	}
	r := n.running([sha256.Size]byte(f.Run))
	switch f.Kind {
	case isBegun:
		p.pay(n.context, begunCost)
		p.tellHeld([sha256.Size]byte(f.Run), r, true)
	case isHeld:
		return n.hearHeld(p.id, f)
	}
	if r == nil {
		return nil // the question has not come yet, or the run is long over
	}
	switch f.Kind {
	case isMessage:
		if read, err := p.checkMessage(r, f); err != nil || !read {
			return err
		}
	case isBegun:
		p.again(r)
		return nil
	case isReceipts:
		return r.compareReceipts(p.id, f.Receipts)
	case isClosed, isDemand:
	default:
		return errors.New("a frame of an unknown kind")
	}
	r.put(input{from: p.id, frame: f})
	return nil
}

// compareReceipts looks for equivocation in what a neighbour has got, and keeps the neighbour's vote. The error is for
// a signature that is not valid: honest nodes pass on what they have checked.
func (r *run) compareReceipts(by synod.NodeID, list []call.Receipt) error {
	for _, c := range list {
		if c.From >= uint64(len(r.node.roster.Members)) || len(c.Sum) != sha256.Size || c.Round > 1<<31-1 {
			continue
		}
		key := receiptKey{synod.NodeID(c.From), synod.Slot{Name: c.Slot, Round: int(c.Round)}, [sha256.Size]byte(c.Sum)}
		if key.from == r.node.seat && !r.node.ownReceipt(by, r.id, &c) {
			return errForged
		}
		valid := true
		if key.from == by && key.slot.Name == voteSlot {
			valid = r.keepVote(key, &c)
		} else if key.from != r.node.seat && r.contradicts(key) {
			if valid = r.signedFor(by, key, c.Signature); valid {
				r.keep(key, c.Signature)
			}
		}
		if !valid {
			return errForged
		}
	}
	return nil
}

// errForged is the error of a neighbour that passes on a signature that is not valid.
var errForged = errors.New("the signature of a receipt is not valid")

// signedFor is signed, for a neighbour that pays for it.
func (r *run) signedFor(by synod.NodeID, key receiptKey, signature []byte) bool {
	if p := r.node.links[by]; p != nil {
		p.pay(r.node.context, 1)
	}
	return r.signed(key, signature)
}

// signed reports whether a member has signed what a receipt says.
func (r *run) signed(key receiptKey, signature []byte) bool {
	slip := r.node.slip(r.id, &synod.Message{From: key.from, Slot: key.slot}, key.sum)
	return slip.VerifyKey(r.node.roster.Members[key.from].Key, signature)
}

// contradicts reports whether this node has one other message of the slot. With two it has a proof, and a third one
// says nothing more.
func (r *run) contradicts(key receiptKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.receipts[key]; known {
		return false
	}
	values := 0
	for k := range r.receipts {
		if k.from == key.from && k.slot == key.slot {
			values++
		}
	}
	return values == 1
}

// status of a neighbour.
func (p *peer) status() PeerStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := &p.node.roster.Members[p.id]
	return PeerStatus{ID: m.ID, Key: hex.EncodeToString(m.Key), Connected: p.open, Incoming: p.incoming,
		OffsetMS: float64(p.offset.Microseconds()) / 1e3, DelayMS: float64(p.delay.Microseconds()) / 1e3,
		Strikes: p.strikes, Frames: p.frames, Checks: p.checked, Trouble: p.trouble, Relay: p.relay}
}

// join counts a stream from the neighbour and tells the runs. The node must not be locked.
func (p *peer) join() (leave func(), err error) {
	p.mu.Lock()
	excluded := time.Now().Before(p.excluded)
	if !excluded {
		p.incoming++
	}
	p.mu.Unlock()
	if excluded {
		return nil, errors.New("it is excluded for a time because of what it sent")
	}
	p.alive()
	p.node.present(p.id)
	return func() {
		p.alive()
		p.mu.Lock()
		p.incoming--
		p.mu.Unlock()
		p.node.present(p.id)
	}, nil
}

// alive notes that something has come from the neighbour now.
func (p *peer) alive() { p.last.Store(int64(time.Since(p.node.begun))) }

// here reports whether a stream from the neighbour is open.
func (p *peer) here() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.incoming > 0
}

// checkClock compares this node's clock with those of its neighbours. If more than half of them
// differ by more than the limit, this node's clock is wrong, and it takes part in no new run.
func (n *Node) checkClock() {
	skewed, known := 0, 0
	for _, p := range n.links {
		yes, ok := p.skewed()
		if ok {
			known++
		}
		if yes && ok {
			skewed++
		}
	}
	wrong := known > 0 && 2*skewed > known
	if n.wrongClock.Swap(wrong) != wrong {
		if wrong {
			n.count(&n.stats.SkewAlarms)
			n.log.Error("this node's clock differs from most of its neighbours', so it takes part in no new run",
				"limit", n.within/4)
		} else {
			n.log.Info("this node's clock agrees with its neighbours' again")
		}
	}
}

// instanceKey names a run in frames.
func instanceKey(id sign.Instance) [sha256.Size]byte { return sha256.Sum256([]byte(id)) }
