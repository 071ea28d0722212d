// Package scale computes what happens beyond one council: with 1,000 to 10,000 members that do not all know one
// another. It has sparse graphs that are robust by construction and runs of W-MSR on them under package sim, the
// probability that a committee drawn from a large pool is captured, and the sizes at which parts of today's protocol
// stop. docs/research/scale.md shows what it prints.
//
// Its rank is that of package bench: it plays protocols.
package scale

import (
	"fmt"
	"math/big"
	"strings"

	"synod.dev/synod/core/table"
	"synod.dev/synod/graph"
	"synod.dev/synod/graph/topology"
	"synod.dev/synod/internal/canonical"
	"synod.dev/synod/network/committee"
	"synod.dev/synod/network/roster"
	"synod.dev/synod/record/certificate"
)

// What the page shows.
const (
	bound   = 2           // F of the runs
	robust  = 2*bound + 1 // r of their graphs, at which W-MSR reaches consensus
	members = 10_000      // of the pool from which committees are drawn
	most    = 400         // rounds at most
	seed    = 1
)

// Sizes are the numbers of members of the runs that the page shows.
var Sizes = []int{1000, 2000, 5000, 10_000}

// shares are the shares of hostile members of a pool, in percent.
var shares = []int{10, 20, 25, 30}

// Page is the tables and plots of a page, by name.
type Page struct {
	Tables map[string]string // Markdown
	Plots  map[string][]byte // SVG
}

// Committees returns the part about committees, which takes a second.
func Committees() (Page, error) {
	p := Page{Tables: map[string]string{"captured": captured(), "needed": needed()}, Plots: map[string][]byte{}}
	svg, err := capturedPlot()
	p.Plots["captured.svg"] = svg
	return p, err
}

// Limits returns the part about sizes at which parts of today's protocol stop, and about bounds on r.
func Limits() (Page, error) {
	limits, err := limits()
	if err != nil {
		return Page{}, err
	}
	spectral, err := spectral()
	return Page{Tables: map[string]string{"limits": limits, "spectral": spectral}}, err
}

// Runs returns the part with runs of W-MSR: some seconds for each 1,000 members.
func Runs(sizes []int) (Page, error) {
	t := &table.Table{Head: []string{"members", "links", "Byzantine", "rounds, numbers at the edge",
		"rounds, numbers outside", "left the range", "messages a member", "MB in all"}}
	var runs []Spread
	for _, n := range sizes {
		g, err := Grown(n, robust, seed)
		if err != nil {
			return Page{}, err
		}
		var both [2]Spread
		for i := range both {
			set := Setting{F: bound, Trim: bound, Beyond: float64(i), Rounds: most, Seed: seed}
			if both[i], err = Play(g, set); err != nil {
				return Page{}, err
			}
		}
		worse := both[0]
		if both[1].Rounds > worse.Rounds {
			worse = both[1]
		}
		runs = append(runs, worse)
		t.Add(grouped(n), grouped(worse.Edges), grouped(worse.Byzantine), both[0].Rounds, both[1].Rounds,
			both[0].Outside+both[1].Outside, worse.Messages/n, fmt.Sprintf("%.1f", float64(worse.Bytes)/1e6))
	}
	svg, err := runsPlot(runs)
	return Page{Tables: map[string]string{"runs": markdown(t)}, Plots: map[string][]byte{"rounds.svg": svg}}, err
}

func markdown(t *table.Table) string {
	var b strings.Builder
	if err := t.Write(&b, "md"); err != nil {
		panic("scale: a table cannot be written: " + err.Error()) // a builder takes everything
	}
	return b.String()
}

// grouped writes a number with commas.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// probability writes a probability with two digits.
func probability(p *big.Rat) string {
	if p.Sign() == 0 {
		return "0"
	}
	f, _ := new(big.Float).SetRat(p).Float64()
	if f >= 0.001 {
		return fmt.Sprintf("%.1f %%", 100*f)
	}
	return fmt.Sprintf("%.1e", f)
}

