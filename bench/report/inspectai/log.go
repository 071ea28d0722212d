// Package inspectai writes evaluation logs of Inspect AI, so that its viewer and its
// analyses can read a run of Synod. It knows only the format of the log (schema
// version 2, as written by the Python package inspect_ai; make inspect checks it with
// that package). Package bench fills in the contents.
//
// A log is a header and samples, one per question and epoch. The samples are iterated
// twice, once to add up their usage and once to write them, so that a log of any
// length needs the memory of one sample. There are two file formats with the same
// content: .json is one document, and .eval is an archive with a file per sample,
// which is faster to read if there are many.
//
// A log has no events. Inspect's model events carry a time, which a journal does not
// have. Rounds are messages, and are in each sample's store. Unknown values are left
// out or null, never invented.
//
//	err := inspectai.Write(w, inspectai.JSON, &log, samples)
package inspectai

import "synod.dev/synod"

// Version is the version of the log schema.
const Version = 2

// The statuses of a log.
const (
	Started   = "started" // still running, or killed
	Success   = "success"
	Cancelled = "cancelled" // interrupted by the user
	Failed    = "error"
)

// The values of a score. An answer that is neither right nor wrong has no score.
const (
	Correct   = "C"
	Incorrect = "I"
)

// Log is the header of a log.
type Log struct {
	Version int      `json:"version"`
	Status  string   `json:"status"`
	Eval    Eval     `json:"eval"`
	Plan    Plan     `json:"plan"`
	Results *Results `json:"results,omitempty"`
	Stats   Stats    `json:"stats"`
	Error   *Error   `json:"error,omitempty"` // Inspect cannot read a null in a header without samples
}

// Eval describes what was run. Times are in RFC 3339 with an offset.
type Eval struct {
	EvalID      string            `json:"eval_id"`
	RunID       string            `json:"run_id"`
	Created     string            `json:"created"`
	Task        string            `json:"task"`
	TaskID      string            `json:"task_id"`
	TaskVersion int               `json:"task_version"`
	TaskAttribs struct{}          `json:"task_attribs"`
	TaskArgs    map[string]any    `json:"task_args"`
	Solver      string            `json:"solver"`
	SolverArgs  map[string]any    `json:"solver_args"`
	Tags        []string          `json:"tags"`
	Dataset     Dataset           `json:"dataset"`
	Model       string            `json:"model"`
	ModelConfig struct{}          `json:"model_generate_config"`
	ModelArgs   struct{}          `json:"model_args"`
	ModelRoles  map[string]Model  `json:"model_roles"` // by the names of the models in the council
	Config      Config            `json:"config"`
	Packages    map[string]string `json:"packages"`
	Metadata    map[string]any    `json:"metadata"`
	Scorers     []Scorer          `json:"scorers"`
}

// Dataset names the questions.
type Dataset struct {
	Name      string   `json:"name"`
	Samples   int      `json:"samples"`
	SampleIDs []string `json:"sample_ids"`
}

// Model is a member's model.
type Model struct {
	Model  string         `json:"model"`
	Config struct{}       `json:"config"`
	Args   map[string]any `json:"args"`
}

// Config is how often every question was asked.
type Config struct {
	Epochs      int  `json:"epochs"`
	FailOnError bool `json:"fail_on_error"`
	LogSamples  bool `json:"log_samples"`
}

// Scorer is the name of a scorer.
type Scorer struct {
	Name string `json:"name"`
}

// Plan describes how a question was answered.
type Plan struct {
	Name   string   `json:"name"`
	Steps  []Step   `json:"steps"`
	Config struct{} `json:"config"`
}

// Step is one part of a plan.
type Step struct {
	Solver string         `json:"solver"`
	Params map[string]any `json:"params"`
}

// Results are a run's figures.
type Results struct {
	Total     int       `json:"total_samples"`
	Completed int       `json:"completed_samples"`
	Logged    int       `json:"logged_samples"`
	Scores    []Figures `json:"scores"`
}

// Figures are the figures of one scorer.
type Figures struct {
	Name     string            `json:"name"`
	Scorer   string            `json:"scorer"`
	Scored   int               `json:"scored_samples"`
	Unscored int               `json:"unscored_samples"`
	Metrics  map[string]Metric `json:"metrics"`
	Metadata map[string]any    `json:"metadata,omitempty"`
}

