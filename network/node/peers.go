package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
)

// peer is a neighbour and the streams to and from it.
type peer struct {
	node *Node
	id   synod.NodeID
	wake chan struct{}

	mu       sync.Mutex
	control  [][]byte     // batches that are sent once
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
	refused  atomic.Bool   // nobody listens at its address
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
		p.listens(err)
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

// listens notes whether a connection to the neighbour was refused: then no process listens at its address. Of a member
// with several addresses it is not known.
func (p *peer) listens(err error) {
	n := p.node
	addresses := n.roster.Members[p.id].Addresses
	if a, ok := n.config.Addresses[p.id]; ok {
		addresses = a
	}
	refused := len(addresses) == 1 && errors.Is(err, syscall.ECONNREFUSED)
	if p.refused.Swap(refused) != refused {
		n.present(p.id)
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
	p.listens(nil)
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
			err = fmt.Errorf("it did not admit this node, or has another roster or version: %w", err)
		}
	}
	if err == nil && w.Refused != "" {
		err = errors.New(w.Refused)
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
	var last runKey
	for {
		batches := p.pending()
		last = shorten(batches, last)
		if err := conn.SendAll(batches, helloTime); err != nil {
			return err
		}
		select {
		case <-p.wake:
		case <-ping.C:
			b := canonical.Encode(batch{Frames: []frame{{Kind: isPing, Clock: p.node.now().UnixMicro()}}})
			if err := conn.SendBytes(b, helloTime); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pending returns the batches of frames that have not been sent on the open stream.
func (p *peer) pending() (all [][]byte) {
	runs := p.node.active()
	p.mu.Lock()
	defer p.mu.Unlock()
	all, p.control = p.control, nil
	cursor := make(map[*run]int, len(runs)) // of the runs in memory only, so that those before can be freed
	for _, r := range runs {
		r.mu.Lock()
		out := r.out[p.id]
		all = append(all, pack(r.key[:], out[min(p.cursor[r], len(out)):])...)
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

// once queues a frame about a run that is sent once.
func (p *peer) once(run runKey, f frame) {
	b := canonical.Encode(batch{Run: run[:], Frames: []frame{f}})
	p.mu.Lock()
	if len(p.control) < maxControl {
		p.control = append(p.control, b)
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
	var last []byte // the run of the batch before
	for ctx.Err() == nil {
		b, err := conn.ReceiveBytes(maxFrame, idleTime)
		if errors.Is(err, link.ErrTooLong) {
			return p.strike(err)
		}
		if err != nil {
			return err
		}
		p.alive()
		if !p.affords(1, len(b)) {
			return p.strike(errTooMuch)
		}
		p.pay(ctx, len(b)/bytesPerCheck)
		var x batch
		if err := canonical.Decode(b, maxFrame, &x); err != nil {
			return p.strike(err)
		}
		if len(x.Frames) == 0 || len(x.Frames) > batchFrames {
			return p.strike(fmt.Errorf("a batch has %d frames", len(x.Frames)))
		}
		if !p.affords(len(x.Frames)-1, 0) {
			return p.strike(errTooMuch)
		}
		if f := &x.Frames[0]; len(x.Run) == 0 && f.Kind == isPing {
			if err := conn.Send(pong{Sent: f.Clock, Clock: n.now().UnixMicro()}, helloTime); err != nil {
				return err
			}
			continue
		}
		if len(x.Run) == 0 {
			x.Run = last
		}
		if err := p.dispatch(&x); err != nil {
			return p.strike(err)
		}
		last = x.Run
	}
	return ctx.Err()
}

var errTooMuch = errors.New("it sends more than is read")

// affords takes frames and bytes from what is read of the neighbour in a second, over all its streams: one that opens
// others does not get more.
func (p *peer) affords(frames, bytes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames += uint64(frames)
	now := time.Now()
	return p.perSecond.Take(now, float64(frames)) && p.size.Take(now, float64(bytes))
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

// dispatch hands the frames of a batch to their run. The error is for a batch that no honest node sends.
func (p *peer) dispatch(b *batch) error {
	if len(b.Run) != len(runKey{}) {
		return errors.New("a batch does not name its run")
	}
	key := runKey(b.Run)
	r := p.node.running(key) // nil: the question has not come yet, or the run is long over
	var forRun []frame
	for i := range b.Frames {
		f := &b.Frames[i]
		if f.Tick < 0 || f.Tick > int64(never) || len(f.Slot) > maxSlotName || f.Round > 1<<31-1 ||
			len(f.Body) > synod.MaxLongBody || len(f.Receipts) > receiptsAtOnce {
			return errors.New("a frame is out of range")
		}
		in, err := p.take(key, r, f)
		if err != nil {
			return err
		}
		if in {
			forRun = append(forRun, *f)
		}
	}
	if len(forRun) > 0 {
		r.put(input{from: p.id, frames: forRun})
	}
	return nil
}

// take handles a frame about a run, which is nil if this node does not have it in memory. forRun says that the run's
// goroutine has to have it.
func (p *peer) take(key runKey, r *run, f *frame) (forRun bool, err error) {
	n := p.node
	switch f.Kind {
	case isBegun:
		p.pay(n.context, begunCost)
		if r == nil && n.declined.has(key) {
			p.once(key, frame{Kind: isDecline})
		}
		p.tellHeld(key, r, true)
	case isHeld:
		return false, n.hearHeld(p.id, key, f)
	}
	if r == nil {
		return false, nil
	}
	switch f.Kind {
	case isMessage:
		return p.checkMessage(r, f)
	case isClosed, isDemand, isDecline:
		return true, nil
	case isBegun:
		p.again(r)
		return true, nil
	case isReceipts:
		return false, r.compareReceipts(p.id, f.Receipts)
	case isSummary:
		return false, r.hearSummary(p.id, f)
	case isPull:
		return false, r.answerPull(p.id, f)
	case isDigests:
		return false, r.hearDigests(p.id, f)
	}
	return false, errors.New("a frame of an unknown kind")
}

// compareReceipts looks for equivocation in what a neighbour has got, and keeps the neighbour's vote. The error is for
// a signature that is not valid: honest nodes pass on what they have checked.
func (r *run) compareReceipts(by synod.NodeID, list []call.Receipt) error {
	kept := r.node.keptFor(by, r.id)
	for _, c := range list {
		if c.From >= uint64(len(r.node.roster.Members)) || len(c.Sum) != sha256.Size || c.Round > 1<<31-1 {
			return errors.New("a receipt is out of range")
		}
		key := receiptKey{synod.NodeID(c.From), synod.Slot{Name: c.Slot, Round: int(c.Round)}, [sha256.Size]byte(c.Sum)}
		if key.from == r.node.seat && !r.node.ownReceipt(by, r.id, &c, kept) {
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

// contradicts reports whether this node has one other message of the slot, and not this one. More than two prove
// nothing that two do not.
func (r *run) contradicts(key receiptKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.receipts[slotOf{key.from, key.slot}]
	return len(known) == 1 && !has(known, key.sum[:])
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
func instanceKey(id sign.Instance) (key runKey) {
	sum := sha256.Sum256([]byte(id))
	copy(key[:], sum[:])
	return key
}
