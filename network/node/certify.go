package node

import (
	"crypto/sha256"

	"synod.dev/synod"
	"synod.dev/synod/core/sign"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/internal/durable"
	"synod.dev/synod/network/link"
	"synod.dev/synod/network/node/call"
	"synod.dev/synod/record/certificate"
)

// certify signs the statement of a certificate, if it is about an answer that this seat holds. The
// answer is on disk before it is signed, and a second one for the run is refused for ever.
func (n service) certify(conn *link.Conn, caller string) {
	if err := n.mayCheck(caller, 1+len(n.roster.Members)); err != nil { // before anything is read
		conn.Send(call.Signed{Refused: err.Error()}, helloTime)
		return
	}
	request, s, err := call.ReceiveSign(conn, helloTime)
	if err != nil {
		return
	}
	id := sign.Instance(request.Instance)
	reply := call.Signed{}
	q, f := n.questionOf(id), n.recordOf(id)
	if q == nil || f == nil {
		reply.Refused = "this node has no record of the run"
	} else {
		reply.Signature, err = n.signStatement(id, q, f, s)
	}
	if err != nil {
		reply.Refused, reply.Signature = err.Error(), nil
	}
	if err := conn.Send(reply, helloTime); err != nil {
		n.log.Debug("a caller did not take its signature", "error", err)
	}
}

func (n service) signStatement(id sign.Instance, q *synod.Question, f *call.Final,
	s *certificate.Statement) ([]byte, error) {
	own, err := call.OwnOf(n.roster, n.seat, q, f)
	if err != nil {
		return nil, err
	}
	return own.Sign(s, func(answer []byte) error {
		v := signing{slotKey{string(id), certified}, sha256.Sum256(answer)}
		return n.slots.commit([]signing{v})
	}, n.secret)
}

// questionOf returns the question of a run; nil if there is none.
func (n service) questionOf(id sign.Instance) *synod.Question {
	if !plainID(id) {
		return nil
	}
	b, err := durable.ReadFile(n.startPath(id), call.MaxStart)
	if k := n.keptOf(id); k != nil { // it has ended
		b, err = k.Start, nil
	}
	var s call.Start
	if err != nil || canonical.Decode(b, call.MaxStart, &s) != nil {
		return nil
	}
	q, err := s.Decode()
	if err != nil || n.roster.Instance(&q, s.Nonce, s.At) != id {
		return nil
	}
	return &q
}

// serveReceipts sends a caller the receipts that it asks for. A caller that has spent its checks is sent nothing: the
// record has a signature.
func (n service) serveReceipts(conn *link.Conn, caller string) {
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
