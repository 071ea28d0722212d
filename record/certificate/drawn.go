package certificate

import (
	"errors"
	"fmt"

	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/committee"
	"synod.dev/synod/network/roster"
)

// drawn is how the members of a statement were drawn from those of the roster.
type drawn struct {
	proofs  [][]byte // by beacon
	members int      // of the roster
}

// drawnDecision is the encoding of a decision of members who were drawn: that of a decision, whose votes are those of
// the committee, and the beacons' proofs.
type drawnDecision struct {
	_ struct{} `cbor:",toarray"`
	decision
	Draw [][]byte
}

// beginDrawn is the first byte of the encoding of a drawnDecision: an array of 11.
const beginDrawn = 0x8b

func decodeDrawn(b []byte) (*Statement, error) {
	var d drawnDecision
	if err := canonical.Decode(b, MaxSize, &d); err != nil {
		return nil, err
	}
	if len(d.Draw) == 0 {
		return nil, errors.New("it has the form of a decision with a draw, and no proofs")
	}
	return d.read(d.Draw)
}

// SetCommittee is SetRoster for a roster that draws a committee for each run (roster.Draw). Members must have the
// answers of the committee, by seat; proofs are those of the roster's beacons for the run, in their order.
func (s *Statement) SetCommittee(r *roster.Roster, proofs [][]byte) error {
	return s.setRoster(r, proofs)
}

// draw returns the terms of those who take part in the run: the terms as they are or, if they have a draw, those of the
// committee, in which everybody hears everybody and F is that of the draw.
func (d *decision) draw(t *roster.Terms, council []byte, proofs [][]byte) (*roster.Terms, *drawn, error) {
	if t.Draw == nil && len(proofs) == 0 {
		return t, nil, nil
	}
	run := committee.Run{Terms: t, Council: council, Question: d.Question, Instance: d.Instance}
	seats, err := run.Seats(proofs)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate: %w", err)
	}
	of := *t
	of.Members, of.Edges, of.F = nil, nil, t.Draw.F
	for i, seat := range seats {
		of.Members = append(of.Members, t.Members[seat])
		for k := i + 1; k < len(seats); k++ {
			of.Edges = append(of.Edges, []uint64{uint64(i), uint64(k)})
		}
	}
	return &of, &drawn{proofs, len(t.Members)}, nil
}

// aboutDraw says what the draw proves, and what it does not.
func (s *Statement) aboutDraw(r *Report) {
	if s.drawn == nil {
		return
	}
	n, size, f := s.drawn.members, len(s.Members), int(s.Faults.F)
	r.Claims = append(r.Claims, fmt.Sprintf("the %d voters are those of the roster's %d members that were drawn for "+
		"this run: %d beacons prove it, and the run has no other draw", size, n, len(s.drawn.proofs)))
	fifth, _ := committee.Captured(n, n/5, size, f).Float64()
	r.NotProved = append(r.NotProved, fmt.Sprintf("that at most F = %d of those who were drawn are Byzantine: if %d "+
		"of the %d members are, a draw has more with the probability %.2g", f, n/5, n, fifth),
		"that who asked did not ask again until a draw was favourable: only beacons know how often they were asked")
}