func captured() string {
	t := &table.Table{Head: []string{"seats", "F"}}
	for _, share := range shares {
		t.Head = append(t.Head, fmt.Sprintf("%d %% hostile", share))
	}
	for _, size := range []int{7, 13, 25, 49, 100, 199, 301, 400} {
		row := []any{size, (size - 1) / 3}
		for _, share := range shares {
			row = append(row, probability(committee.Captured(members, members*share/100, size, (size-1)/3)))
		}
		t.Add(row...)
	}
	return markdown(t)
}

func needed() string {
	t := &table.Table{Head: []string{"at most"}}
	for _, share := range shares {
		t.Head = append(t.Head, fmt.Sprintf("%d %% hostile", share))
	}
	for _, exponent := range []int64{3, 6, 9} {
		row := []any{fmt.Sprintf("10⁻%c", []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[exponent])}
		limit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil))
		for _, share := range shares {
			size := committee.Needed(members, members*share/100, roster.MaxMembers, limit)
			cell := fmt.Sprintf("%d seats", size)
			if size == 0 {
				cell = fmt.Sprintf("over %d", roster.MaxMembers)
			}
			row = append(row, cell)
		}
		t.Add(row...)
	}
	return markdown(t)
}

// spectral compares graphs that are robust by construction with random regular ones, whose r the second smallest
// eigenvalue of the Laplacian bounds.
func spectral() (string, error) {
	t := &table.Table{Head: []string{"graph", "members", "links", "r, certified", "by"}}
	for _, n := range []int{128, 256, 512} {
		b, err := topology.Build("regular", n, map[string]any{"degree": 12}, seed)
		if err != nil {
			return "", err
		}
		l2, err := graph.AlgebraicConnectivity(b.Graph)
		if err != nil {
			return "", err
		}
		t.Add("each has 12 neighbours", n, grouped(links(b.Graph)), bySpectrum(l2), fmt.Sprintf("λ₂ = %.2f", l2))
	}
	for _, n := range []int{512, 10_000} {
		g, err := Grown(n, robust, seed)
		if err != nil {
			return "", err
		}
		t.Add("grown", grouped(n), grouped(links(g)), robust, "construction")
	}
	return markdown(t), nil
}

// bySpectrum returns the largest r with λ₂ > 2(r-1): the theorem is in package graph/robustness, with its proof.
func bySpectrum(l2 float64) int { return max(1, int((l2-1e-6)/2)+1) }

func links(g graph.Graph) (n int) {
	for i := range g.N() {
		n += g.InDegree(i)
	}
	return n / 2
}

// limits returns what a council of n members needs where all hear one another, and on a grown graph.
func limits() (string, error) {
	t := &table.Table{Head: []string{"members", "links, all with all", "messages a round", "links, grown",
		"messages a round", "certificate, all with all", "certificate, grown"}}
	for _, n := range []int{7, 25, 100, 250, 1000, 10_000} {
		g, err := Grown(n, min(robust, (n+1)/2), seed)
		if err != nil {
			return "", err
		}
		all := n * (n - 1) / 2
		t.Add(grouped(n), grouped(all), grouped(2*all), grouped(links(g)), grouped(2*links(g)),
			kilobytes(fixedSize(n)+pairSize(n)*all), kilobytes(fixedSize(n)+pairSize(n)*links(g)))
	}
	return markdown(t), nil
}

// fixedSize returns the bytes of a certificate of n members without its graph: their keys and seats, and what each has
// signed.
func fixedSize(n int) int {
	one := certificate.Member{ID: "m00000", Kind: "endpoint", Voter: true, First: make([]byte, 32),
		Final: make([]byte, 32), Key: make([]byte, 32), Signature: make([]byte, 64)}
	seat := roster.Seat{ID: one.ID, Kind: one.Kind, Voter: true, Key: one.Key}
	return n * (len(canonical.Encode(one)) + len(canonical.Encode(seat)))
}

// pairSize returns the bytes of an edge between two of n members.
func pairSize(n int) int { return len(canonical.Encode([]uint64{uint64(n - 1), uint64(n - 1)})) }

func kilobytes(b int) string { return grouped((b+999)/1000) + " kB" }
