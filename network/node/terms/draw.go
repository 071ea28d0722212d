package terms

import (
	"errors"
	"fmt"
	"strings"

	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// ErrDraws is why no question is played by a roster that draws a committee for each run.
var ErrDraws = errors.New("the roster draws a committee for each run, and nodes do not play on one yet; synod roster " +
	"draw has beacons prove draws, and synod verify checks certificates that show them")

// addDraw changes the roster of a plan in which all hear all into one that draws a committee for each run. In it F
// still bounds the members of the roster, by which changes of it are counted; the guarantee is that of a committee.
func addDraw(r *roster.Roster, d *roster.Draw) error {
	if d == nil {
		return nil
	}
	n := len(r.Members)
	for _, m := range r.Members {
		if !m.Voter || m.Role != r.Members[0].Role {
			return fmt.Errorf("draws: member %s has no vote or a role of its own, and every member may be drawn; use "+
				"a protocol without roles", m.ID)
		}
	}
	if len(r.Edges) != n*(n-1)/2 {
		return errors.New("draws: in a committee all hear all; use graph: complete")
	}
	r.Draw, r.Edges, r.R, r.Exact, r.Faults = d, nil, (d.Size+1)/2, true, roster.Global
	guarantee, known := drawnGuarantee(r)
	if !known {
		return fmt.Errorf("draws: what %s guarantees follows from its parameters, and not from F and r alone; use "+
			"another protocol", r.Protocol)
	}
	r.Guarantee = guarantee
	r.Note = fmt.Sprintf("of a committee of %d that is drawn for each run, with at most F = %d Byzantine members",
		d.Size, d.F)
	return nil
}

// drawnGuarantee returns what the protocol guarantees in a committee.
func drawnGuarantee(r *roster.Roster) (name string, known bool) {
	return certificate.ClaimOf(r.Protocol, r.Draw.F, r.R)
}

// DescribeDraw says in words who is drawn by whom; "none" if the roster draws no committees.
func DescribeDraw(r *roster.Roster) string {
	if r.Draw == nil {
		return "none"
	}
	var beacons []string
	for _, seat := range r.Draw.Beacons {
		beacons = append(beacons, r.Members[seat].ID)
	}
	return fmt.Sprintf("%d of %d members, of whom F = %d may be Byzantine, drawn for each run by %s", r.Draw.Size,
		len(r.Members), r.Draw.F, strings.Join(beacons, ", "))
}
