package report_test

import (
	"bytes"
	"strings"
	"testing"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/report"
)

// The shares of a cell are of the questions that are compared, so that they differ by the difference beside them.
func TestSharesOfComparedQuestions(t *testing.T) {
	rate := &metrics.Rate{Value: 0.2, N: 10, Low: -0.1, High: 0.4}
	c := report.GridComparison{Cells: []report.CellDifference{{Cell: "a", Kinds: []string{"simulated"},
		Compared: &report.Compared{Questions: 10, Pairs: metrics.Pairs{{1, 3}, {1, 5}}, Decision: rate, FAA: rate}}}}
	var b bytes.Buffer
	if err := c.Write(&b, "csv"); err != nil {
		t.Fatal(err)
	}
	if row := strings.Split(b.String(), "\n")[1]; !strings.HasPrefix(row, "a,0,simulated,10,60.0,80.0,\"20.0 ") {
		t.Error(row)
	}
}
