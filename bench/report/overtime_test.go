package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A graph that changes is drawn in every format, and its table names the absent edges of a round.
func TestChangingGraph(t *testing.T) {
	r := &Report{MembersKind: []string{"simulated"},
		Seats: []Member{{ID: "a"}, {ID: "b", Adversary: "replay"}, {ID: "c"}},
		ChangingGraph: &ChangingGraph{Repeats: true, Rounds: []GraphOfRound{{2, 1, true}, {1, 0, false}},
			Windows: []GraphWindow{{1, 0, true}, {2, 1, true}},
			Edges:   []EdgeRounds{{"a", "b", []int{1, 2}}, {"b", "c", []int{1}}}}}
	f := graphPlot(r)
	if f == nil {
		t.Fatal("there is no drawing")
	}
	dir := t.TempDir()
	if err := Save(dir, []Plot{*f}); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"svg", "pdf", "png", "csv"} {
		if b, err := os.ReadFile(filepath.Join(dir, "graph."+end)); err != nil || len(b) == 0 {
			t.Errorf("graph.%s: %v, %d bytes", end, err, len(b))
		}
	}
	rows := r.ChangingGraph.roundTable().Rows
	if got := strings.Join(rows[1], "|"); got != "2|1|at least 0|b–c" {
		t.Errorf("round 2: %s", got)
	}
	if got := r.GraphLine(); got != "The graph changes, and begins again every 2 rounds. "+
		"Least r of unions of rounds in a row: "+
		"of 2: 1." {
		t.Error(got)
	}
	still := &Report{}
	if graphPlot(still) != nil || still.GraphLine() != "" || still.ChangingGraph.roundTable() != nil {
		t.Error("a graph that does not change has a table by round")
	}
}
