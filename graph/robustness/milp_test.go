package robustness_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"synod.dev/synod/graph"
	"synod.dev/synod/graph/internal/graphtest"
	"synod.dev/synod/graph/robustness"
)

// milp is the mixed-integer program of Usevitch & Panagou 2020 for the largest r, in LP format:
//
//	min t   with  L b1 ≤ t,  L b2 ≤ t,  b1 + b2 ≤ 1,  1 ≤ 1'b1, 1'b2 ≤ n-1,  b1, b2 binary
//
// where L is the Laplacian of in-degrees, so that row i of L b is the number of in-neighbours of
// member i outside its set.
func milp(g graph.Graph) string {
	var b strings.Builder
	b.WriteString("Minimize\n obj: t\nSubject To\n")
	for k := 1; k <= 2; k++ {
		for i := range g.N() {
			fmt.Fprintf(&b, " r%d_%d: %d b%d_%d", k, i, g.InDegree(i), k, i)
			for _, j := range g.In(i) {
				fmt.Fprintf(&b, " - b%d_%d", k, j)
			}
			b.WriteString(" - t <= 0\n")
		}
		for _, side := range []string{fmt.Sprintf("l%d", k), fmt.Sprintf("u%d", k)} {
			fmt.Fprintf(&b, " %s:", side)
			for i := range g.N() {
				fmt.Fprintf(&b, " + b%d_%d", k, i)
			}
			if side[0] == 'l' {
				b.WriteString(" >= 1\n")
			} else {
				fmt.Fprintf(&b, " <= %d\n", g.N()-1)
			}
		}
	}
	for i := range g.N() {
		fmt.Fprintf(&b, " d%d: b1_%d + b2_%d <= 1\n", i, i, i)
	}
	b.WriteString("Bounds\n t >= 0\nBinary\n")
	for i := range g.N() {
		fmt.Fprintf(&b, " b1_%d b2_%d\n", i, i)
	}
	b.WriteString("End\n")
	return b.String()
}

const milpSeconds = 100

// cbc solves the program and returns the optimum; solved is false if it did not finish in time.
func cbc(t testing.TB, g graph.Graph) (r int, solved bool, took time.Duration) {
	t.Helper()
	file, out := filepath.Join(t.TempDir(), "g.lp"), filepath.Join(t.TempDir(), "g.sol")
	if err := os.WriteFile(file, []byte(milp(g)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*milpSeconds*time.Second)
	defer cancel()
	began := time.Now()
	if text, err := exec.CommandContext(ctx, "cbc", file, "sec", strconv.Itoa(milpSeconds), "solve", "solu",
		out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	took = time.Since(began)
	solution, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(solution), "\n")
	status, value, found := strings.Cut(first, " - objective value ")
	objective, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return int(objective + .5), found && err == nil && strings.HasPrefix(status, "Optimal"), took
}

func needCBC(t testing.TB) {
	if _, err := exec.LookPath("cbc"); err != nil {
		t.Skip("no cbc: apt-get install coinor-cbc")
	}
}

// The search agrees with the program of the paper, which shares no code with it.
func TestAgainstMILP(t *testing.T) {
	needCBC(t)
	rng := graphtest.Seeded(t, 9)
	for k := range 6 {
		g := graphtest.Random(rng, 8+rng.IntN(5), k%2 == 0, .3+.5*rng.Float64())
		if r, solved, _ := cbc(t, g); solved && r != robustness.Find(g, nil).R {
			t.Errorf("MILP %d, search %d: %s", r, robustness.Find(g, nil).R, graphtest.Describe(g))
		} else if !solved {
			t.Errorf("not solved: %s", graphtest.Describe(g))
		}
	}
}

// BenchmarkAgainstMILP runs the paper's program in CBC and the search on the same graphs, and
// reports the ratio of their median times:
//
//	go test ./graph/robustness -run '^$' -bench AgainstMILP -benchtime 1x
func BenchmarkAgainstMILP(b *testing.B) {
	needCBC(b)
	for _, p := range []float64{.5, .8} {
		b.Run(fmt.Sprintf("er%v/32", p), func(b *testing.B) {
			for b.Loop() {
				rng := graphtest.Seeded(b, 2020)
				var theirs, ours []float64
				for range 5 {
					g := graphtest.Random(rng, 32, false, p)
					r, solved, took := cbc(b, g)
					theirs = append(theirs, took.Seconds())
					began := time.Now()
					res := robustness.Find(g, nil)
					ours = append(ours, time.Since(began).Seconds())
					if solved && r != res.R {
						b.Fatalf("MILP %d, search %d", r, res.R)
					}
				}
				b.ReportMetric(median(theirs), "s-cbc")
				b.ReportMetric(median(ours)*1e3, "ms-ours")
				b.ReportMetric(median(theirs)/median(ours), "ratio")
			}
		})
	}
}
