package manifest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"synod.dev/synod/bench"
	"synod.dev/synod/bench/report"
	"synod.dev/synod/internal/nightly"
)

var grids = flag.String("grids", "", "folder that keeps the grids of TestClaimsInDocs, which then goes on where it was")

// papersOf are the presets with claims by paper, without those that measure by the clock.
var papersOf = map[string][]string{
	"SAC":        {"sac-table1", "sac-table2", "sac-table3", "sac-table4", "sac-table5", "sac-table6"},
	"CP-WBFT":    {"cpwbft-table1", "cpwbft-pilot", "cpwbft-table2", "cpwbft-table3"},
	"the game":   {"game-fig2", "game-fig3"},
	"DecentLLMs": {"decentllms-table1", "decentllms-fig6", "decentllms-fig7", "decentllms-fig8"},
}

// docs/research/papers.md has, for each paper, the table of claims that complete runs with simulated members print.
// -rewrite renews it.
func TestClaimsInDocs(t *testing.T) {
	if !*rewrite {
		nightly.Only(t)
	}
	const path = "../../docs/research/papers.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for paper, names := range papersOf {
		before, rest, found := strings.Cut(text, "<!-- claims of "+paper+" -->\n")
		_, after, closed := strings.Cut(rest, "<!-- end of claims -->")
		if !found || !closed {
			t.Fatalf("%s has no place for the claims of %s", path, paper)
		}
		text = before + "<!-- claims of " + paper + " -->\n" + claimsOf(t, names) + "<!-- end of claims -->" + after
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != string(b) {
		t.Errorf("%s has other verdicts than the runs; -rewrite renews it", path)
	}
}

// claimsOf runs presets and returns their table of claims.
func claimsOf(t *testing.T, names []string) string {
	t.Helper()
	var all report.Claims
	for _, name := range names {
		p, err := Presets().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.Manifest.Draft(Options{Full: true, Data: sharedData(t)})
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), name)
		if *grids != "" {
			dir = filepath.Join(*grids, name)
		}
		if _, err := g.Update(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Work(t.Context(), bench.Options{Parallel: 2}); err != nil {
			t.Fatal(err)
		}
		r, err := g.Report()
		if err != nil {
			t.Fatal(err)
		}
		all.Add(r)
	}
	var out strings.Builder
	if err := all.Write(&out, "md"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
