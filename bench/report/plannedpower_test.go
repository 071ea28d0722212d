package report_test

import (
	"strings"
	"testing"

	"synod.dev/synod/bench/report"
)

// The planned power is that of independent shares: 90 against 60 % with 50 questions each differ by 30 points with a
// standard error of 8.1, and the lower end of the interval is above 5 points with a chance of Φ((30−5)/8.1 − 1.96) =
// 87 %; likewise Φ(−5/9.8 − 1.96) = 1 %, and for the gain of 40 Φ((40−5)/8.2 − 1.96) = 99 %.
func TestPlannedPower(t *testing.T) {
	figures := func(faa float64) map[string]report.Figure {
		return map[string]report.Figure{"faa": {Value: faa}, "iaa": {Value: 0.5}, "bfti": {Value: faa - 0.5},
			"rounds": {Value: 4, Count: true}}
	}
	cells := map[string]report.PlannedCell{"high": {Paper: figures(0.9), Questions: 50},
		"low": {Paper: figures(0.6), Questions: 50}, "unprinted": {Questions: 50}}
	claim := func(figure string, of, than []string) report.PaperClaim {
		return report.PaperClaim{Text: "claim", Figure: figure, Against: figure, Is: report.More, Times: 1, Margin: 5,
			Comparisons: []report.Sides{{Of: of, Than: than}}}
	}
	both := claim("faa", []string{"high"}, []string{"low"})
	both.Comparisons = append(both.Comparisons, report.Sides{Of: []string{"low"}, Than: []string{"low"}})
	for want, c := range map[string]report.PaperClaim{
		"+30.0 | 87 %":            claim("faa", []string{"high"}, []string{"low"}),
		"+0.0 | 1 %":              both, // the comparison with the least power
		"+40.0 | 99 %":            claim("bfti", []string{"high"}, nil),
		"– | –":                   claim("faa", []string{"high"}, []string{"unprinted"}),
		"– | – (count)":           claim("rounds", []string{"high"}, []string{"low"}),
		"– | – (no such cell)":    claim("faa", []string{"nobody"}, nil),
		"– | – (not in the plan)": {Text: "claim", Figure: "faa", Is: report.More, Times: 1},
	} {
		want, _, _ = strings.Cut(want, " (")
		got := report.PlannedPower([]report.PaperClaim{c}, cells).Rows[0]
		if is := got[2] + " | " + got[3]; is != want {
			t.Errorf("%s: %s, want %s", c.Figure, is, want)
		}
	}
}
