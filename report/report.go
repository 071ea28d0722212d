// Package report turns numbers into what people and scripts read: text, JSON, CSV,
// Markdown and a page for a browser, with plots. It measures nothing and asks nobody; every format names the kinds
// of the members, so that no simulated council passes for a live one.
//
// A figure that does not exist is null in JSON, empty in CSV and a dash elsewhere.
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"synod.dev/synod/llm"
	"synod.dev/synod/metrics"
)

// Version is the version of the JSON shape of Report.
const Version = 1

// Calls counts model calls of finished questions.
type Calls struct {
	Made    int `json:"made"`
	Reused  int `json:"reused"`
	Planned int `json:"planned"` // without reuse and early stops
}

// Tokens are the tokens of those calls, as far as members say.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
}

// Failure is a question that was begun and could not be finished.
type Failure struct {
	Question string `json:"question"`
	Repeat   int    `json:"repeat"`
	Stopped  string `json:"stopped"`
	Reason   string `json:"reason"`
}

// Compared sets a run against another on the questions that both have finished.
// A positive difference is in favour of the run reported on.
type Compared struct {
	Against   string        `json:"against"` // the other run's council
	Questions int           `json:"questions"`
	Pairs     metrics.Pairs `json:"pairs"`     // decided rightly: [there][here]
	McNemar   float64       `json:"mcnemar_p"` // exact, two-sided
	Decision  *metrics.Rate `json:"decision"`  // difference of the share decided rightly
	FAA       *metrics.Rate `json:"faa"`       // bootstrap over questions
}

// P is McNemar's p in words; no p is 0.
func (c *Compared) P() string {
	if c.McNemar < 0.0001 {
		return "p < 0.0001"
	}
	return fmt.Sprintf("p = %.4f", c.McNemar)
}

// Report is everything that is known of a run.
type Report struct {
	Version     int                 `json:"version"`
	Task        string              `json:"task"`
	Council     string              `json:"council"`
	Protocol    string              `json:"protocol"`
	Exact       string              `json:"exact"`
	Rule        string              `json:"rule"`
	Seed        uint64              `json:"seed"`
	Repeat      int                 `json:"repeat"`
	Questions   int                 `json:"questions"` // repeats counted
	Finished    int                 `json:"finished"`
	Failed      int                 `json:"failed"`
	Unfinished  int                 `json:"unfinished"` // not begun, or cut off by whoever ran it
	MembersKind []string            `json:"members_kind"`
	Seats       []Seat              `json:"seats"`
	Metrics     metrics.Metrics     `json:"metrics"`
	Baselines   metrics.Baselines   `json:"baselines"`
	Ties        metrics.Ties        `json:"ties"`
	Honest      int                 `json:"honest"` // members that are honest and answer
	Unscored    int                 `json:"unscored"`
	Extraction  *metrics.Extraction `json:"extraction"` // null: no member wrote words
	Groups      metrics.Groups      `json:"groups"`
	Rounds      []metrics.Round     `json:"rounds"`
	Levels      []metrics.Part      `json:"levels"`                // by the questions' level; null without two
	Topics      []metrics.Part      `json:"topics"`                // by their topic
	Calibration *Calibration        `json:"calibration"`           // null: no member said how sure it is
	Drops       []Drop              `json:"drops"`                 // pairs of seats in order; without those that never met
	Latency     *metrics.Rate       `json:"latency"`               // virtual seconds until all honest voters have decided; no share
	Ranked      []*metrics.Rate     `json:"ranked,omitempty"`      // of a protocol that ranks answers: the best is right, the second, …
	Endings     []metrics.Ending    `json:"endings,omitempty"`     // of a protocol whose runs end in named ways
	Stops       []int               `json:"stop_rounds,omitempty"` // after which round they ended, ascending, of those that did
	Calls       Calls               `json:"calls"`
	Tokens      Tokens              `json:"tokens"`
	Cost        *llm.Cost           `json:"cost"` // null: not all prices are known
	Money       llm.Money           `json:"money"`
	Seconds     float64             `json:"seconds"` // sum of the questions' own wall times
	Failures    []Failure           `json:"failures"`
	Compared    *Compared           `json:"compared"`
	Digest      string              `json:"digest"` // of all finished runs, in order

	Trajectories []Trajectory `json:"trajectories,omitempty"` // of the first finished runs of a protocol whose runs end in named ways
}

// Formats are the names that Write takes.
func Formats() []string { return []string{"text", "json", "csv", "md", "html"} }

// Write prints the report in the named format. A page with questions to read is
// HTML's to write.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return r.text(w)
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	case "csv":
		return r.csv(w)
	case "md":
		return r.markdown(w)
	case "html":
		return r.HTML(w, Detail{})
	}
	return fmt.Errorf("report: no format is called %q; there are: %v", format, Formats())
}
