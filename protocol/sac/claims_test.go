package sac

import (
	"fmt"
	"testing"

	"synod.dev/synod"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/robustness"
	"synod.dev/synod/internal/simtest"
	"synod.dev/synod/protocol/answer"
)

// This file tests the claims of §4.2 of the paper on the filter itself: all cases for n ≤ 5, random
// ones above. Only the order of scores matters, so weak orders represent all real scores.

// everyGraph lists all graphs of n nodes with every F for which r ≥ F+1.
func everyGraph(t *testing.T, n int) (out []simtest.Setting) {
	t.Helper()
	var pairs [][2]int
	for i := range n {
		for j := i + 1; j < n; j++ {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	for bits := range 1 << len(pairs) {
		var edges [][2]int
		for k, p := range pairs {
			if bits>>k&1 == 1 {
				edges = append(edges, p)
			}
		}
		g, err := graph.New(n, false, edges)
		if err != nil {
			t.Fatal(err)
		}
		r := robustness.Find(g, nil).R
		for f := 0; f < r; f++ {
			out = append(out, simtest.Setting{G: g, R: r, F: f})
		}
	}
	return out
}

// everyLocal calls do with each F-local set, as a bit set.
func everyLocal(s simtest.Setting, do func(b int)) {
	for b := range 1 << s.G.N() {
		if s.Local(b) {
			do(b)
		}
	}
}

// everyOrder calls do with each weak order of m elements, as ranks.
func everyOrder(m int, do func(rank []int)) {
	rank := make([]int, m)
	var place func(k, top int)
	place = func(k, top int) {
		if k == m {
			for want := range top { // every rank below the top must be in use
				if !uses(rank, want) {
					return
				}
			}
			do(rank)
			return
		}
		for v := range m {
			rank[k] = v
			place(k+1, max(top, v+1))
		}
	}
	place(0, 0)
}

func uses(rank []int, want int) bool {
	for _, v := range rank {
		if v == want {
			return true
		}
	}
	return false
}

// judgedBy returns the scores of node i from ranks: first its neighbours in order, then itself.
func judgedBy(g graph.Graph, i int, rank []int, silent int) (s scores, quiet []synod.NodeID) {
	s.self = synod.Score(rank[len(rank)-1])
	for k, j := range g.In(i) {
		if silent>>j&1 == 1 {
			quiet = append(quiet, synod.NodeID(j))
			continue
		}
		s.scored = append(s.scored, judged{&answer.Heard{From: synod.NodeID(j)}, synod.Score(rank[k])})
	}
	return s, quiet
}

// holds42 checks Property 4.2 at i: no retained agent has a lower score than the reliable agent
// with the lowest score (i is one of them if it is reliable), and some agent is retained (I-SAC-1,
// I-SAC-2).
func holds42(v verdict, i, b int) bool {
	low, any := synod.Score(0), false
	if b>>i&1 == 0 {
		low, any = v.self, true
	}
	for _, j := range v.scored {
		if b>>int(j.From)&1 == 0 && (!any || j.score < low) {
			low, any = j.score, true
		}
	}
	for _, j := range v.retained {
		if any && j.score < low {
			return false
		}
	}
	return len(v.retained) > 0
}

// Property 4.2 at reliable agents, for all graphs with n ≤ 5, all F-local sets and all weak orders
// of scores.
func TestProperty42Exhaustive(t *testing.T) {
	p := New()
	cases := 0
	for n := 2; n <= 5; n++ {
		for _, s := range everyGraph(t, n) {
			orders := byDegree(s)
			everyLocal(s, func(b int) {
				for i := range n {
					if b>>i&1 == 1 {
						continue
					}
					for _, rank := range orders[len(s.G.In(i))] {
						cases++
						sc, quiet := judgedBy(s.G, i, rank, 0)
						if v := (&member{SAC: p, buffers: &buffers{}}).filter(s.F, quiet, sc); !holds42(v, i, b) {
							t.Fatalf("n=%d edges %v F=%d Byzantine %b node %d ranks %v: retained %v", n, s.G.Edges(),
								s.F, b, i, rank, v.retained)
						}
					}
				}
			})
		}
	}
	t.Logf("%d cases", cases)
	if cases < 1_200_000 {
		t.Errorf("only %d cases: some were left out", cases)
	}
}

var orderCache = map[int][][]int{}

// byDegree returns the weak orders of a node and its neighbours, by degree.
func byDegree(s simtest.Setting) map[int][][]int {
	for d := range s.G.N() {
		if orderCache[d] == nil {
			everyOrder(d+1, func(rank []int) { orderCache[d] = append(orderCache[d], append([]int(nil), rank...)) })
		}
	}
	return orderCache
}

// round plays one random round of the whole council and returns the verdict of each node.
func round(c simtest.Chance, p *SAC, s simtest.Setting, silent int) []verdict {
	out := make([]verdict, s.G.N())
	for i := range out {
		rank := make([]int, len(s.G.In(i))+1)
		for k := range rank {
			rank[k] = c.IntN(4)
		}
		sc, quiet := judgedBy(s.G, i, rank, silent)
		out[i] = (&member{SAC: p, buffers: &buffers{}}).filter(s.F, quiet, sc)
	}
	return out
}

// branches reports whether the retained edges among the nodes of mask have a
// rooted out-branching: some node reaches all others.
func branches(kept []verdict, mask int) bool {
	for root := range kept {
		if mask>>root&1 == 0 {
			continue
		}
		reached := 1 << root
		for grew := true; grew; {
			grew = false
			for i := range kept {
				for _, j := range kept[i].retained {
					if mask>>i&1 == 1 && reached>>i&1 == 0 && reached>>int(j.From)&1 == 1 {
						reached |= 1 << i
						grew = true
					}
				}
			}
		}
		if reached&mask == mask {
			return true
		}
	}
	return mask == 0
}

// Properties 4.2 and 4.3 (I-SAC-1, I-SAC-2, I-SAC-3) on random graphs of 6 to 9
// nodes with r ≥ F+1, with some Byzantine agents silent; and 4.3-strong
// (I-SAC-4) where r ≥ 2F+1.
func TestProperties42And43AtRandom(t *testing.T) {
	p := New()
	played := 0
	simtest.EachChance(t, 30_000, func(c simtest.Chance) error {
		strong := c.IntN(2) == 0
		s, b, ok := c.Draw(strong)
		if !ok {
			return nil
		}
		played++
		silent := b & c.IntN(1<<s.G.N())
		kept := round(c, p, s, silent)
		for i, v := range kept {
			if b>>i&1 == 0 && !holds42(v, i, b) {
				return fmt.Errorf("4.2 fails at reliable node %d: edges %v F=%d Byzantine %b silent %b: %v", i,
					s.G.Edges(), s.F, b, silent, v)
			}
		}
		if all := 1<<s.G.N() - 1; silent == 0 && !branches(kept, all) {
			return fmt.Errorf("4.3 fails: edges %v F=%d", s.G.Edges(), s.F)
		}
		if reliable := (1<<s.G.N() - 1) &^ b; strong && !branches(kept, reliable) {
			return fmt.Errorf("4.3-strong fails: edges %v r=%d F=%d Byzantine %b silent %b", s.G.Edges(), s.R, s.F, b,
				silent)
		}
		return nil
	})
	if played < 1000 {
		t.Errorf("only %d executions were played", played)
	}
}

// Property 4.3 with every removal of up to F in-edges that SAC's filter can make,
// for n ≤ 4 (n = 5 is in package graph, against any removal at all).
func TestProperty43Exhaustive(t *testing.T) {
	p := New()
	cases := 0
	for n := 2; n <= 4; n++ {
		for _, s := range everyGraph(t, n) {
			orders := byDegree(s)
			var seat func(i int, kept []verdict)
			seat = func(i int, kept []verdict) {
				if i == n {
					cases++
					if !branches(kept, 1<<n-1) {
						t.Fatalf("edges %v F=%d: %v", s.G.Edges(), s.F, kept)
					}
					return
				}
				seen := map[string]bool{} // cases are counted by removals, not by orders
				for _, rank := range orders[len(s.G.In(i))] {
					sc, _ := judgedBy(s.G, i, rank, 0)
					v := (&member{SAC: p, buffers: &buffers{}}).filter(s.F, nil, sc)
					if key := fmt.Sprint(v.dropped); !seen[key] {
						seen[key] = true
						seat(i+1, append(kept, v))
					}
				}
			}
			seat(0, nil)
		}
	}
	t.Logf("%d cases", cases)
	if cases < 1000 {
		t.Errorf("only %d cases", cases)
	}
}

// Finding F1: the paper claims 4.2 at "each agent", including faulty ones, where it is false. With
// strict trim it is true at every honest agent with at most F Byzantine neighbours (I-SAC-1s).
func TestFindingF1(t *testing.T) {
	broken, strict := 0, 0
	simtest.EachChance(t, 20_000, func(c simtest.Chance) error {
		s, b, ok := c.Draw(false)
		if !ok {
			return nil
		}
		trim := New()
		trim.StrictTrim = true
		same := c.Seed // both filters must see the same scores
		plain := round(simtest.NewChance(same, 7), New(), s, 0)
		strictly := round(simtest.NewChance(same, 7), trim, s, 0)
		for i := range plain {
			if b>>i&1 == 0 || s.Bad(i, b) > s.F {
				continue // reliable, or not covered
			}
			if !holds42(plain[i], i, b) {
				broken++
			}
			strict++
			if !holds42(strictly[i], i, b) {
				return fmt.Errorf("strict trim fails at faulty node %d: edges %v F=%d Byzantine %b", i, s.G.Edges(),
					s.F, b)
			}
		}
		return nil
	})
	if broken == 0 || strict < 1000 {
		t.Errorf("the finding must show: %d violations, %d strict cases", broken, strict)
	}
}

// Finding F2: with F+1 ≤ r ≤ 2F every branching of 4.3 may pass through Byzantine agents, so the
// paper's conclusion from it does not follow.
func TestFindingF2(t *testing.T) {
	broken := 0
	simtest.EachChance(t, 20_000, func(c simtest.Chance) error {
		if s, b, ok := c.Draw(false); ok && s.R <= 2*s.F && !branches(round(c, New(), s, 0), (1<<s.G.N()-1)&^b) {
			broken++
		}
		return nil
	})
	if broken == 0 {
		t.Error("the finding must show: the reliable-only branching never failed")
	}
}

// Finding F3: by the letter of the paper silent neighbours are only left out, and retained sets can
// become empty. If a silent neighbour uses up one of F, they cannot.
func TestFindingF3(t *testing.T) {
	paper := New()
	paper.Paper()
	empty := 0
	simtest.EachChance(t, 20_000, func(c simtest.Chance) error {
		s, b, ok := c.Draw(false)
		if !ok {
			return nil
		}
		for i, v := range round(simtest.NewChance(c.Seed, 9), paper, s, b) {
			if b>>i&1 == 0 && len(v.retained) == 0 {
				empty++
			}
		}
		for i, v := range round(simtest.NewChance(c.Seed, 9), New(), s, b) {
			if b>>i&1 == 0 && len(v.retained) == 0 {
				return fmt.Errorf("node %d retains nothing: edges %v F=%d silent %b", i, s.G.Edges(), s.F, b)
			}
		}
		return nil
	})
	if empty == 0 {
		t.Error("the finding must show: no retained set became empty by the letter of the paper")
	}
}

// I-SAC-5, I-SAC-7: the filter is a function of the multiset of (id, score),
// drops at most F, and drops nobody whose score is at least as high as the own one. It is compared
// with a reference that counts instead of sorting.
func TestFilterAgainstTwin(t *testing.T) {
	simtest.EachChance(t, 50_000, func(c simtest.Chance) error {
		d, f := c.IntN(7), c.IntN(5)
		s := scores{self: synod.Score(c.IntN(4))}
		for j := range d {
			s.scored = append(s.scored, judged{&answer.Heard{From: synod.NodeID(j)}, synod.Score(c.IntN(4) - 1)})
		}
		v := (&member{SAC: New(), buffers: &buffers{}}).filter(f, nil, s)
		if len(v.dropped) > f || len(v.dropped)+len(v.retained) != d {
			return fmt.Errorf("dropped %v of %d with F=%d", v.dropped, d, f)
		}
		for _, j := range s.scored {
			lower := 0 // neighbours below the anchor that come before j in (score, id)
			for _, k := range s.scored {
				if k.score < s.self && (k.score < j.score || k.score == j.score && k.From < j.From) {
					lower++
				}
			}
			want := (s.self == synod.Untrusted || j.score < s.self) && lower < f
			if got := contains(v.dropped, j.From); got != want {
				return fmt.Errorf("node %d: dropped %v, want %v: self %v, scores %v, F=%d", j.From, got, want, s.self,
					s.scored, f)
			}
		}
		return nil
	})
}

func contains(ids []synod.NodeID, id synod.NodeID) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}
