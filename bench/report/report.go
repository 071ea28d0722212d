// Package report turns the figures of runs into text, JSON, CSV, Markdown, HTML
// pages and plots. It measures nothing and calls no model: package bench fills in
// Report and Grid. Every format names the kinds of the members, so that results of
// simulated members cannot be mistaken for those of live models.
//
// A figure that does not exist is null in JSON, empty in CSV and a dash elsewhere.
//
//	r, err := run.Report() // *report.Report
//	if err != nil {
//		return err
//	}
//	err = r.Write(os.Stdout, "md")
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"synod.dev/synod"
	"synod.dev/synod/bench/metrics"
	"synod.dev/synod/bench/task"
	"synod.dev/synod/llm"
	"synod.dev/synod/llm/structured"
)

// Version is the version of the JSON format of Report.
const Version = 1

// Calls counts model calls of finished questions.
type Calls struct {
	Made    int `json:"made"`
	Reused  int `json:"reused"`
	Planned int `json:"planned"` // without reuse and early stops
}

// Tokens counts the tokens of those calls, as far as members report them.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
}

// Add adds the counts of d.
func (c *Calls) Add(d Calls) {
	c.Made, c.Reused = synod.Sum(c.Made, d.Made), synod.Sum(c.Reused, d.Reused)
	c.Planned = synod.Sum(c.Planned, d.Planned)
}

// Add adds the counts of u.
func (t *Tokens) Add(u Tokens) {
	t.Prompt, t.Completion = synod.Sum(t.Prompt, u.Prompt), synod.Sum(t.Completion, u.Completion)
}

// Failure is a question that was begun and could not be finished.
type Failure struct {
	Question string `json:"question"`
	Repeat   int    `json:"repeat"`
	Stopped  string `json:"stopped"`
	Reason   string `json:"reason"`
}

// Member is a member of the council as the experimenter knows it.
type Member struct {
	ID        string `json:"id"`
	Model     string `json:"model"`
	Kind      string `json:"kind"`      // endpoint, embedded, recorded or simulated
	Group     string `json:"group"`     // weak, strong or ""
	Adversary string `json:"adversary"` // name of the adversary; "": honest
	// Fooling says what fools a simulated member, which is an assumption; "" if nothing does.
	Fooling string `json:"fooling,omitempty"`
	// Judging says how a simulated member judges answers, on which a ranking of protocols hangs; "" for others.
	Judging string `json:"judging,omitempty"`

	// Misreports counts the member's replies with a usage that cannot be true, and
	// Misreport says what was wrong with the first.
	Misreports int    `json:"misreports,omitempty"`
	Misreport  string `json:"misreport,omitempty"`
}

// Drop counts, over all rounds of all finished questions, how often a member
// dropped the answer of a peer.
type Drop struct {
	By      string        `json:"by"`
	Of      string        `json:"of"`
	Dropped int           `json:"dropped"`
	Share   *metrics.Rate `json:"share"` // of the answers that were dropped or retained
}

// Calibration measures how well confidences predicted grades, over all honest members
// and per model.
type Calibration struct {
	metrics.Calibration
	Models []ModelCalibration `json:"models"`
}

// ModelCalibration is the calibration of the members of one model.
type ModelCalibration struct {
	Model string `json:"model"`
	metrics.Calibration
}

// Compared compares a run with another one on the questions that both have
// finished. A positive difference means that the reported run is better. Intervals and p-values are by question: the
// repeats of a question, and its cells where several are pooled, are one cluster.
type Compared struct {
	Against   string        `json:"against"`               // the other run's council
	Questions int           `json:"questions"`             // repeats included
	Clusters  int           `json:"clusters"`              // questions without repeats
	Pairs     metrics.Pairs `json:"pairs"`                 // right decisions: [other run][this run]
	McNemar   float64       `json:"mcnemar_p"`             // exact, two-sided, of all pairs
	P         float64       `json:"p"`                     // of the permutation test by question, exact
	Corrected *float64      `json:"corrected_p,omitempty"` // P by Holm's method over all comparisons of the report
	Decision  *metrics.Rate `json:"decision"`              // difference of the shares of questions decided rightly
	Agreed    *metrics.Rate `json:"agreed"`                // difference of the shares of questions decided
	FAA       *metrics.Rate `json:"faa"`                   // difference of FAA; BCa bootstrap over questions
	FAAP      float64       `json:"faa_p"`                 // of the permutation test by question of FAA
	// FAACorrected is FAAP by Holm's method over all comparisons of the report.
	FAACorrected *float64 `json:"faa_corrected_p,omitempty"`
	// Capture is the difference of the shares of questions captured by adversaries.
	Capture *metrics.Rate `json:"capture"`
}

// test describes P of a decision for people.
func (c *Compared) test() string {
	name := "McNemar exact"
	if c.Questions > c.Clusters {
		name = fmt.Sprintf("permutation test over %d questions", c.Clusters)
	}
	if c.P < 0.0001 {
		return name + " p < 0.0001"
	}
	return fmt.Sprintf("%s p = %.4f", name, c.P)
}

