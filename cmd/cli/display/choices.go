package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/cmd/cli/app"
)

// Choice is a council that a calibration recommends, or one model alone.
type Choice struct {
	// Aim is "cheapest", of those that are as right as the best model; "most right"; or "withstands one", the most
	// right one in which one liar decides nothing.
	Aim   string        `json:"aim"`
	Tiers [][]string    `json:"tiers"` // models, by tier
	P     float64       `json:"p"`     // the probability at which a tier ends; 0: there is one tier
	F     int           `json:"f"`
	Right *metrics.Rate `json:"right"` // by nested splits: of questions that neither chose nor fitted it
	USD   float64       `json:"usd"`   // of a question
	// Likelihood says that probabilities count the log-probabilities of the models' answers.
	Likelihood bool `json:"likelihood,omitempty"`
	// Single is the best single model, by the same splits.
	Single      string        `json:"single"`
	SingleRight *metrics.Rate `json:"single_right"`
	SingleUSD   float64       `json:"single_usd"`
}

// Alone reports whether one model alone is recommended.
func (c *Choice) Alone() bool { return len(c.Tiers) == 1 && len(c.Tiers[0]) == 1 }

// printChoices prints what is recommended.
func (r *Calibration) printChoices(w io.Writer) {
	if len(r.Choices) == 0 {
		return
	}
	first := r.Choices[0]
	fmt.Fprintf(w, "\nrecommended, against %s alone (%s %% right, 95 %% %s, %s a question); figures by nested "+
		"splits:\n",
		app.OneLine(first.Single), inPercent(first.SingleRight.Value), ends(first.SingleRight, inPercent),
		dollars(first.SingleUSD))
	for _, c := range r.Choices {
		what := "use " + app.OneLine(c.Tiers[0][0]) + " alone"
		if !c.Alone() {
			what = TiersText(c.Tiers)
		}
		fmt.Fprintf(w, "  %-15s %s: %s %% right (95 %% %s), %s a question\n", c.Aim, what, inPercent(c.Right.Value),
			ends(c.Right, inPercent), dollars(c.USD))
	}
	if slices.ContainsFunc(r.Choices, func(c Choice) bool { return c.Likelihood && !c.Alone() }) {
		fmt.Fprintln(w, "  probabilities count the log-probabilities of the models' answers (probe: likelihood)")
	}
}

func dollars(usd float64) string {
	if usd == 0 {
		return "free or of unknown price"
	}
	return fmt.Sprintf("%.6f USD", usd)
}

// TiersText names the models of tiers.
func TiersText(tiers [][]string) string {
	var text []string
	for _, tier := range tiers {
		var names []string
		for _, name := range tier {
			names = append(names, app.OneLine(name))
		}
		text = append(text, strings.Join(names, " + "))
	}
	return strings.Join(text, ", then ")
}
