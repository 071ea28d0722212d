package node

import (
	"context"
	"encoding/hex"
	"errors"
	"net"

	"synod.dev/synod"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
)

// serveForward passes a caller's request on to another member, or answers one that a member has passed on.
func (n service) serveForward(conn *link.Conn, key []byte) {
	limit := min(max(call.MaxText, n.config.Caps.Question+1<<10), call.MaxStart) + call.ForwardRoom
	var f call.Forward
	if conn.Receive(limit, &f, helloTime) != nil {
		return
	}
	reply := call.Forwarded{}
	err := n.mayCheck(hex.EncodeToString(key), 1) // who sends it pays, because anybody can name a caller
	if err == nil {
		reply, err = n.forwarded(&f, key)
	}
	if err != nil {
		reply = call.Forwarded{Refused: err.Error()}
	}
	if err := conn.Send(reply, helloTime); err != nil {
		n.log.Debug("who asked did not take the reply", "error", err)
	}
}

func (n service) forwarded(f *call.Forward, key []byte) (reply call.Forwarded, err error) {
	if err := f.Check(n.roster); err != nil {
		return reply, err
	}
	_, member := n.roster.Seat(key)
	switch {
	case synod.NodeID(f.Seat) == n.seat && member:
		reply.Reply, err = n.answerForwarded(f)
		return reply, err
	case string(f.Caller) != string(key):
		return reply, errors.New("a request is passed on for its caller only, and once")
	}
	caller := hex.EncodeToString(key)
	if _, places := n.config.Caps.atOnce(); !n.forwards.enter(caller, 2*places) {
		return reply, errors.New("too many requests of this caller are passed on now")
	}
	defer n.forwards.leave(caller)
	return n.passOn(f)
}

// passOn asks another member, and returns its reply.
func (n service) passOn(f *call.Forward) (reply call.Forwarded, err error) {
	conn, _, _, err := n.open(n.context, synod.NodeID(f.Seat), call.ToForward)
	if err != nil {
		return reply, err
	}
	defer conn.Close()
	defer context.AfterFunc(n.context, func() { conn.Close() })()
	if err := conn.Send(f, helloTime); err != nil {
		return reply, err
	}
	err = conn.Receive(call.MaxRecord+call.ForwardRoom, &reply, n.longest())
	return reply, err
}

// answerForwarded answers a request as if it had come on a stream of its caller.
func (n service) answerForwarded(f *call.Forward) ([]byte, error) {
	here, there := net.Pipe()
	asking, answering := link.NewConn(here), link.NewConn(there)
	defer asking.Close()
	defer context.AfterFunc(n.context, func() { asking.Close() })()
	caller := hex.EncodeToString(f.Caller)
	n.work.Go(func() {
		defer answering.Close()
		switch f.Purpose {
		case call.ToAsk:
			n.answer(answering, caller, helloTime)
		case call.ToSign:
			n.certify(answering, caller)
		case call.ToCompare:
			n.serveReceipts(answering, caller)
		}
	})
	n.work.Go(func() { asking.SendBytes(f.Request, helloTime) }) // a request may be refused before it is read
	b, err := asking.ReceiveBytes(call.MaxRecord, n.longest())
	if err != nil {
		return nil, errors.New("the member has not answered the request")
	}
	return b, nil
}
