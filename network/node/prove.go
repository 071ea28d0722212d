package node

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"synod.dev/synod/council/outcome"
	"synod.dev/synod/network/committee"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
)

// Each run for which a caller gets the proofs of all beacons is another draw of a committee, and the caller may keep
// the one that it likes. So a node whose seat is a beacon proves a bounded number of draws for one caller, and only for
// runs that are about to begin. That bounds the tries of a caller as long as one beacon is honest.
const (
	drawsPerHour = 60 // of one caller
	drawBurst    = 20
)

// errTooManyDraws is the error of a caller that has asked for too many draws.
var errTooManyDraws = errors.New("this beacon has proved as many draws for this caller as it does; ask again later")

// prove answers a caller that asks for the seat's proof of the draw of a run.
func (n service) prove(conn *link.Conn, caller string) {
	var s call.Start
	if conn.Receive(n.config.Caps.largest(), &s, helloTime) != nil {
		return
	}
	reply := call.Drawn{}
	proof, err := n.proofOf(&s, caller)
	if err != nil {
		reply.Refused = err.Error()
	}
	reply.Proof = proof
	if err := conn.Send(reply, helloTime); err != nil {
		n.log.Debug("a caller did not take its proof", "error", err)
	}
}

func (n service) proofOf(s *call.Start, caller string) ([]byte, error) {
	q, err := s.Decode()
	if err != nil {
		return nil, err
	}
	if err := s.CheckSalt(n.roster, &q); err != nil {
		return nil, err
	}
	switch ahead := time.UnixMilli(s.At).Sub(n.now()); {
	case n.roster.Draw == nil:
		return nil, errors.New("the roster draws no committees")
	case n.draining.Load():
		return nil, n.leaving()
	case ahead < -n.within/4 || ahead > time.Minute:
		return nil, fmt.Errorf("the run begins %v from now by this node's clock; it must begin now or within 1m",
			ahead.Round(time.Millisecond))
	case !n.mayDraw(caller):
		return nil, errTooManyDraws
	}
	id := n.roster.Instance(&q, s.Nonce, s.At)
	run := committee.Run{Terms: n.roster.Terms(), Council: n.hash[:], Question: outcome.QuestionHash(&q),
		Instance: string(id)}
	return run.Prove(n.secret.LinkKey())
}

// mayDraw takes one draw from what a caller may ask for.
func (n service) mayDraw(caller string) bool {
	n.figures.Lock()
	defer n.figures.Unlock()
	if n.callerDraws == nil {
		n.callerDraws = map[string]*rate.Limiter{} // one for each key that may ask, which the roster bounds
	}
	b := n.callerDraws[caller]
	if b == nil {
		b = rate.NewLimiter(rate.Every(time.Hour/drawsPerHour), drawBurst)
		n.callerDraws[caller] = b
	}
	return b.Allow()
}