// Report holds all results of a run.
type Report struct {
	Version     int      `json:"version"`
	Task        string   `json:"task"`
	Council     string   `json:"council"`
	Protocol    string   `json:"protocol"`
	Exact       string   `json:"exact"`
	Rule        string   `json:"rule"`
	Seed        uint64   `json:"seed"`
	Repeat      int      `json:"repeat"`
	Questions   int      `json:"questions"` // including repeats
	Finished    int      `json:"finished"`
	Failed      int      `json:"failed"`
	Unfinished  int      `json:"unfinished"` // not begun, or interrupted by the user
	Setting     *Setting `json:"setting,omitempty"`
	MembersKind []string `json:"members_kind"`

	ChangingGraph *ChangingGraph `json:"changing_graph,omitempty"` // nil: the graph is the same in every round
	Harm          string         `json:"harm,omitempty"`           // what the seats of adversaries do to the graph

	Seats       []Member            `json:"seats"`
	Models      []Model             `json:"models"`
	Metrics     metrics.Metrics     `json:"metrics"`
	Baselines   metrics.Baselines   `json:"baselines"`
	Ties        metrics.Ties        `json:"ties"`
	Honest      int                 `json:"honest"` // honest members that answer
	Unscored    int                 `json:"unscored"`
	Extraction  *metrics.Extraction `json:"extraction"` // null: no member wrote text
	Groups      metrics.Groups      `json:"groups"`
	Rounds      []metrics.Round     `json:"rounds"`
	Levels      []metrics.Part      `json:"levels"`      // by the questions' level; null with fewer than two
	Topics      []metrics.Part      `json:"topics"`      // by the questions' topic
	Withstands  []metrics.Withstood `json:"withstands"`  // by k, from 0; null: it is known of no decision
	Guarantees  []Guaranteed        `json:"guarantees"`  // finished questions by guarantee, in the order of its name
	Claims      *JudgedClaims       `json:"claims"`      // of decisions; null: no member judged claims
	Calibration *Calibration        `json:"calibration"` // null: no member gave a confidence
	ErrorPairs  []ErrorPair         `json:"error_correlation"`
	Drops       []Drop              `json:"drops"`   // pairs of seats that met, in order
	Latency     *metrics.Rate       `json:"latency"` // virtual seconds until the honest voters decided; null: the time was real
	// LatencySeconds is the time by the clock until the honest voters decided, of the kinds of members in
	// members_kind; null: the time was virtual.
	LatencySeconds *metrics.Rate    `json:"latency_seconds"`
	Ranked         []*metrics.Rate  `json:"ranked,omitempty"`      // share right by rank, if the protocol ranks answers
	Endings        []metrics.Ending `json:"endings,omitempty"`     // of a protocol with named endings
	Stops          []int            `json:"stop_rounds,omitempty"` // when runs with a named ending ended, ascending
	Calls          Calls            `json:"calls"`
	Tokens         Tokens           `json:"tokens"`
	Cost           *llm.Cost        `json:"cost"` // null: some prices are unknown
	Money          llm.Money        `json:"money"`
	Seconds        float64          `json:"seconds"` // sum of the questions' wall times
	Failures       []Failure        `json:"failures"`
	Evidence       int              `json:"evidence,omitempty"` // questions in which a member was proved to have signed two values
	Compared       *Compared        `json:"compared"`
	Digest         string           `json:"digest"` // of all finished runs, in order

	Trajectories []Trajectory `json:"trajectories,omitempty"` // first runs with named endings
}

// Question is one question of a run with all that happened, for readers. Its texts
// come from data sets and models and are untrusted.
type Question struct {
	synod.Question
	Key     string
	Repeat  int
	Status  string // agreed, degraded, undecided or stalled; failed or unfinished
	Reason  string
	Verdict task.Verdict // of the decision; "" without one
	Answer  synod.Answer // the decision
	Votes   []Support    // of the final answers
	Rounds  [][]Held     // by round and seat
	// Fields are the parts of a JSON answer that was merged, undecided ones included.
	Fields []structured.Field
	Claims []Claim // of the decision, where the members judged them
}

// Claim is a statement of a decision and the members that support or contradict it.
type Claim struct {
	Text, Verdict       string
	Supporters, Critics []string
}

// Support is an answer with the members that ended with it.
type Support struct {
	Answer      synod.Answer
	Verdict     task.Verdict
	Seats       []string
	Independent int // members that gave it in round 0
}

// Held is what a member held after a round.
type Held struct {
	synod.Opinion              // as noted; without a note, the previous opinion
	Noted         bool         // the member noted something in this round
	Reasoning     string       // what its model wrote before the answer; untrusted
	Verdict       task.Verdict // "" for no answer
}

// Detail is what an HTML page shows beyond the figures of a report.
type Detail struct {
	Questions iter.Seq2[*Question, error] // nil: none
	Limit     int                         // questions to show; below 0: all
	Rest      string                      // how to get the questions beyond Limit
}

// Formats returns the names of the formats that Report.Write and Grid.Write support.
func Formats() []string { return []string{"text", "json", "csv", "md", "html"} }

// Write prints the report in the named format, one of Formats. Use HTML for a page
// that includes questions.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return r.text(w)
	case "json":
		return writeJSON(w, r)
	case "csv":
		return r.csv(w)
	case "md":
		return r.markdown(w)
	case "html":
		return r.HTML(w, Detail{})
	}
	return unknownFormat(format)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func unknownFormat(format string) error {
	return fmt.Errorf("report: unknown format %q; supported: %v", format, Formats())
}
