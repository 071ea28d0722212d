package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"synod.dev/synod/protocol"
)

// AddGuarantee counts questions with a guarantee. The list stays in the order of the names.
func (r *Report) AddGuarantee(name string, questions int) {
	i, known := slices.BinarySearchFunc(r.Guarantees, name, func(g Guaranteed, name string) int {
		return cmp.Compare(g.Guarantee, name)
	})
	if !known {
		r.Guarantees = slices.Insert(r.Guarantees, i, Guaranteed{Guarantee: name})
	}
	r.Guarantees[i].Questions += questions
}

// AddClaims counts the verdicts on the claims of a decision; without claims it does nothing.
func (r *Report) AddClaims(verdicts []protocol.ClaimVerdict) {
	if len(verdicts) == 0 {
		return
	}
	if r.Claims == nil {
		r.Claims = &JudgedClaims{}
	}
	r.Claims.Questions++
	for _, v := range verdicts {
		switch v {
		case protocol.Supported:
			r.Claims.Supported++
		case protocol.Disputed:
			r.Claims.Disputed++
		case protocol.Open:
			r.Claims.Open++
		}
	}
}

// claimFigures adds the counts of guarantees and claims to a CSV.
func (r *Report) claimFigures(add func(figure string, cells ...string)) {
	for _, g := range r.Guarantees {
		add(fmt.Sprintf("guarantee[%s]", plain(g.Guarantee)), strconv.Itoa(g.Questions), strconv.Itoa(r.Finished))
	}
	if c := r.Claims; c != nil {
		n := strconv.Itoa(c.Supported + c.Disputed + c.Open)
		add("claims_supported", strconv.Itoa(c.Supported), n)
		add("claims_disputed", strconv.Itoa(c.Disputed), n)
		add("claims_open", strconv.Itoa(c.Open), n)
	}
}
