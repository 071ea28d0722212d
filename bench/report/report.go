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
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

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

// Judging measures how well honest members' scores told right first answers from wrong ones, all together and by the
// model of the judge. How simulated members judge is a setting and is not measured. Answers of adversaries that may
// send something else to others are left out.
type Judging struct {
	metrics.Judging
	Models []ModelJudging `json:"models"`
}

// ModelJudging is the judging of the members of one model.
type ModelJudging struct {
	Model string `json:"model"`
	metrics.Judging
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
	Judging     *Judging            `json:"judging"`     // null: no member scored a right and a wrong answer
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

// Setting is what distinguishes runs.
type Setting struct {
	Protocol string   `json:"protocol"`
	Graph    string   `json:"graph"`
	F        int      `json:"f"`
	R        int      `json:"r,omitempty"` // robustness of the graph; 0: not computed
	Rule     string   `json:"rule"`
	Seed     uint64   `json:"seed"`
	Models   []string `json:"models"` // NAME, or NAME = its name at the server, with the number of seats
}

// line describes the setting for people.
func (s *Setting) line() string {
	return fmt.Sprintf("graph %s · F=%d · models: %s", plain(s.Graph), s.F, plain(strings.Join(s.Models, ", ")))
}

// SettingKeys are the keys of Setting.Words in order.
func SettingKeys() []string { return []string{"protocol", "graph", "f", "rule", "models", "seed"} }

// Words describes each setting for people, by its key.
func (s *Setting) Words() map[string]string {
	return map[string]string{
		"protocol": s.Protocol, "graph": s.Graph, "f": fmt.Sprintf("F=%d", s.F), "rule": s.Rule,
		"models": strings.Join(s.Models, " + "), "seed": fmt.Sprintf("seed %d", s.Seed),
	}
}

// ErrorPair says how alike two honest members err in their first answers.
type ErrorPair struct {
	A       string        `json:"a"`
	B       string        `json:"b"`
	Phi     *metrics.Rate `json:"phi"`      // correlation of their errors, -1 to 1; null: one never or always errs
	CoError *metrics.Rate `json:"co_error"` // share of questions for which both are wrong
}

// Trajectory holds the numbers that all seats held after every round of a run.
type Trajectory struct {
	Question string       `json:"question"`
	Repeat   int          `json:"repeat"`
	Ending   string       `json:"ending"`
	Stop     int          `json:"stop"`   // the round after which the run ended; 0: no player ended it
	Values   [][]*float64 `json:"values"` // by seat and round, 0 the first; null: not a number
}

// NewTrajectory converts answers by round and seat. Answers that are not finite
// numbers become nil.
func NewTrajectory(question string, repeat int, ending string, stop int, rounds [][]synod.Answer) Trajectory {
	t := Trajectory{Question: question, Repeat: repeat, Ending: ending, Stop: stop}
	for k, answers := range rounds {
		for i, a := range answers {
			if len(t.Values) <= i {
				t.Values = append(t.Values, make([]*float64, len(rounds)))
			}
			if v, err := strconv.ParseFloat(string(a), 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
				t.Values[i][k] = &v
			}
		}
	}
	return t
}

// Guaranteed counts the finished questions for which the outcome states a guarantee. A council may lose its guarantee
// in a question, for example by members that were late.
type Guaranteed struct {
	Guarantee string `json:"guarantee"` // as in bound.guarantee of an outcome; "none" is one too
	Questions int    `json:"questions"` // with repeats
}

// JudgedClaims counts the claims of decisions that members judged, by verdict.
type JudgedClaims struct {
	Questions int `json:"questions"` // those with claims
	Supported int `json:"supported"`
	Disputed  int `json:"disputed"`
	Open      int `json:"open"`
}

// Model is what the members of one model did in all finished questions.
type Model struct {
	Model  string `json:"model"` // its name in the council
	Kind   string `json:"kind"`
	Served string `json:"served,omitempty"` // of an endpoint: its name at the server
	// Reported are the models that the server's replies named, sorted, at most eight; empty if none did.
	Reported []string `json:"reported,omitempty"`
	Seats    int      `json:"seats"`
	metrics.Answers

	Calls      int              `json:"calls"`
	Tokens     Tokens           `json:"tokens"`
	Cost       *llm.Cost        `json:"cost"`    // null: its price or its tokens are not known
	Money      llm.Money        `json:"-"`       // the same, with what is not known
	Latency    *metrics.Latency `json:"latency"` // null: no call was timed
	Replies    int              `json:"replies"` // that came, readable or not
	Unreadable int              `json:"unreadable"`
	Failed     int              `json:"failed"` // calls that brought no reply
}

// ChangingGraph is a graph that changes from round to round.
type ChangingGraph struct {
	Repeats bool           `json:"repeats"` // Rounds is one period; otherwise it is the whole run
	Rounds  []GraphOfRound `json:"rounds"`
	Windows []GraphWindow  `json:"windows"` // of unions of rounds in a row
	Edges   []EdgeRounds   `json:"edges"`   // those that occur in a round
}

// GraphOfRound describes the graph of a round.
type GraphOfRound struct {
	Edges int  `json:"edges"`
	R     int  `json:"r"` // robustness; a lower bound if Exact is false
	Exact bool `json:"exact"`
}

// GraphWindow has the least robustness of the unions of so many rounds in a row.
type GraphWindow struct {
	Rounds int  `json:"rounds"`
	R      int  `json:"r"`
	Exact  bool `json:"exact"`
}

// EdgeRounds is an edge between two seats, with the rounds that have it, from 1.
type EdgeRounds struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Rounds []int  `json:"rounds"`
}

// drawingRole decides the colour of a member in a drawing of package graph.
func (m Member) drawingRole() string {
	if m.Adversary != "" {
		return "adversary"
	}
	return plain(m.Group)
}
