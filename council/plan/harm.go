package plan

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"synod.dev/synod/graph/topology"
)

// Harm says what the seats of adversaries do to the graph. The rule worst picks the seats with the
// least R, of these those with the largest Local, then those with most Edges. On a graph that
// changes all numbers are about the edges of all rounds.
type Harm struct {
	Seats   []string `json:"seats"`
	R       *int     `json:"r"`       // robustness of the graph without them; null: not measured above 24 seats
	Local   int      `json:"f_local"` // the largest number of them that an honest member hears
	Edges   int      `json:"edges"`   // edges from them to other seats
	Unheard []string `json:"unheard"` // honest members that never hear one of them
}

// String describes the harm for people, without the members that never hear an adversary.
func (h *Harm) String() string {
	left := "r is not measured above 24 seats"
	if h.R != nil {
		left = fmt.Sprintf("r=%d without them", *h.R)
	}
	edges := "edges"
	if h.Edges == 1 {
		edges = "edge"
	}
	return fmt.Sprintf("adversaries at %s: %s, at most %d heard by one honest member, %d %s to others",
		strings.Join(h.Seats, ", "), left, h.Local, h.Edges, edges)
}

// Reach says which honest members never hear an adversary.
func (h *Harm) Reach() string {
	if len(h.Unheard) == 0 {
		return "every honest member hears an adversary"
	}
	return "never hear an adversary: " + strings.Join(h.Unheard, ", ")
}

// Harm returns what the seats of adversaries do to the graph; nil without adversaries, and in
// protocols with roles, whose bounds are not about the graph. The first call measures it.
func (p *Plan) Harm() *Harm { return p.harm() }

func measureHarm(p *Plan) func() *Harm {
	return sync.OnceValue(func() *Harm {
		var at []int
		for i, s := range p.seats {
			if s.Adversary != "" {
				at = append(at, i)
			}
		}
		if len(at) == 0 || p.roles != nil {
			return nil
		}
		measured, exact := topology.Measure(p.graph.Graph, at)
		h := &Harm{Seats: NamesOf(p, at), Local: measured.Local, Edges: measured.Edges, Unheard: []string{}}
		if exact {
			h.R = &measured.Left
		}
		bad := func(i int) bool { return slices.Contains(at, i) }
		for i, s := range p.seats {
			if !bad(i) && !slices.ContainsFunc(p.graph.In(i), bad) {
				h.Unheard = append(h.Unheard, s.ID)
			}
		}
		return h
	})
}
