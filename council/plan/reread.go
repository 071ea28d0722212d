package plan

import (
	"fmt"
	"slices"

	"synod.dev/synod"
)

// The values of the council key reread.
const (
	RereadOnce  = "once"
	RereadNever = "never"
)

// SecondChances reports whether members get a second chance: their reply could not be read, and one short request in
// the
// same conversation asks for the answer alone. The papers know no such thing. A council whose guards read every reply
// as free text is one of an experiment.
func SecondChances(p *Plan) bool {
	return p.spec.Reread != RereadNever && p.spec.Exact == "" && !p.guards.Untyped
}

// Rereads reports whether the member of a seat is asked a second time for what could not be read.
func Rereads(p *Plan, seat int) bool { return SecondChances(p) && !Free(p.seats[seat].Kind) }

// checkReread refuses a value that is none.
func checkReread(p *Plan) error {
	if all := []string{RereadOnce, RereadNever}; p.spec.Reread != "" && !slices.Contains(all, p.spec.Reread) {
		return fmt.Errorf("reread is %.40q; it must be once or never%s", p.spec.Reread, synod.Hint(p.spec.Reread, all))
	}
	return nil
}
