package plan

import (
	"errors"
	"fmt"
	"slices"

	"synod.dev/synod"
	"synod.dev/synod/internal/order"
	"synod.dev/synod/protocol"
	"synod.dev/synod/record/certificate"
)

// CheckCertified returns why a decision on a question cannot be certified; nil if it can.
func CheckCertified(p *Plan, q *synod.Question) error {
	_, staged := p.protocol.(protocol.Staged)
	switch {
	case p.graph.Changes():
		return errors.New("council: the graph changes from round to round, and a certificate has one graph for all " +
			"rounds")
	case Merging(p, q) && Grading(p) != nil:
		return errors.New("council: parts of the value are chosen by members' grades, which they do not sign; use " +
			"protocol: {name: majority}, without x-merge: prose, for a certificate of a merged value")
	case Merging(p, q) && staged:
		return fmt.Errorf("council: %s merges the values of those that it has asked, and a certificate does not show "+
			"who that was; use protocol: {name: majority} for a certificate of a merged value", p.entry.Name)
	case Merging(p, q) && Weighting(p) != nil:
		return fmt.Errorf("council: %s merges JSON values with members' confidences as weights, which they do not "+
			"sign; use protocol: {name: majority} for a certificate of a merged value", p.entry.Name)
	}
	return nil
}

// CertifiedEdges returns the edges of the graph as a certificate has them: each once, the
// lower seat first, ascending.
func CertifiedEdges(p *Plan) [][2]uint64 {
	edges := [][2]uint64{}
	for _, e := range p.graph.Edges() {
		edges = append(edges, [2]uint64{uint64(min(e[0], e[1])), uint64(max(e[0], e[1]))})
	}
	order.Sort(edges, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	return edges
}

// FaultModel returns what F bounds, as certificates name it: the neighbours of each member where the protocol's
// claim is about the graph, else members of the council.
func FaultModel(p *Plan) string {
	if a, ok := p.protocol.(protocol.AllToAll); ok && a.AllToAll() {
		return certificate.Global
	}
	if _, ok := p.protocol.(protocol.Guaranteed); ok {
		return certificate.Local
	}
	return certificate.Global
}
