package smartbft

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
)

// Network carries the messages of one replica over authenticated streams: one to each other replica, which this
// one dials, and one from each, which whoever accepts streams hands to Serve. It implements Transport.
type Network struct {
	self   uint64
	dial   Dialer
	cancel context.CancelFunc
	peers  map[uint64]*peer
	work   sync.WaitGroup

	mu       sync.Mutex
	receiver Receiver
}

// Dialer opens a stream to a replica, which has shown its key.
type Dialer func(ctx context.Context, replica uint64) (*link.Conn, error)

// Receiver takes what other replicas send: a Replica.
type Receiver interface {
	Receive(from uint64, message []byte)
	Blocks(from uint64) [][]byte
}

// peer is another replica and the stream to it.
type peer struct {
	id      uint64
	queue   chan frame
	answers chan [][]byte
	asking  sync.Mutex // one question for blocks at a time
	mu      sync.Mutex
	open    bool
}

// frame is what a replica sends on the stream that it has opened.
type frame struct {
	_       struct{} `cbor:",toarray"`
	Message []byte   // for Replica.Receive; empty: a question for blocks
	From    uint64   // the height from which blocks are asked for
}

// answer is the reply to a question for blocks, on the same stream.
type answer struct {
	_      struct{} `cbor:",toarray"`
	Blocks [][]byte
}

// The limits of streams between replicas.
const (
	queueLength = 4096 // messages to one replica; more are lost
	maxFrame    = maxBlock + 1<<20
	sendTime    = 5 * time.Second
	askTime     = 3 * time.Second
	keepTime    = 5 * time.Second  // without a message an empty one is sent
	silentTime  = 20 * time.Second // without any frame a stream is closed
	redialMin   = 50 * time.Millisecond
	redialMax   = time.Second
	frameRate   = 20_000 // a second, of one replica
	byteRate    = 128 << 20
)

// NewNetwork connects a replica of n with the others until Close.
func NewNetwork(self uint64, n int, dial Dialer) *Network {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Network{self: self, dial: dial, cancel: cancel, peers: map[uint64]*peer{}}
	for id := uint64(1); id <= uint64(n); id++ {
		if id == self {
			continue
		}
		p := &peer{id: id, queue: make(chan frame, queueLength), answers: make(chan [][]byte, 1)}
		w.peers[id] = p
		w.work.Go(func() { w.keep(ctx, p) })
	}
	return w
}

// Close closes the streams that this replica has opened.
func (w *Network) Close() {
	w.cancel()
	w.work.Wait()
}

// Attach makes a receiver take what others send from now on; nil: it is dropped.
func (w *Network) Attach(r Receiver) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.receiver = r
}

// Connected returns the number of replicas to which a stream is open.
func (w *Network) Connected() (n int) {
	for _, p := range w.peers {
		p.mu.Lock()
		if p.open {
			n++
		}
		p.mu.Unlock()
	}
	return n
}

// Send implements Transport. A message to a replica that cannot be reached is lost.
func (w *Network) Send(to uint64, message []byte) {
	p := w.peers[to]
	if p == nil || len(message) == 0 {
		return
	}
	select {
	case p.queue <- frame{Message: message}:
	default:
	}
}

// Blocks implements Transport.
func (w *Network) Blocks(of, from uint64) [][]byte {
	p := w.peers[of]
	if p == nil {
		return nil
	}
	p.asking.Lock()
	defer p.asking.Unlock()
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	if !open {
		return nil
	}
	select {
	case <-p.answers: // one that came too late
	default:
	}
	select {
	case p.queue <- frame{From: from}:
	default:
		return nil
	}
	select {
	case blocks := <-p.answers:
		return blocks
	case <-time.After(askTime):
		return nil
	}
}

// keep keeps a stream to a replica open.
func (w *Network) keep(ctx context.Context, p *peer) {
	retry := redialMin
	for ctx.Err() == nil {
		begun := time.Now()
		if conn, err := w.dial(ctx, p.id); err == nil {
			p.set(true)
			w.talk(ctx, p, conn)
			p.set(false)
		}
		if time.Since(begun) > redialMax { // it was open
			retry = redialMin
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
			retry = min(2*retry, redialMax)
		}
	}
}

func (p *peer) set(open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open = open; open {
		for len(p.queue) > 0 { // what waited for the stream is old: the consensus sends it again
			<-p.queue
		}
	}
}

// talk writes what is queued until the stream breaks.
func (w *Network) talk(ctx context.Context, p *peer, conn *link.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	go func() {
		defer cancel()
		for {
			var a answer
			if conn.Receive(maxAnswer+1<<20, &a, 720*time.Hour) != nil { // ctx ends it
				return
			}
			select {
			case p.answers <- a.Blocks:
			default:
			}
		}
	}()
	still := time.NewTicker(keepTime)
	defer still.Stop()
	for {
		f := frame{Message: []byte{}}
		select {
		case f = <-p.queue:
		case <-still.C:
			f.From = noBlocks
		case <-ctx.Done():
			return
		}
		if f.Message == nil {
			f.Message = []byte{}
		}
		if conn.Send(f, sendTime) != nil {
			return
		}
	}
}

// noBlocks is From in a frame that keeps a stream open.
const noBlocks = ^uint64(0)

// Serve reads what a replica sends on a stream that it has opened, until the stream breaks or breaks a rule.
func (w *Network) Serve(from uint64, conn *link.Conn) error {
	frames := rate.NewLimiter(frameRate, 2*frameRate)
	size := rate.NewLimiter(byteRate, 2*byteRate)
	for {
		b, err := conn.ReceiveBytes(maxFrame, silentTime)
		if err != nil {
			return err
		}
		if now := time.Now(); !frames.AllowN(now, 1) || !size.AllowN(now, len(b)) {
			return errors.New("smartbft: it sends more than is read")
		}
		var f frame
		if err := canonical.Decode(b, maxFrame, &f); err != nil {
			return err
		}
		w.mu.Lock()
		r := w.receiver
		w.mu.Unlock()
		switch {
		case len(f.Message) > 0 && r != nil:
			r.Receive(from, f.Message)
		case len(f.Message) == 0 && f.From != noBlocks:
			a := answer{Blocks: [][]byte{}}
			if r != nil {
				a.Blocks = append(a.Blocks, r.Blocks(f.From)...)
			}
			if err := conn.Send(a, sendTime); err != nil {
				return err
			}
		}
	}
}
