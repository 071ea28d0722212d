package call

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"synod.dev/synod"
	"synod.dev/synod/council/outcome"
	"synod.dev/synod/network/committee"
)

// ToDraw is the purpose of a stream on which a caller asks a beacon for its proof of the draw of a run. The request is
// a Start, as for ToAsk, and the reply a Drawn.
const ToDraw = "draw"

// Drawn is the reply of a beacon.
type Drawn struct {
	_       struct{} `cbor:",toarray"`
	Refused string   // why it does not prove; "": Proof is set
	Proof   []byte   // of the draw of the run
}

// Draw asks the beacons of a roster that draws committees for a new run of a question. It returns the run, with the
// proofs of all beacons. It fails if one of them does not prove: then the run has no committee.
func (c *Client) Draw(ctx context.Context, q synod.Question) (*committee.Run, [][]byte, error) {
	if c.Roster.Draw == nil {
		return nil, nil, errors.New("the roster draws no committees")
	}
	s := Start{Nonce: make([]byte, nonceSize), At: time.Now().Add(maxLead).UnixMilli()}
	if _, err := rand.Read(s.Nonce); err != nil {
		return nil, nil, err
	}
	if err := s.put(&q); err != nil {
		return nil, nil, err
	}
	hash := c.Roster.Hash()
	run := &committee.Run{Terms: c.Roster.Terms(), Council: hash[:], Question: outcome.QuestionHash(&q),
		Instance: string(c.Roster.Instance(&q, s.Nonce, s.At))}
	proofs := make([][]byte, len(c.Roster.Draw.Beacons))
	failed := make(chan error, len(proofs))
	for i, seat := range c.Roster.Draw.Beacons {
		go func() {
			err := c.proof(ctx, synod.NodeID(seat), &s, &proofs[i])
			if err == nil {
				err = run.Check(i, proofs[i])
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", c.Roster.Members[seat].ID, err)
			}
			failed <- err
		}()
	}
	var err error
	for range proofs {
		err = errors.Join(err, <-failed)
	}
	return run, proofs, err
}

// proof asks one beacon.
func (c *Client) proof(ctx context.Context, seat synod.NodeID, s *Start, proof *[]byte) error {
	var reply Drawn
	if err := c.request(ctx, seat, ToDraw, s, MaxHello, &reply); err != nil {
		return err
	}
	if reply.Refused != "" {
		return refusal(reply.Refused)
	}
	*proof = reply.Proof
	return nil
}
