// Package inspect writes evaluation logs of Inspect, so that its viewer and its
// analyses read a run of Synod. It knows the shape of the log (schema version 2, as
// the package inspect_ai writes it; make inspect checks it against that package)
// and nothing of runs: package lab fills it in.
//
// A log is a header and samples, one for each question and epoch. The samples are
// asked for twice, once to add up what they used and once to write them, so that a
// log of any length takes the memory of one sample. Two files hold the same: .json
// is one document, .eval an archive with a file for each sample, which is read
// faster where there are many.
//
// There are no events in it. Inspect's model events carry a time, and a journal
// has none; the rounds are told as messages, and in each sample's store. What is
// not known is left out or null, never made up.
//
//	err := inspect.Write(w, inspect.JSON, &log, samples)
package inspectai

// Version is the version of the log schema.
const Version = 2

// The statuses of a log.
const (
	Started   = "started" // not finished: it is going on, or was killed
	Success   = "success"
	Cancelled = "cancelled" // interrupted by whoever ran it
	Failed    = "error"
)

// The values of a score. What is neither right nor wrong has no score.
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
	Error   *Error   `json:"error,omitempty"` // a null would not be read without the samples
}

// Eval says what was run. Times are RFC 3339 with an offset.
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
	ModelRoles  map[string]Model  `json:"model_roles"` // by the models' names in the council
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

// Config says how often every question was put.
type Config struct {
	Epochs      int  `json:"epochs"`
	FailOnError bool `json:"fail_on_error"`
	LogSamples  bool `json:"log_samples"`
}

// Scorer names what graded.
type Scorer struct {
	Name string `json:"name"`
}

// Plan is how a question was answered.
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

// Stats say when a run took place and what it used, as far as that is known.
type Stats struct {
	StartedAt   string           `json:"started_at"`   // "": not known
	CompletedAt string           `json:"completed_at"` // "": not known, or not completed
	ModelUsage  map[string]Usage `json:"model_usage"`
}

// Usage counts the tokens of a model.
type Usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Total  int `json:"total_tokens"`
}

// Error says why something could not be done.
type Error struct {
	Message       string `json:"message"`
	Traceback     string `json:"traceback"`
	TracebackANSI string `json:"traceback_ansi"`
}
