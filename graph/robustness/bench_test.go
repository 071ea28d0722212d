package robustness_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

var graphs = flag.Int("graphs", 20, "graphs in each cell of a benchmark")

// These benchmarks produce the figures of docs/operate/performance.md. Times are processor times, because machines are
// shared.
// One iteration is a whole table:
//
//	go test ./graph/robustness -run '^$' -bench Grid -benchtime 1x

// gridSizes and gridCells are the published benchmark of Usevitch & Panagou 2020: ER and random
// digraphs, and digraphs of in-degree or out-degree k; 100 graphs a cell, 16,800 in all.
var gridSizes = []int{7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 23, 25}

var gridCells = func() (cells []func(*rand.Rand, int) graph.Graph) {
	for _, p := range []float64{.3, .5, .8} {
		cells = append(cells,
			func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, false, p) },
			func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, true, p) })
	}
	for _, k := range []int{3, 4, 5} {
		cells = append(cells,
			func(rng *rand.Rand, n int) graph.Graph { return inDegree(rng, n, k) },
			func(rng *rand.Rand, n int) graph.Graph { return turned(inDegree(rng, n, k)) })
	}
	return cells
}()

// turned returns a digraph with every edge reversed.
func turned(g graph.Graph) graph.Graph {
	edges := g.Edges()
	for k, e := range edges {
		edges[k] = [2]int{e[1], e[0]}
	}
	return graph.MustNew(g.N(), true, edges)
}

func BenchmarkGrid(b *testing.B) {
	for b.Loop() {
		rng, solved, took := graphtest.Seeded(b, 2020), 0, []time.Duration(nil)
		for _, n := range gridSizes {
			for _, draw := range gridCells {
				for range 100 {
					g := draw(rng, n)
					began := cpu()
					res := robustness.Find(g, nil)
					took = append(took, cpu()-began)
					if err := graph.VerifyWitness(g, res.R+1, res.Witness); err != nil || !res.Exact {
						b.Fatal(res, err)
					}
					if solved++; n <= 11 && solved%50 == 0 {
						if r := robustness.Table(g).R; r != res.R {
							b.Fatal("table", r, "search", res.R)
						}
					}
				}
			}
		}
		report(b, took)
	}
}

// report reports the number of graphs, and the total, median and worst time.
func report(b *testing.B, took []time.Duration) {
	total := time.Duration(0)
	for _, d := range took {
		total += d
	}
	slices.Sort(took)
	b.ReportMetric(float64(len(took)), "graphs")
	b.ReportMetric(total.Seconds(), "s-total")
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "ms-median")
	b.ReportMetric(took[len(took)-1].Seconds()*1e3, "ms-worst")
}

func median(of []float64) float64 { return slices.Sorted(slices.Values(of))[len(of)/2] }

// hard are the kinds of graphs of robustness.md 4.1.
var hard = []struct {
	name string
	draw func(rng *rand.Rand, n int) graph.Graph
}{
	{"complete", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Named("complete", n) }},
	{"merg", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Named("merg", n) }},
	{"ring4", func(rng *rand.Rand, n int) graph.Graph { return family(rng, "circulant", n, "k", 4) }},
	{"ring8", func(rng *rand.Rand, n int) graph.Graph { return family(rng, "circulant", n, "k", 8) }},
	{"preferential4", func(rng *rand.Rand, n int) graph.Graph { return family(rng, "preferential", n, "r", 4) }},
	{"preferential8", func(rng *rand.Rand, n int) graph.Graph { return family(rng, "preferential", n, "r", 8) }},
	{"er.sac4", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, false, sacDensity(n, 4)) }},
	{"er.3", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, false, .3) }},
	{"er.5", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, false, .5) }},
	{"er.8", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, false, .8) }},
	{"digraph.5", func(rng *rand.Rand, n int) graph.Graph { return graphtest.Random(rng, n, true, .5) }},
	{"in5", func(rng *rand.Rand, n int) graph.Graph { return inDegree(rng, n, 5) }},
	{"regular4", func(rng *rand.Rand, n int) graph.Graph { return family(rng, "regular", n, "degree", 4) }},
	{"regular6", func(rng *rand.Rand, n int) graph.Graph { return family(rng, "regular", n, "degree", 6) }},
	{"regular8", func(rng *rand.Rand, n int) graph.Graph { return family(rng, "regular", n, "degree", 8) }},
	{"geometric.45", func(rng *rand.Rand, n int) graph.Graph { return geometric(rng, n, .45) }},
}

// BenchmarkFamilies finds the exact robustness of 20 graphs of each family, 60 s each at most:
//
//	go test ./graph/robustness -run '^$' -bench 'Families/48/er.5' -benchtime 1x
func BenchmarkFamilies(b *testing.B) {
	for _, n := range []int{16, 24, 32, 48, 64, 100} {
		for _, f := range hard {
			b.Run(fmt.Sprintf("%d/%s", n, f.name), func(b *testing.B) {
				for b.Loop() {
					rng, took, unsolved := graphtest.Seeded(b, uint64(n)), []time.Duration(nil), 0
					for range *graphs {
						g := f.draw(rng, n)
						began := cpu()
						res := robustness.Find(g, func() bool { return cpu()-began > time.Minute })
						took = append(took, cpu()-began)
						if !res.Exact {
							unsolved++
						}
						if err := graph.VerifyWitness(g, res.Upper+1, res.Witness); err != nil {
							b.Fatal(err)
						}
					}
					report(b, took)
					b.ReportMetric(float64(unsolved), "unsolved")
				}
			})
		}
	}
}

// BenchmarkDecision decides whether 20 Erdős–Rényi graphs of minimum degree r are r-robust, for r = F+1.
func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{32, 64, 100, 128} {
		for _, f := range []int{1, 2, 3} {
			for _, p := range []float64{sacDensity(n, f+1), .15, .25, .5} {
				b.Run(fmt.Sprintf("%d/F%d/p%.3f", n, f, p), func(b *testing.B) {
					for b.Loop() {
						rng, took := graphtest.Seeded(b, uint64(n)), []time.Duration(nil)
						for len(took) < *graphs {
							g := graphtest.Random(rng, n, false, p)
							if g.MinDegree() <= f {
								continue
							}
							began := cpu()
							if _, known := robustness.IsRobust(g, f+1, nil); !known {
								b.Fatal("undecided")
							}
							took = append(took, cpu()-began)
						}
						report(b, took)
					}
				})
			}
		}
	}
}

// sacDensity is the edge probability of SAC's Appendix A, as in the topology er.
func sacDensity(n, r int) float64 {
	ln := math.Log(float64(n))
	return min(1, (ln+float64(r-1)*math.Log(ln))/float64(n))
}
