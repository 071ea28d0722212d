package certificate

import (
	"bytes"

	"synod.dev/synod"
	"synod.dev/synod/core/robust"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/protocol/catalog"
)

// None is the claim of a council without a guarantee.
const None = "none"

// exactNodes is the largest graph whose robustness a verifier computes again: that of 16
// nodes takes milliseconds here, and a second in examples/verify. Complete graphs of every
// size have r = ⌈n/2⌉.
const exactNodes = 16

// mostClaimed bounds F and r: no council has as many members.
const mostClaimed = 1 << 30

// ClaimOf returns the name of what a protocol guarantees for F on a graph of robustness r; None: nothing. known is
// false for a protocol that this program does not have, or whose guarantee depends on its parameters.
func ClaimOf(protocol string, f, r uint64) (claim string, known bool) {
	entry, err := catalog.Protocols.Find(protocol)
	if err != nil {
		return "", false
	}
	claim, known = entry.Claim(int(min(f, mostClaimed)), int(min(r, mostClaimed)))
	if known && claim == "" {
		claim = None
	}
	return claim, known
}

// robustnessOf returns the graph's exact robustness; ok is false if the graph is too large
// to compute it here.
func (s *Statement) robustnessOf() (r uint64, ok bool) {
	n := len(s.Members)
	if len(s.Graph.Edges) == n*(n-1)/2 {
		return uint64(n+1) / 2, true
	}
	if n > exactNodes {
		return 0, false
	}
	edges := make([][2]int, len(s.Graph.Edges))
	for i, e := range s.Graph.Edges {
		edges[i] = [2]int{int(e[0]), int(e[1])}
	}
	g, err := graph.New(n, false, edges)
	if err != nil { // check has excluded it
		return 0, false
	}
	found := robustness.Find(g, nil)
	return uint64(found.R), found.Exact
}

// support returns how many members gave the answer in round 0.
func (s *Statement) support() (n uint64) {
	for i := range s.Members {
		if bytes.Equal(s.Members[i].First, s.Answer) {
			n++
		}
	}
	return n
}

// withstands counts the first answers, and not weights. nil: another answer has as many.
func (s *Statement) withstands() *Withstands {
	if s.Merge != nil {
		m, err := s.Merged()
		if err != nil {
			return nil
		}
		return s.mergeWithstands(m)
	}
	voices := make([]robust.Voice, len(s.Members))
	for i := range s.Members {
		voices[i] = robust.Voice{Answer: synod.Answer(s.Members[i].First), Weight: 1}
	}
	w, leads := robust.Withstands(robust.VoteRule{Name: robust.Plurality}, voices, synod.Answer(s.Answer))
	if !leads {
		return nil
	}
	return &Withstands{Ignored: uint64(w.Ignored), Changed: uint64(w.Changed)}
}

// Fill sets what follows from the rest: Support and Withstands.
func (s *Statement) Fill() { s.Support, s.Withstands = s.support(), s.withstands() }

// decided reports whether the rule leads from the final answers of the voters to the
// answer; known is false for the rule "protocol", which only the protocol can apply.
func (s *Statement) decided() (votes, voters uint64, yes, known bool) {
	counts := map[string]uint64{}
	for i := range s.Members {
		if m := &s.Members[i]; m.Voter {
			voters++
			if len(m.Final) > 0 {
				counts[string(m.Final)]++
			}
		}
	}
	votes = counts[string(s.Answer)]
	second := uint64(0)
	for answer, n := range counts {
		if answer != string(s.Answer) {
			second = max(second, n)
		}
	}
	switch s.Rule.Name {
	case "majority":
		return votes, voters, 2*votes > voters, true
	case "supermajority":
		return votes, voters, 3*votes >= 2*voters && votes > 0, true
	case "plurality":
		return votes, voters, votes > second, true
	}
	return votes, voters, votes > 0, false
}
