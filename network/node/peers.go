package node

import (
	"encoding/hex"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"synod.dev/synod"
	"synod.dev/synod/internal/canonical"
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
	perSecond, size *rate.Limiter
	checks          *rate.Limiter // of signatures, which it pays for (pay)
	checked         uint64        // signatures
	held            atomic.Int64  // bytes of its messages in runs that have not ended
	last            atomic.Int64  // when a frame came from it or its stream broke: nanoseconds after the node began
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

// skewed reports whether the neighbour's clock differs by more than a quarter of the message bound, as
// far as the round trip allows to tell.
func (p *peer) skewed() (yes, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.compared && p.offset.Abs() > p.node.within/4+p.delay, p.compared && p.open
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
