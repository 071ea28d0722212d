package display

import (
	"fmt"
	"io"

	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/cmd/cli/app"
	"synod.dev/synod/core/table"
)

// OwnWorth is what councils of the user's models are worth on the user's questions.
type OwnWorth struct {
	Version   int               `json:"version"`
	Task      string            `json:"task"`
	Questions int               `json:"questions"` // to which all models replied
	Runs      string            `json:"runs"`      // the folder of the recorded replies
	Models    []CalibratedModel `json:"models"`
	Priced    bool              `json:"priced"` // all prices are known
	Best      string            `json:"best"`   // the model that is right most often
	Councils  []OwnCouncil      `json:"councils"`
	NotAgain  string            `json:"not_again,omitempty"` // why the best model was not asked several times
	Spent     float64           `json:"-"`                   // USD for the calls of Models
}

// OwnCouncil is a council of these models, or the best of them.
type OwnCouncil struct {
	Name  string        `json:"name"`
	What  string        `json:"what"`
	N     int           `json:"n"` // questions
	Right *metrics.Rate `json:"right"`
	Wrong *metrics.Rate `json:"wrong"`
	USD   float64       `json:"usd"` // of a question in the mean
}

// WriteJSON writes it as JSON.
func (w *OwnWorth) WriteJSON(to io.Writer) error { return app.WriteJSON(to, w) }

// Affordable returns how often the best model can be asked for the price of the dearest recommended council, but not
// more than so many times. Where that is once, it says why.
func (w *OwnWorth) Affordable(most int) (times int, why string) {
	var alone, dear float64
	for _, c := range w.Councils {
		switch c.Name {
		case "best alone":
			alone = c.USD
		case "cheapest", "most right", "withstands one":
			dear = max(dear, c.USD)
		}
	}
	switch {
	case !w.Priced:
		return 1, "the price of a model is not known"
	case alone == 0:
		return 1, "the best model costs nothing"
	case dear < 2*alone:
		return 1, "no recommended council costs as much as two calls of it"
	}
	return min(most, int(dear/alone+0.05)), ""
}

// Print prints the tables as text.
func (w *OwnWorth) Print(to io.Writer) error {
	fmt.Fprintf(to, "%s to which all models replied, and one at least with an answer, of %s\nThe replies are in %s\n\n",
		app.Count(w.Questions, "question"), app.OneLine(w.Task), app.OneLine(w.Runs))
	t := table.Table{Head: []string{"model alone", "right, %", "95 %", "N", "USD for 1,000", "median s"},
		Align: "lrrrrr"}
	for _, m := range w.Models {
		share, interval, n, median := "–", "–", 0, "–"
		if m.Accuracy != nil {
			share, interval, n = inPercent(m.Accuracy.Value), ends(m.Accuracy, inPercent), m.Accuracy.N
		}
		if m.Latency != nil {
			median = fmt.Sprintf("%.2f", m.Latency.Median)
		}
		t.Add(app.OneLine(m.Model), share, interval, n, thousand(m.USD), median)
	}
	if err := t.Write(to, "text"); err != nil {
		return err
	}
	fmt.Fprintln(to, "\nRecommended councils are measured by nested splits, on questions that did not choose them.")
	t = table.Table{Head: []string{"council", "right, %", "95 %", "wrong, %", "N", "USD for 1,000", "of"},
		Align: "lrrrrrl"}
	for _, c := range w.Councils {
		usd := "unknown"
		if w.Priced {
			usd = thousand(&c.USD)
		}
		t.Add(c.Name, inPercent(c.Right.Value), ends(c.Right, inPercent), inPercent(c.Wrong.Value), c.N, usd,
			app.OneLine(c.What))
	}
	if err := t.Write(to, "text"); err != nil {
		return err
	}
	if w.NotAgain != "" {
		fmt.Fprintf(to, "%s was not asked several times: %s\n", app.OneLine(w.Best), w.NotAgain)
	}
	return nil
}

func thousand(usd *float64) string {
	if usd == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.3f", 1000**usd)
}