// Metric is one figure.
type Metric struct {
	Name     string         `json:"name"`
	Value    float64        `json:"value"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

// Stats are the times of a run and its token usage, as far as they are known.
type Stats struct {
	StartedAt   string           `json:"started_at"`   // "": unknown
	CompletedAt string           `json:"completed_at"` // "": unknown or not completed
	ModelUsage  map[string]Usage `json:"model_usage"`
}

// Plus returns the sum, by synod.Sum.
func (u Usage) Plus(v Usage) Usage {
	return Usage{synod.Sum(u.Input, v.Input), synod.Sum(u.Output, v.Output), synod.Sum(u.Total, v.Total)}
}

// Usage counts the tokens of a model.
type Usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Total  int `json:"total_tokens"`
}

// Error is the reason why a sample or a run failed.
type Error struct {
	Message       string `json:"message"`
	Traceback     string `json:"traceback"`
	TracebackANSI string `json:"traceback_ansi"`
}

// Sample is a question in one epoch, from 1.
type Sample struct {
	ID          string           `json:"id"`
	Epoch       int              `json:"epoch"`
	Input       string           `json:"input"`
	Choices     []string         `json:"choices,omitempty"`
	Target      string           `json:"target"`
	Messages    []Message        `json:"messages"`
	Output      Output           `json:"output"`
	Scores      map[string]Score `json:"scores"`
	Metadata    map[string]any   `json:"metadata"`
	Store       map[string]any   `json:"store"`
	Events      []struct{}       `json:"events"`
	ModelUsage  map[string]Usage `json:"model_usage"`
	StartedAt   string           `json:"started_at,omitempty"`
	CompletedAt string           `json:"completed_at,omitempty"`
	TotalTime   *float64         `json:"total_time,omitempty"` // seconds, all attempts
	Error       *Error           `json:"error,omitempty"`
	Attachments struct{}         `json:"attachments"`
}

// Message is what the council was asked, or what a member answered.
type Message struct {
	ID       string `json:"id"`
	Role     string `json:"role"` // user | assistant
	Source   string `json:"source"`
	Content  string `json:"content"` // verbatim and untrusted
	Model    string `json:"model,omitempty"`
	Metadata any    `json:"metadata,omitempty"`
}

// The roles and sources of a message.
const (
	User      = "user"
	Assistant = "assistant"
	Input     = "input"
	Generate  = "generate"
)

// Output is the decision of the council: one choice, or none.
type Output struct {
	Model      string         `json:"model"`
	Choices    []Choice       `json:"choices"`
	Completion string         `json:"completion"`
	Usage      *Usage         `json:"usage,omitempty"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

// Choice is a decision.
type Choice struct {
	Message    Message `json:"message"`
	StopReason string  `json:"stop_reason"`
}

// Score is a grade.
type Score struct {
	Value       string         `json:"value"` // Correct or Incorrect
	Answer      string         `json:"answer"`
	Explanation string         `json:"explanation"`
	Metadata    map[string]any `json:"metadata,omitempty"`
}

// summary is what the viewer shows of a sample in a list.
type summary struct {
	ID          string           `json:"id"`
	Epoch       int              `json:"epoch"`
	Input       string           `json:"input"`
	Choices     []string         `json:"choices,omitempty"`
	Target      string           `json:"target"`
	Metadata    map[string]any   `json:"metadata"`
	Scores      map[string]Score `json:"scores"`
	ModelUsage  map[string]Usage `json:"model_usage"`
	StartedAt   string           `json:"started_at,omitempty"`
	CompletedAt string           `json:"completed_at,omitempty"`
	TotalTime   *float64         `json:"total_time,omitempty"`
	Error       *string          `json:"error,omitempty"`
	Completed   bool             `json:"completed"`
	Messages    int              `json:"message_count"`
}

func (s *Sample) summary() summary {
	out := summary{
		ID: s.ID, Epoch: s.Epoch, Input: s.Input, Choices: s.Choices, Target: s.Target, Metadata: s.Metadata,
		Scores:     s.Scores,
		ModelUsage: s.ModelUsage, StartedAt: s.StartedAt, CompletedAt: s.CompletedAt, TotalTime: s.TotalTime,
		Completed: true, Messages: len(s.Messages),
	}
	if s.Error != nil {
		out.Error = &s.Error.Message
	}
	return out
}
