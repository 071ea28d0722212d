package node

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
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
