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

// The tables of claims, and the page that has the sentence below each of them.
const (
	claimsFile = "../../docs/research/claims.txt"
	papersPage = "../../docs/research/papers.md"
)

// docs/research/claims.txt has, for each paper, the table of claims that complete runs with simulated members print.
// -rewrite renews it, and the sentences of docs/research/papers.md.
func TestClaimsInDocs(t *testing.T) {
	if !*rewrite {
		nightly.Only(t)
	}
	for paper, names := range papersOf {
		table := claimsOf(t, names)
		renewClaims(t, claimsFile, paper, table)
		renewClaims(t, papersPage, paper, countsOf(table))
	}
}

// docs/research/papers.md counts the claims of docs/research/claims.txt as the sentence below each table does.
func TestClaimsCountedInDocs(t *testing.T) {
	for paper := range papersOf {
		_, counts, _ := cutClaims(t, papersPage, paper)
		if _, table, _ := cutClaims(t, claimsFile, paper); countsOf(table) != counts {
			t.Errorf("%s counts the claims of %s otherwise than %s:\n%s", papersPage, paper, claimsFile, counts)
		}
	}
}

// countsOf returns the sentence below a table of claims.
func countsOf(table string) string {
	_, counts, _ := strings.Cut(table, "\n\n")
	return counts
}

// renewClaims puts text in the place of the claims of a paper in a file, or reports that the file has another text.
func renewClaims(t *testing.T, path, paper, text string) {
	t.Helper()
	before, written, after := cutClaims(t, path, paper)
	if !*rewrite && written != text {
		t.Errorf("%s has other verdicts on %s than the runs; -rewrite renews it", path, paper)
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(before+text+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cutClaims returns a file up to the claims of a paper, these claims, and what follows.
func cutClaims(t *testing.T, path, paper string) (before, claims, after string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- claims of "+paper+" -->\n", "<!-- end of claims -->"
	before, rest, found := strings.Cut(string(b), begin)
	claims, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the claims of %s", path, paper)
	}
	return before + begin, claims, end + after
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
